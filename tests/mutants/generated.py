"""What ``schemathesis run`` finds of a mutant by itself, with its own checks and no rules of ours."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema
from tests.mutants.edge import AUTHORIZATION, SITE, Mutant
from tests.mutants.verifying import deployed

from understudy.contract.shapes import bundled

CONFIGURATION = {
    "seed": 0,
    "headers": {"Authorization": "Bearer ada-full"},
    "cache": {"enabled": False},
    "generation": {"deterministic": True, "database": "none", "max-examples": 30},
}


SITES = (("service.yaml", SITE), ("authorization.yaml", AUTHORIZATION))


def caught_by_schemathesis(mutant: Mutant, requests: int) -> bool:
    """Tells whether a check fails on a mutant that does not on the unbroken mock."""
    for name, root in SITES:
        if _failures(mutant, name, root, requests) - _alarms(name, root, requests):
            return True
    return False


@cache
def _alarms(name: str, root: str, requests: int) -> frozenset[tuple[str, str]]:
    """Returns what fails on the unbroken mock: answers that the document cannot know of."""
    return _failures(None, name, root, requests)


def _failures(
    mutant: Mutant | None, name: str, root: str, requests: int
) -> frozenset[tuple[str, str]]:
    with deployed(mutant) as wire:
        return _found(wire, name, root, requests)


def _found(
    wire: httpx.BaseTransport, name: str, root: str, requests: int
) -> frozenset[tuple[str, str]]:
    sent = [0]
    schema = schemathesis.openapi.from_dict(
        {**bundled(name).raw, "servers": [{"url": root}]},
        config=SchemathesisConfig.from_dict(CONFIGURATION),
    )
    schema.app = _application(wire, root, sent)
    found: set[tuple[str, str]] = set()
    stream = from_schema(schema).execute()
    for event in stream:
        if sent[0] >= requests:
            stream.stop()
        elif isinstance(event, events.ScenarioFinished):
            nodes = [node for nodes in event.recorder.checks.values() for node in nodes]
            found |= {(event.recorder.label, n.name) for n in nodes if n.failure_info is not None}
    return frozenset(found)


def _application(
    wire: httpx.BaseTransport, root: str, sent: list[int]
) -> Callable[[Mapping[str, Any], Callable[..., Any]], Iterable[bytes]]:
    parts = urlsplit(root)

    def answer(environ: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        sent[0] += 1
        path = str(environ.get("REQUEST_URI") or environ["PATH_INFO"]).partition("?")[0]
        url = httpx.URL(
            scheme=parts.scheme,
            host=parts.hostname or "",
            port=parts.port,
            raw_path=(path + "?" + environ.get("QUERY_STRING", "")).encode("latin-1"),
        )
        headers = {
            n.removeprefix("HTTP_").replace("_", "-"): t
            for n, t in environ.items()
            if n.startswith("HTTP_") or (n == "CONTENT_TYPE" and t)
        }
        body = environ["wsgi.input"].read()
        request = httpx.Request(environ["REQUEST_METHOD"], url, headers=headers, content=body)
        response = wire.handle_request(request)
        start(f"{response.status_code} -", list(response.headers.items()))
        return [response.read()]

    return answer
