"""One request and its answer, frozen: what checks judge, reports show and a journal keeps.

Not an httpx response: recorded traffic and generated cases become the same value, and a check that
only gets values cannot send anything.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Literal
from urllib.parse import SplitResult, parse_qsl, unquote_plus, urlsplit

import orjson

from understudy.interface.secrets import SECRET_NAMES

Headers = tuple[tuple[str, str], ...]
CredentialKind = Literal["none", "oauth", "api_key", "invalid", "unknown"]

NO_JSON: Final = object()
"""Stands for a body that is no JSON, as ``null`` is one."""

_BEARER: Final = re.compile(r"bearer +(\S.*)", re.IGNORECASE)
_FORM_SECRET: Final = re.compile(rf"\b({'|'.join(sorted(SECRET_NAMES))})=([^&\s\"']+)")
_JSON_SECRET: Final = re.compile(
    # in JSON, ``code`` is a word of an error and no secret
    rf'"({"|".join(sorted(SECRET_NAMES - {"code"}))})"\s*:\s*"((?:[^"\\]|\\.)+)"'
)
_CREDENTIALS: Final = re.compile(r"^(Bearer|Basic) (\S+)$", re.IGNORECASE)
MASK: Final = "masked-"


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a request speaks for.

    Attributes:
        name: What reports call it, such as ``owner``; never a secret.
        kind: Of its credential; ``unknown`` for a token that only a recording shows.
        account: Which account it belongs to; None for nobody's.
        scopes: What it was granted; None where that is not known.
    """

    name: str
    kind: CredentialKind = "none"
    account: str | None = None
    scopes: frozenset[str] | None = None

    def may(self, scope: str) -> bool:
        """Tells whether it is known to hold a scope."""
        return self.scopes is not None and scope in self.scopes


ANONYMOUS_IDENTITY: Final = Identity("anonymous")


@dataclass(frozen=True)
class Request:
    """A request as it went over the wire; header names in lower case."""

    method: str
    url: str
    headers: Headers = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        """Returns a header, or an empty text."""
        return _header(self.headers, name)

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The query's parameters in order, empty ones too."""
        return tuple(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))

    @cached_property
    def query(self) -> Mapping[str, str]:
        """The query's parameters; of a repeated one, the last."""
        return dict(self.pairs)

    @cached_property
    def form_pairs(self) -> tuple[tuple[str, str], ...]:
        """The fields of a URL-encoded form in order; none where the body is another."""
        if media_type(self.headers) != "application/x-www-form-urlencoded":
            return ()
        text = self.body.decode("utf-8", "replace")
        return tuple(parse_qsl(text, keep_blank_values=True))

    @cached_property
    def form(self) -> Mapping[str, str]:
        """The fields of a URL-encoded form; of a repeated one, the last."""
        return dict(self.form_pairs)

    @cached_property
    def json(self) -> Any:
        """What the body says, or NO_JSON."""
        return _json(self.body) if media_type(self.headers) == "application/json" else NO_JSON

    @property
    def token(self) -> str | None:
        """What stands behind ``Bearer``."""
        match = _BEARER.fullmatch(self.header("authorization"))
        return match[1].strip() if match else None


@dataclass(frozen=True)
class Response:
    """An answer as it came; header names in lower case, the body decoded."""

    status: int
    headers: Headers = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        """Returns a header, or an empty text."""
        return _header(self.headers, name)

    @property
    def media_type(self) -> str:
        """The content type in lower case, without options."""
        return media_type(self.headers)

    @property
    def is_success(self) -> bool:
        """Tells whether the status is one of success."""
        return 200 <= self.status < 300  # noqa: PLR2004 - the class of success

    @property
    def is_refusal(self) -> bool:
        """Tells whether the status is one of a client's fault."""
        return 400 <= self.status < 500  # noqa: PLR2004 - the class of client errors

    @cached_property
    def json(self) -> Any:
        """What the body says, or NO_JSON; whatever type it claims."""
        return _json(self.body)


@dataclass(frozen=True)
class Exchange:
    """A request, its answer, and what is known of them.

    Attributes:
        number: Its place in the run, from 1.
        source: What sent it, such as ``probe lookup_by_everyone``.
        identity: Whom the request speaks for.
        request: What was sent.
        response: What came.
        at: The deployment's time when it was sent.
        operation: Method and template of the operation, ``GET /profiles/{}``; empty for any other.
        site: Which address it went to.
        path: Below that address.
        values: What stands in the template's braces, decoded.
        elapsed_ms: How long the answer took, in milliseconds.
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

    @property
    def value(self) -> str:
        """What stands in the template's first braces."""
        return self.values[0] if self.values else ""

    @property
    def status(self) -> int:
        """The answer's status."""
        return self.response.status

    @property
    def body(self) -> Any:
        """What the answer says as JSON, or NO_JSON."""
        return self.response.json

    @cached_property
    def json_object(self) -> Mapping[str, Any]:
        """The answer's JSON object; empty where it is none."""
        return self.body if isinstance(self.body, dict) else {}

    @cached_property
    def location(self) -> SplitResult:
        """Where a redirect leads."""
        return split(self.response.header("location"))

    @cached_property
    def redirect_parameters(self) -> Mapping[str, str]:
        """What a redirect tells the client, in its query and its fragment."""
        parts = self.location
        pairs = [*parse_qsl(parts.query), *parse_qsl(parts.fragment)]
        return dict(pairs)


def media_type(headers: Headers) -> str:
    """Returns the content type in lower case, without options."""
    return _header(headers, "content-type").partition(";")[0].strip().lower()


def split(url: object) -> SplitResult:
    """Returns the parts of an address; empty ones where it is none."""
    try:
        return urlsplit(str(url))
    except ValueError:
        return urlsplit("")


def headers_of(pairs: Iterable[tuple[str, str]]) -> Headers:
    """Returns headers as an exchange keeps them."""
    return tuple((name.lower(), text) for name, text in pairs)


def masked(text: str, secrets: Mapping[str, str]) -> str:
    """Returns a text without what must not be shown.

    What is no secret of the target gets a pseudonym, the same wherever it stands, so that a masked
    recording can still be judged.

    Args:
        text: A URL, a header or a body.
        secrets: Each secret, and the name that stands for it.
    """
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, f"${secrets[secret]}")
    text = _FORM_SECRET.sub(lambda m: f"{m[1]}={_pseudonym(unquote_plus(m[2]))}", text)
    text = _JSON_SECRET.sub(lambda m: f'"{m[1]}":"{_pseudonym(m[2])}"', text)
    return _CREDENTIALS.sub(lambda m: f"{m[1]} {_pseudonym(m[2])}", text)


def unmasked(text: str, secrets: Mapping[str, str]) -> str:
    """Returns a text with the target's secrets in it again."""
    for secret, name in secrets.items():
        text = re.sub(rf"\${re.escape(name)}\b", lambda _m, s=secret: s, text)  # type: ignore[misc]  # bound early
    return text


def is_masked(text: str) -> bool:
    """Tells whether a text is a pseudonym."""
    return text.startswith(MASK)


def _pseudonym(secret: str) -> str:
    if secret.startswith(("$", MASK)):
        return secret
    return MASK + sha256(secret.encode("utf-8", "replace")).hexdigest()[:12]


def _header(headers: Headers, name: str) -> str:
    return next((text for key, text in headers if key == name), "")


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return NO_JSON
