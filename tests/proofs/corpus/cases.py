"""Reads the documents of the corpus, with the requests that each carries and what has to come back.

A request is ``METHOD target`` alone, or an object: what to ``send`` (with ``json``, ``form``,
``text``, ``parts``, ``headers`` and its ``type``), and what is expected of the response. Without an
expectation that is a success that conforms to the document.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import yaml

DOCUMENTS = sorted(Path(__file__).with_name("documents").glob("*.yaml"))

_FORM = "application/x-www-form-urlencoded"
_UNDOCUMENTED = frozenset({401, 405, 415, 501})
"""Refusals that documents seldom describe, and that need not name more than they are."""


@dataclass(frozen=True)
class CorpusRequest:
    """A request to one document's mock, and what is expected.

    Attributes:
        method: The request method.
        target: Path and query, as they are sent.
        headers: Names in lower case.
        body: None for no body.
        parts: Name, file name (or an empty text) and content of each part of a multipart body.
        refused: What a refusal has to name; None: it is valid.
        status: The status that the response has to have; None: any documented success.
        media: The media type that the response has to have.
        value: The JSON that the response has to be.
        has: The member that the response has to have.
        without: The member that no object of the response may have.
    """

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    parts: tuple[tuple[str, str, str], ...] = ()
    refused: str | None = None
    status: int | None = None
    media: str = ""
    value: Any = None
    has: str = ""
    without: str = ""

    @property
    def is_valid(self) -> bool:
        """True if the document allows the request, so that the response has to conform."""
        return self.refused is None and self.status not in _UNDOCUMENTED


@dataclass(frozen=True)
class CorpusDocument:
    """A document, and its requests."""

    path: Path
    raw: Mapping[str, Any]
    requests: tuple[CorpusRequest, ...]


def read(path: Path) -> CorpusDocument:
    """Reads a document of the corpus."""
    raw = plain_yaml(path)
    return CorpusDocument(path, raw, tuple(map(_request, raw["x-requests"])))


def plain_yaml(path: Path) -> Any:
    """Reads a file of YAML 1.2, whose keys are texts."""
    return _with_text_keys(yaml.load(path.read_text(), Loader=_Texts))


def _with_text_keys(value: Any) -> Any:
    """Returns a value as JSON would have it: YAML reads an unquoted status as a number."""
    if isinstance(value, dict):
        return {str(key): _with_text_keys(member) for key, member in value.items()}
    return [_with_text_keys(item) for item in value] if isinstance(value, list) else value


def _request(entry: str | dict[str, Any]) -> CorpusRequest:
    expectation: dict[str, Any] = {"send": entry} if isinstance(entry, str) else entry
    method, _, target = expectation["send"].partition(" ")
    headers = {name.lower(): text for name, text in expectation.get("headers", {}).items()}
    body, media_type = _body(expectation)
    if body is not None:
        headers["content-type"] = expectation.get("type", media_type)
    return CorpusRequest(
        method,
        target,
        headers,
        body,
        tuple((str(n), str(file), str(text)) for n, file, text in expectation.get("parts", ())),
        expectation.get("refused"),
        expectation.get("status"),
        expectation.get("media", ""),
        expectation.get("body"),
        expectation.get("has", ""),
        expectation.get("without", ""),
    )


def _body(expectation: Mapping[str, Any]) -> tuple[bytes | None, str]:
    if "json" in expectation:
        return orjson.dumps(expectation["json"]), "application/json"
    if "form" in expectation:
        return expectation["form"].encode(), _FORM
    return (expectation["text"].encode(), "text/plain") if "text" in expectation else (None, "")


class _Texts(yaml.SafeLoader):
    """Reads YAML 1.2's scalars, as OpenAPI asks: dates, ``yes`` and ``no`` are texts."""


_Texts.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool"}
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Texts.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))
