"""A request and its response as a frozen value, which checks judge and reports show.

Own types instead of those of httpx, so that recorded traffic and generated cases become the same
value, and a check, which gets only values, cannot send anything.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Literal
from urllib.parse import SplitResult, parse_qsl, urlsplit

import orjson

from understudy.interface.scopes import AUTH
from understudy.openapi.media_types import JSON, URLENCODED, without_options

Headers = tuple[tuple[str, str], ...]
CredentialKind = Literal["none", "oauth", "api_key", "invalid", "unknown"]

NO_JSON: Final = object()
"""Sentinel: the body is not JSON (``null`` is JSON)."""

UNCHECKED_CREDENTIAL: Final = "x-mock-credential"
"""Header by which a mock declares that it accepts any credential, so that this is no finding."""

LARGEST_REPORTED: Final = 512 * 1024
"""Bytes of the largest body that a report keeps; for a larger one it states the size."""

_BEARER: Final = re.compile(r"bearer +(\S.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Identity:
    """The account and credential that a request is sent with.

    Attributes:
        name: Name in reports, such as ``owner``; never a secret.
        kind: The kind of credential; ``unknown`` for a token that only a recording shows.
        account: The account it belongs to; None for an anonymous or invalid credential.
        scopes: The scopes it was granted; None if they are unknown.
    """

    name: str
    kind: CredentialKind = "none"
    account: str | None = None
    scopes: frozenset[str] | None = None

    def may(self, scope: str) -> bool:
        """Returns whether it is known to have a scope, and ``auth``, which endpoints require."""
        return self.scopes is not None and {AUTH, scope} <= self.scopes


ANONYMOUS_IDENTITY: Final = Identity("anonymous")

ISSUED: Final = "issued"
"""The name of a token that was issued during the run."""

GRANTEE: Final = "grantee"
"""Account of such a token: that of the person who approved it, who may be a test account."""


def issued_identity(scopes: frozenset[str] | None) -> Identity:
    """Returns the identity of a token that was issued during the run."""
    return Identity(ISSUED, "oauth", GRANTEE, scopes)


class _Message:
    """The header fields of a request or a response."""

    headers: Headers

    def header(self, name: str) -> str:
        """Returns a header's value, or an empty string."""
        return self._header_texts.get(name, "")

    @property
    def media_type(self) -> str:
        """The media type of the Content-Type header in lower case, without parameters."""
        return media_type(self.headers)

    @cached_property
    def _header_texts(self) -> dict[str, str]:
        # reversed, so that the first of repeated fields wins
        return {name.lower(): text for name, text in reversed(self.headers)}


@dataclass(frozen=True)
class Request(_Message):
    """A request as it was sent; header names are in lower case, unless a probe varies them."""

    method: str
    url: str
    headers: Headers = ()
    body: bytes = b""

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The query parameters in order, including empty ones."""
        return tuple(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))

    @cached_property
    def query(self) -> Mapping[str, str]:
        """The query parameters by name; the last value of a repeated one."""
        return dict(self.pairs)

    @cached_property
    def form_pairs(self) -> tuple[tuple[str, str], ...]:
        """The fields of a URL-encoded form in order; empty for any other body."""
        if self.media_type != URLENCODED:
            return ()
        text = self.body.decode("utf-8", "replace")
        return tuple(parse_qsl(text, keep_blank_values=True))

    @cached_property
    def form(self) -> Mapping[str, str]:
        """The fields of a URL-encoded form by name; the last value of a repeated one."""
        return dict(self.form_pairs)

    @cached_property
    def json(self) -> Any:
        """The decoded JSON body, or NO_JSON."""
        return _json(self.body) if self.media_type == JSON else NO_JSON

    @property
    def token(self) -> str | None:
        """The bearer token of the Authorization header; None without one."""
        match = _BEARER.fullmatch(self.header("authorization"))
        return match[1].strip() if match else None


@dataclass(frozen=True)
class Response(_Message):
    """A response as it was received; header names are in lower case, the body is decoded."""

    status: int
    headers: Headers = ()
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        """True if the status is 2XX."""
        return 200 <= self.status < 300  # noqa: PLR2004 - the class of success

    @property
    def is_refusal(self) -> bool:
        """True if the status is 4XX."""
        return 400 <= self.status < 500  # noqa: PLR2004 - the class of client errors

    @cached_property
    def json(self) -> Any:
        """The decoded JSON body, or NO_JSON, whatever its content type."""
        return _json(self.body)


@dataclass(frozen=True)
class Exchange:
    """A request, its response, and their context.

    Attributes:
        number: Its position in the run, from 1.
        source: The sender, such as ``probe lookup_by_everyone``.
        identity: The account and credential of the request.
        request: The request as sent.
        response: The response as received; its status is 0 if none was received.
        at: The deployment's time when the request was sent.
        operation: Method and path template, ``GET /profiles/{}``; empty if none matches.
        site: The server that the request was sent to.
        path: The path below that server's address.
        values: The decoded path parameters, in order.
        elapsed_ms: Milliseconds until the response was complete.
        wire: The request and the response in the deployment's words; None if these are the
            interface's.
        title: The operation as the document writes it, ``GET /profiles/{slug}``; empty without one.
    """

    number: int
    source: str
    identity: Identity
    request: Request
    response: Response
    at: datetime
    operation: str = ""
    site: Literal["resource", "authorization", "elsewhere"] = "elsewhere"
    path: str = ""
    values: tuple[str, ...] = ()
    elapsed_ms: float = 0.0
    wire: tuple[Request, Response] | None = None
    title: str = ""

    @property
    def value(self) -> str:
        """The first path parameter; empty without one."""
        return self.values[0] if self.values else ""

    @property
    def status(self) -> int:
        """The response's status code."""
        return self.response.status

    @property
    def body(self) -> Any:
        """The response's decoded JSON body, or NO_JSON."""
        return self.response.json

    @cached_property
    def json_object(self) -> Mapping[str, Any]:
        """The response's JSON object; empty if the body is not an object."""
        return self.body if isinstance(self.body, dict) else {}

    @cached_property
    def location(self) -> SplitResult:
        """The URL that a redirect leads to."""
        return split(self.response.header("location"))

    @cached_property
    def redirect_parameters(self) -> Mapping[str, str]:
        """The parameters of a redirect, in its query and its fragment."""
        return dict(self.redirect_pairs)

    @cached_property
    def redirect_pairs(self) -> Sequence[tuple[str, str]]:
        """The parameters of a redirect in their order, repeated ones included."""
        parts = self.location
        return [*parse_qsl(parts.query), *parse_qsl(parts.fragment)]


def media_type(headers: Headers) -> str:
    """Returns the media type of a Content-Type header in lower case, without parameters."""
    text = next((text for name, text in headers if name == "content-type"), "")
    return without_options(text)


def split(url: object) -> SplitResult:
    """Returns the parts of a URL; all are empty if it cannot be parsed."""
    try:
        return urlsplit(str(url))
    except ValueError:
        return urlsplit("")


def headers_of(pairs: Iterable[tuple[str, str]]) -> Headers:
    """Returns headers with their names in lower case, as an exchange keeps them."""
    return tuple((name.lower(), text) for name, text in pairs)


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return NO_JSON
