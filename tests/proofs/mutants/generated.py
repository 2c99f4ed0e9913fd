"""What ``schemathesis run`` finds of a mutant by itself, with its own checks and no rules of ours.

It is given what a fair comparison takes: a token, examples in the document that name a person and an
avatar which exist, and no failure that the unbroken mock shows as well counts.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder
from tests.proofs.mutants.edge import AUTHORIZATION, LIST, SITE, Mutant
from tests.proofs.mutants.verifying import INNER, deployed

from understudy.verify.shapes import bundled

Site = tuple[str, str]
"""A bundled document, and the address that it is about."""

SITES: tuple[Site, Site] = (("service.yaml", SITE), ("authorization.yaml", AUTHORIZATION))
TOKEN = {"authorization": "Bearer ada-full"}
NUMBER = "x-number"
"""The header that tells a request's number to whoever reads Schemathesis's events."""

MADE_UP = "3c59dc048e8850243be8079a5c74d079"
"""The document's example of an avatar, which no fixture has."""

LEAST = 30
"""Cases of an operation at least, of which there are more where more requests are to be sent."""

Failure = tuple[str, str]
"""An operation and the check that failed."""


def sighting(mutant: Mutant, requests: tuple[int, int], seed: int = 0) -> int | None:
    """Returns after how many requests a check fails that holds for the unbroken mock; None for never.

    Args:
        mutant: What is sent to.
        requests: As many may be sent to the one address and to the other.
        seed: Of the cases.

    Raises:
        Crashed: The mutant's own code failed.
    """
    numbers: list[int] = []
    for site, most in zip(SITES, requests, strict=True):
        known = frozenset(alarms(site, most, seed))
        with deployed(mutant) as wire:
            found = _failures(wire, site, most, seed, known)
        new = (number for failure, number in found.items() if failure not in known)
        numbers += [number for number in new if number <= most]
    return min(numbers, default=None)


@cache
def alarms(site: Site, requests: int, seed: int) -> Mapping[Failure, int]:
    """Returns what fails on the unbroken mock, which keeps rules that its document cannot tell.

    Of twice as many requests, because a mutant's may end elsewhere.
    """
    with deployed(None) as wire:
        return _failures(wire, site, requests, seed, None, times=2)


def _failures(
    wire: httpx.BaseTransport,
    site: Site,
    requests: int,
    seed: int,
    known: frozenset[Failure] | None,
    times: int = 1,
) -> dict[Failure, int]:
    """Returns what fails, with the first request's number.

    Args:
        wire: Leads to the deployment.
        site: What it is about.
        requests: After which it ends.
        seed: Of the cases.
        times: So many times as many requests, of the same cases.
        known: A failure that is not of these ends it; none does where this is None.
    """
    name, root = site
    document = _document(name)
    operations = sum(len(item.keys() - {"parameters"}) for item in document["paths"].values())
    configuration = {
        "seed": seed,
        "headers": TOKEN,
        "cache": {"enabled": False},
        "generation": {"database": "none", "max-examples": max(LEAST, requests // operations)},
    }
    schema = schemathesis.openapi.from_dict(
        {**document, "servers": [{"url": root}]},
        config=SchemathesisConfig.from_dict(configuration),
    )
    sent = [0]
    schema.app = _application(wire, root, sent)
    found: dict[Failure, int] = {}
    stream = from_schema(schema).execute()
    for event in stream:
        if isinstance(event, events.ScenarioFinished):
            for failure, number in _numbered(event.recorder):
                found[failure] = min(number, found.get(failure, number))
        is_new = known is not None and bool(found.keys() - known)
        if is_new or sent[0] >= times * requests:
            stream.stop()
    return found


def _numbered(recorder: ScenarioRecorder) -> Iterable[tuple[Failure, int]]:
    for case, nodes in recorder.checks.items():
        interaction = recorder.interactions.get(case)
        answer = interaction.response if interaction else None
        number = answer.headers.get(NUMBER) if answer else None
        for node in nodes:
            if node.failure_info is not None and number:
                yield (recorder.label, node.name), int(number[0])


@cache
def avatars() -> tuple[str, ...]:
    """Returns the caller's avatars, where nothing was sent yet; past a mutant, which may lie."""
    listed = INNER.handle_request(httpx.Request("GET", SITE + LIST, headers=TOKEN))
    return tuple(avatar["image_id"] for avatar in orjson.loads(listed.read()))


def _document(name: str) -> dict[str, Any]:
    """Returns a document whose example of an avatar is one that the caller has."""
    document = copy.deepcopy(dict(bundled(name).raw))
    for item in document["paths"].values():
        for parameter in item.get("parameters", []):
            if parameter.get("example") == MADE_UP:
                parameter["example"] = avatars()[-1]
    return document


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
        named = [*response.headers.items(), (NUMBER, str(sent[0]))]
        start(f"{response.status_code} -", named)
        return [response.read()]

    return answer
