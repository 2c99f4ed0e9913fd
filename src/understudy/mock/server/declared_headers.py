"""Sends the headers that the document in force declares: under its names, in its values, all of them.

Documents differ in dashes, in ``X-`` and in what a name begins with: ``RateLimit-Limit`` is
``X-Rate-Limit-Limit``, and ``X-Profile-Status`` is ``X-Gallery-Profile-Status``.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from understudy.errors import Headers
from understudy.mock.server.json_bodies import json_bytes
from understudy.openapi.operations import DeclaredResponse, Operation, Parameter
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas

_NOT_LETTERS: Final = re.compile("[^a-z]")

_SHORTEST_ENDING: Final = 8
"""Letters of a name that are enough to recognise it behind another beginning."""

_MEANINGFUL_BY_PRESENCE: Final = frozenset(
    {
        *("allow", "content-disposition", "content-range", "deprecation", "link", "location"),
        *("retry-after", "set-cookie", "sunset", "warning", "www-authenticate"),
    }
)
"""Optional headers that say something by being there, so that none is made up."""


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text.lower())


def header_letters(name: str) -> str:
    """Returns what two spellings of a header's name have in common."""
    return _letters(name).removeprefix("x")


class _Sent(NamedTuple):
    """A header of the mock as it is sent.

    Attributes:
        name: The name, in lower case.
        letters: The letters of the declared name.
        values: The letters of each value that the document lists to the value, as ``not_found`` may be
            ``not-found`` there; empty: any value is sent as it is.
    """

    name: str
    letters: str
    values: Mapping[str, str]


class _OfStatus(NamedTuple):
    """The headers of the responses of one status.

    Attributes:
        declared: The letters of each declared name, to the header.
        filled: The letters of those that are made up where the mock has none.
        samples: The letters of each to its name and a made-up value.
        sent: The name of a header of the mock, to how it is sent.
    """

    declared: Mapping[str, Parameter]
    filled: frozenset[str]
    samples: Mapping[str, tuple[str, str]]
    sent: dict[str, _Sent]


class DeclaredHeaders:
    """The headers that a document declares for the responses of one operation.

    Args:
        operation: What the document says of it.
        schemas: The document's validators.
        other_names: Names of headers, in lower case, where the document declares none.
        fills: Whether optional headers that the mock does not have are made up too.
    """

    def __init__(
        self,
        operation: Operation,
        schemas: Schemas,
        other_names: Mapping[str, str],
        *,
        fills: bool = False,
    ) -> None:
        self._operation = operation
        self._schemas = schemas
        self._other_names = other_names
        self._fills = fills
        self._is_silent = not other_names and not any(
            response.headers for response in operation.responses.values()
        )
        self._statuses: dict[int, _OfStatus] = {}

    def sent(self, status: int, headers: Headers, others: Callable[[], Headers]) -> Headers:
        """Returns the headers of a response as the document declares them.

        Args:
            status: The status of the response.
            headers: Those of the mock.
            others: Returns further ones of the mock, sent where they are declared and none else.
        """
        if self._is_silent:
            return headers
        known = self._statuses.get(status)
        if known is None:
            known = self._statuses[status] = self._of(status)
        renamed = []
        missing = known.filled
        for name, value in headers:
            sent = known.sent.get(name)
            if sent is None:  # a few names, over and over
                sent = known.sent[name] = self._as_sent(known, name)
            values = sent.values
            renamed.append((sent.name, values.get(_letters(value), value) if values else value))
            if sent.letters in missing:
                missing = missing - {sent.letters}
        if missing:
            renamed += self._made_up(known, missing, others())
        return tuple(renamed)

    def unknown(self, endings: Iterable[str]) -> list[str]:
        """Returns the declared headers of successes that are of no usual name, and have none of these ends."""
        known = tuple(map(header_letters, endings))
        declared = (
            header.name
            for status, response in self._operation.responses.items()
            for header in response.headers
            if status.startswith("2")
        )
        usual = _MADE_BY_SERVER | _USUAL.keys()
        return [
            name
            for name in dict.fromkeys(declared)
            if name.lower() not in usual and not header_letters(name).endswith(known)
        ]

    def _of(self, status: int) -> _OfStatus:
        response = self._operation.response(status)
        if response is None:
            return _OfStatus({}, frozenset(), {}, {})
        made_up = sample_headers(response, self._schemas, seed=0)
        samples = {header_letters(name): (name, value) for name, value in made_up}
        declared = {header_letters(it.name): it for it in response.headers}
        filled = {
            letters
            for letters in samples
            if declared[letters].required
            or (self._fills and samples[letters][0] not in _MEANINGFUL_BY_PRESENCE)
        }
        return _OfStatus(declared, frozenset(filled), samples, {})

    def _as_sent(self, known: _OfStatus, name: str) -> _Sent:
        letters = header_letters(name)
        header = known.declared.get(letters)
        if header is None and len(letters) >= _SHORTEST_ENDING:
            alike = [it for it in known.declared if it.endswith(letters)]
            header = known.declared[alike[0]] if len(alike) == 1 else None
        if header is None:
            return _Sent(self._other_names.get(name, name), letters, {})
        return _Sent(header.name.lower(), header_letters(header.name), self._listed(header))

    def _listed(self, header: Parameter) -> Mapping[str, str]:
        """Returns the letters of each value that the document lists, to the value."""
        schema = None if header.schema is None else self._schemas.follow(header.schema).value
        listed = schema.get("enum", ()) if isinstance(schema, dict) else ()
        return {_letters(it): it for it in listed if isinstance(it, str)}

    @staticmethod
    def _made_up(known: _OfStatus, missing: frozenset[str], others: Headers) -> Headers:
        ours = {header_letters(name): value for name, value in others}
        made_up = []
        for letters in sorted(missing):
            name, value = known.samples[letters]
            own = (value for ending, value in ours.items() if letters.endswith(ending))
            made_up.append((name, next(own, value)))
        return tuple(made_up)


# Makes the headers that a document declares for a response. A header of a usual name has a value
# that fits its purpose, if its schema accepts that; every other one has a sample of its schema,
# in the style that headers have (OpenAPI 3.0.3, 4.7.21).

LOCATION = "location"

_MADE_BY_SERVER: Final = frozenset(
    {
        *("connection", "content-encoding", "content-length", "content-type", "date"),
        *("keep-alive", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that say how this very message is written, which a sample would say wrongly."""

_INSTANT = "Sat, 14 Mar 2026 09:26:53 GMT"

_USUAL: Final[Mapping[str, Any]] = {
    "accept-ranges": "bytes",
    "age": 0,
    "allow": "GET, HEAD, OPTIONS",
    "cache-control": "no-store",
    "content-disposition": 'attachment; filename="note.txt"',
    "content-language": "en",
    "content-range": "bytes 0-0/1",
    "etag": '"3f2b6c1e"',
    "expires": _INSTANT,
    "last-modified": _INSTANT,
    "link": '<https://example.com/?page=2>; rel="next"',
    LOCATION: "/",
    "retry-after": 1,
    "set-cookie": "session=3f2b6c1e; Path=/; HttpOnly",
    "vary": "Accept",
    "www-authenticate": "Bearer",
}


_EXAMPLES: Final = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords of a schema that say more of a header than its name does."""


def sample_headers(response: DeclaredResponse, schemas: Schemas, seed: int) -> Headers:
    """Returns the declared headers of a response, each with a value that its schema accepts.

    Args:
        response: What the document declares.
        schemas: The document's validators.
        seed: Seed of values that nothing else suggests.
    """
    declared = (it for it in response.headers if it.name.lower() not in _MADE_BY_SERVER)
    return tuple((header.name.lower(), _value(header, schemas, seed)) for header in declared)


def _value(header: Parameter, schemas: Schemas, seed: int) -> str:
    usual = _USUAL.get(header.name.lower())
    if header.schema is None:
        return field_text(next(iter(header.examples), "1" if usual is None else usual), header)
    is_accepted = schemas.validator(header.schema).is_valid
    written = schemas.follow(header.schema).value
    has_example = isinstance(written, dict) and not _EXAMPLES.isdisjoint(written)
    preferred = (*header.examples, *(() if usual is None or has_example else (usual,)))
    for value in preferred:
        if is_accepted(value):
            return field_text(value, header)
    return field_text(Sampler(schemas, seed).value(header.schema, header.name.lower()), header)


def field_text(value: Any, header: Parameter) -> str:
    """Returns a value as the text of a header field, in the style ``simple``."""
    if header.is_json:
        text = json_bytes(value).decode()
    elif isinstance(value, dict):
        joint = "=" if header.explode else ","
        text = ",".join(f"{name}{joint}{_word(member)}" for name, member in value.items())
    else:
        text = ",".join(map(_word, value)) if isinstance(value, list) else _word(value)
    return field_value(text).decode("latin-1")


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json_bytes(value).decode()


def field_value(text: str) -> bytes:
    """Returns a text as the value of a header: without what a field value may not hold.

    A control character would make the server drop the connection (RFC 9110, 5.5).
    """
    return "".join(c if c.isprintable() else "?" for c in text).encode("latin-1", "replace")
