"""Sends the hand-made sequences of small documents, and compares what is inferred of each with its labels.

A document of ``lives`` carries its labels below ``x-resources``, and its sequences below ``x-sequences``:
the requests that a reader of the document would send one after another, and what each response has to
show. ``keep`` remembers values of a response for later requests, where they stand in braces.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from tests.mock.asking import Ask, asking
from tests.proofs.corpus.cases import plain_yaml

from understudy.collections.inference import find_resources
from understudy.collections.model import ResourceCollection
from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.openapi.loader import load

LABELLED = Path(__file__).parents[2] / "collections" / "inference" / "labelled"
LIVES = sorted(Path(__file__).with_name("lives").glob("*.yaml"))

_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Inference:
    """What is inferred of a document, beside what its labels say.

    Attributes:
        labelled: Each operation in its role, and each identifier, as a reader of the document has them.
        claimed: The same as they are inferred.
    """

    labelled: frozenset[str]
    claimed: frozenset[str]

    @property
    def right(self) -> frozenset[str]:
        """What is inferred and labelled."""
        return self.labelled & self.claimed


def inference(path: Path, labels: Mapping[str, Any] | None = None) -> Inference:
    """Compares what is inferred of a document with its labels, which may be in another file."""
    labelled = set()
    for resource, entry in (labels or plain_yaml(path)["x-resources"]).items():
        labelled |= {str(it) for it in entry["operations"]}
        if "identifier" in entry:
            labelled.add(f"{resource} by {entry['identifier']}")
    claimed = set()
    model = find_resources(load(path))
    for found, it in model.roles():
        claimed.add(" ".join((it.role, *it.key, *it.changes)))
        if isinstance(found, ResourceCollection) and found.identifier is not None:
            claimed.add(f"{found.path} by {found.identifier}")
    return Inference(frozenset(labelled), frozenset(claimed))


def labelled_documents() -> Iterator[tuple[Path, Mapping[str, Any] | None]]:
    """Yields every labelled document, and its labels where they are in another file."""
    for name, labels in plain_yaml(LABELLED / "labels.yaml").items():
        yield LABELLED / name, labels
    yield from ((path, None) for path in LIVES)


def sequences(path: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """Returns the sequences of a document: the kind of each, and its steps."""
    return [(it["kind"], it["steps"]) for it in plain_yaml(path)["x-sequences"]]


def faults(path: Path) -> Iterator[tuple[str, str]]:
    """Sends the sequences of a document, each to a new world.

    Yields:
        The kind of each sequence, and what its first step that does not behave shows; empty for none.
    """
    mock = Mock(Settings(document=path))
    beginning = mock.world.snapshot()
    for kind, steps in sequences(path):
        yield kind, _fault(mock, asking(mock), steps)
        mock.world.become(beginning)


def _fault(mock: Mock, ask: Ask, steps: list[dict[str, Any]]) -> str:
    kept: dict[str, Any] = {}
    for step in steps:
        mock.world.clock.advance(timedelta(seconds=step.get("wait", 0)))
        filled = _filled(step, kept)
        response = ask(*filled["send"].split(" ", 1), **_content(filled))
        fault = "; ".join(_step_faults(filled, response, kept))
        if fault:
            return f"{filled['send']}: {fault}"
    return ""


def _filled(value: Any, kept: Mapping[str, Any]) -> Any:
    """Returns a step with the values that earlier ones kept; one that stands alone keeps its type."""
    if isinstance(value, dict):
        return {name: _filled(member, kept) for name, member in value.items()}
    if isinstance(value, list):
        return [_filled(item, kept) for item in value]
    if not isinstance(value, str):
        return value
    alone = re.fullmatch(r"\{(\w+)\}", value)
    if alone and alone[1] in kept:
        return kept[alone[1]]
    return re.sub(r"\{(\w+)\}", lambda it: str(kept.get(it[1], it[0])), value)


def _content(step: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the headers and the body of a step, as httpx takes them."""
    headers = dict(step.get("headers", {}))
    if "parts" in step:
        files = [(name, (file or None, text.encode())) for name, file, text in step["parts"]]
        return {"headers": headers, "files": files}
    bodies = {"json": "application/json", "form": _FORM, "text": "text/plain"}
    kind = next((it for it in bodies if it in step), None)
    if kind is None:
        return {"headers": headers}
    content = json.dumps(step[kind]) if kind == "json" else step[kind]
    return {
        "headers": {"content-type": step.get("type", bodies[kind]), **headers},
        "content": content,
    }


def _step_faults(
    step: Mapping[str, Any], response: httpx.Response, kept: dict[str, Any]
) -> Iterator[str]:
    expected = step.get("status", range(200, 300))
    is_expected = response.status_code in ([expected] if isinstance(expected, int) else expected)
    if not is_expected:
        yield f"status {response.status_code} instead of {expected}: {response.text[:200]}"
        return
    body = response.json() if "json" in response.headers.get("content-type", "") else None
    yield from _shown(step, response, body)
    for name, pointer in step.get("keep", {}).items():
        kept[name] = _at(body, pointer)
        if kept[name] is None:
            yield f"{pointer} is missing: {response.text[:200]}"
    for name, header in step.get("keep_header", {}).items():
        kept[name] = response.headers.get(header)
    if "follow" in step:
        place = response.headers.get("location", "")
        kept[step["follow"]] = re.sub(r"^https?://[^/]+", "", place)


def _shown(step: Mapping[str, Any], response: httpx.Response, body: Any) -> Iterator[str]:
    for pointer, value in step.get("shows", {}).items():
        if _at(body, pointer) != value:
            yield f"{pointer} is {_at(body, pointer)!r} instead of {value!r}: {response.text[:200]}"
    for name, value in step.get("header", {}).items():
        if response.headers.get(name) != value:
            yield f"{name} is {response.headers.get(name)!r} instead of {value!r}"
    if "text_is" in step and response.text != step["text_is"]:
        yield f"the body is {response.text[:80]!r} instead of {step['text_is']!r}"
    yield from _listed(step, response, body)


def _listed(step: Mapping[str, Any], response: httpx.Response, body: Any) -> Iterator[str]:
    texts = set(_texts(body))
    if "lists" in step and str(step["lists"]) not in texts:
        yield f"{step['lists']!r} is not listed: {response.text[:300]}"
    if "lacks" in step and str(step["lacks"]) in texts:
        yield f"{step['lacks']!r} is there: {response.text[:300]}"
    if "count" in step and len(_list_in(body)) != step["count"]:
        yield f"{len(_list_in(body))} items instead of {step['count']}: {response.text[:300]}"


def _at(body: Any, pointer: str) -> Any:
    for name in pointer.split("/")[1:]:
        if isinstance(body, list):
            body = body[int(name)] if int(name) < len(body) else None
        else:
            body = body.get(name) if isinstance(body, dict) else None
    return body


def _texts(value: Any) -> Iterator[str]:
    """Yields the texts of all values in a body."""
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)
    else:
        yield str(value)


def _list_in(body: Any) -> list[Any]:
    """Returns the first list in a body: the body itself, or that of its envelope."""
    if isinstance(body, list):
        return body
    found = (_list_in(it) for it in body.values()) if isinstance(body, dict) else ()
    return next((it for it in found if it), [])
