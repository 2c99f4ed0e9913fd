"""Drafts: requests that mutations change before they become bytes.

A draft keeps each part exactly as it is sent (percent-encoded, in order), because many mutations
change only the encoding, which a client library would normalise.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import quote

from understudy.cases.model import CaseRequest, CaseSite
from understudy.openapi.media_types import MULTIPART
from understudy.openapi.parameter_writing import encoded

Pair = tuple[str, str | None]

_PLACEHOLDER = re.compile(r"(\{[^}]*\})")  # a parameter of a path template, kept by split


class JsonLiteral(NamedTuple):
    """A JSON value that is written literally, such as ``1E400``."""

    text: str


class MultipartPart(NamedTuple):
    """One part of a multipart body: its header lines, without the empty line, and its content."""

    headers: tuple[str, ...]
    content: bytes


class MultipartBody(NamedTuple):
    """A multipart body, with the details of its encoding that mutations change."""

    parts: tuple[MultipartPart, ...]
    boundary: str = "understudy-7d3f0c5e"
    preamble: bytes = b""
    epilogue: bytes = b"\r\n"
    before_end: bytes = b""
    is_ended: bool = True

    def written(self) -> bytes:
        """Returns the encoded body (RFC 2046, 5.1.1)."""
        mark = b"--" + self.boundary.encode()
        pieces = [self.preamble]
        for part in self.parts:
            head = "\r\n".join(part.headers).encode()
            pieces += [mark, b"\r\n", head, b"\r\n\r\n", part.content, b"\r\n"]
        end = [self.before_end, mark, b"--", self.epilogue] if self.is_ended else []
        return b"".join(pieces + end)


class Draft(NamedTuple):
    """A request that mutations change.

    Attributes:
        site: The address that the request goes to.
        method: The request method.
        template: Path template of the document, with parameter names in braces.
        places: Name and percent-encoded text of each path parameter.
        query: Percent-encoded names and values; a value of None is a name without ``=``.
        headers: Headers other than Content-Type.
        content_type: Content-Type without the boundary of multipart; None for no such header.
        json: Value of the JSON body, if ``has_json``.
        form: Percent-encoded names and values of a form.
        parts: A multipart body.
        raw: Bytes of the body; overrides the other bodies.
    """

    site: CaseSite
    method: str
    template: str
    places: tuple[tuple[str, str], ...] = ()
    query: tuple[Pair, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str | None = None
    json: Any = None
    has_json: bool = False
    form: tuple[Pair, ...] | None = None
    parts: MultipartBody | None = None
    raw: bytes | None = None

    def with_place(self, name: str, text: str) -> "Draft":
        """Returns the draft with another percent-encoded text for a path parameter."""
        return self._replace(places=tuple((n, text if n == name else t) for n, t in self.places))

    def with_query(self, name: str, *texts: str | None) -> "Draft":
        """Returns the draft with exactly these percent-encoded values for a query parameter."""
        return self._replace(query=_put(self.query, name, texts))

    def with_form(self, name: str, *texts: str | None) -> "Draft":
        """Returns the draft with exactly these percent-encoded values for a form field."""
        return self._replace(form=_put(self.form or (), name, texts))

    def with_headers(self, name: str, *texts: str) -> "Draft":
        """Returns the draft with exactly these values for a header."""
        kept = tuple((n, text) for n, text in self.headers if n.lower() != name.lower())
        return self._replace(headers=(*kept, *((name, text) for text in texts)))

    def has_header(self, name: str) -> bool:
        """Tells whether the draft sends a header of this name, in any case."""
        return any(n.lower() == name.lower() for n, _ in self.headers)

    def with_cookie(self, name: str, *texts: str) -> "Draft":
        """Returns the draft with exactly these values for a cookie; other cookies stay."""
        current = next((text for n, text in self.headers if n == "Cookie"), "")
        kept = [pair for pair in current.split("; ") if pair and pair.partition("=")[0] != name]
        line = "; ".join([*kept, *(f"{name}={text}" for text in texts)])
        return self.with_headers("Cookie", *([line] if line else []))

    def with_json(self, path: tuple[str | int, ...], value: Any) -> "Draft":
        """Returns the draft with another value in its JSON body; the path ``()`` is the whole body."""
        return self._replace(json=_put_value(self.json, path, value), has_json=True)

    def without_json(self, path: tuple[str | int, ...]) -> "Draft":
        """Returns the draft without a member of its JSON body."""
        return self._replace(json=_drop(self.json, path))

    def without_body(self) -> "Draft":
        """Returns the draft without a body and its Content-Type."""
        return self._replace(has_json=False, form=None, parts=None, raw=None, content_type=None)

    def content(self) -> bytes | None:
        """Returns the bytes of the body; None for no body."""
        if self.raw is not None:
            return self.raw
        if self.parts is not None:
            return self.parts.written()
        if self.form is not None:
            return "&".join(n if t is None else f"{n}={t}" for n, t in self.form).encode()
        return dumps(self.json).encode() if self.has_json else None

    def request(self) -> CaseRequest:
        """Returns the request as it is sent."""
        places = {"{" + name + "}": text for name, text in self.places}
        pieces = _PLACEHOLDER.split(self.template)
        path = "".join(places.get(piece) or _path_text(piece) for piece in pieces)
        headers = self.headers
        if self.content_type is not None:
            text = self.content_type
            if self.parts is not None and self.raw is None and text == MULTIPART:
                text = f"{MULTIPART}; boundary={self.parts.boundary}"
            headers = (*headers, ("Content-Type", text))
        return CaseRequest(self.site, self.method, path, self.query, headers, self.content())


def _path_text(text: str) -> str:
    """Percent-encodes the characters of a template that no path may contain (RFC 3986, 3.3)."""
    return quote(text, safe="/%:@!$&'()*+,;=-._~", errors="surrogatepass")


def dumps(value: Any) -> str:
    """Returns a value as JSON; unlike a library's encoder, writes a ``JsonLiteral`` verbatim."""
    if isinstance(value, JsonLiteral):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(name)}: {dumps(v)}" for name, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dumps, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    known = {True: "true", False: "false", None: "null"}
    return known[value] if value is None or isinstance(value, bool) else repr(value)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')  # surrogates cannot be encoded in UTF-8


def _text(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _put(pairs: Iterable[Pair], name: str, texts: tuple[str | None, ...]) -> tuple[Pair, ...]:
    """Replaces the values of a name at its first position, and keeps the order of the others."""
    listed = list(pairs)
    place = next((n for n, (key, _) in enumerate(listed) if key == name), len(listed))
    before, after = listed[:place], [pair for pair in listed[place:] if pair[0] != name]
    return (*before, *((name, text) for text in texts), *after)


def _put_value(current: Any, path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    step, *rest = path
    if isinstance(current, list):
        return [
            _put_value(v, tuple(rest), value) if n == step else v for n, v in enumerate(current)
        ]
    members = dict(current) if isinstance(current, dict) else {}
    members[str(step)] = _put_value(members.get(str(step)), tuple(rest), value)
    return members


def _drop(current: Any, path: tuple[str | int, ...]) -> Any:
    step, *rest = path
    if isinstance(current, list):
        return [_drop(v, tuple(rest)) if n == step else v for n, v in enumerate(current)]
    if not isinstance(current, dict):
        return current
    if not rest:
        return {name: v for name, v in current.items() if name != step}
    return {name: _drop(v, tuple(rest)) if name == step else v for name, v in current.items()}


# These functions return changes, since a mutation is made before the draft that it is applied to.

DraftChange = Callable[[Draft], Draft]
"""A function that returns a changed copy of a draft."""


def query(name: str, *texts: str | None) -> DraftChange:
    """Returns a change that gives a query parameter exactly these percent-encoded values."""
    return lambda draft: draft.with_query(encoded(name), *texts)


def more_query(name: str, text: str | None) -> DraftChange:
    """Returns a change that appends a percent-encoded name and value to the query."""
    return lambda draft: draft._replace(query=(*draft.query, (name, text)))


def place(name: str, text: str) -> DraftChange:
    """Returns a change that gives a path parameter this percent-encoded text."""
    return lambda draft: draft.with_place(name, text)


def header(name: str, *texts: str) -> DraftChange:
    """Returns a change that sends a header with exactly these values, each on its own line."""
    return lambda draft: draft.with_headers(name, *texts)


def form(name: str, *texts: str | None) -> DraftChange:
    """Returns a change that gives a form field exactly these percent-encoded values."""
    return lambda draft: draft.with_form(encoded(name), *texts)


def more_form(name: str, text: str | None) -> DraftChange:
    """Returns a change that appends a percent-encoded field to the form."""
    return lambda draft: draft._replace(form=(*(draft.form or ()), (name, text)))


def member(path: tuple[str | int, ...], value: Any) -> DraftChange:
    """Returns a change that gives a member of the JSON body a value."""
    return lambda draft: draft.with_json(path, value)


def raw(content: bytes) -> DraftChange:
    """Returns a change that sends these bytes as the body."""
    return lambda draft: draft._replace(raw=content)


def rewritten(change: Callable[[bytes], bytes]) -> DraftChange:
    """Returns a change that rewrites the bytes of the body."""
    return lambda draft: draft._replace(raw=change(draft.content() or b""))


def content_type(text: str | None) -> DraftChange:
    """Returns a change that sends this Content-Type."""
    return lambda draft: draft._replace(content_type=text)


def method(name: str) -> DraftChange:
    """Returns a change that sends the request with this method."""
    return lambda draft: draft._replace(method=name)


def bodiless(name: str) -> DraftChange:
    """Returns a change that sends the request with this method and without a body."""
    return lambda draft: draft.without_body()._replace(method=name)
