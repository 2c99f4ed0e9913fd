"""Writes credentials into requests where the document declares them, and reads them from there.

A run handles every credential as one string, a token. In a request it can be a bearer token, an API
key in a header, in the query or in a cookie, or a name and a password of HTTP Basic.
"""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from understudy.exchange.messages import Request
from understudy.openapi.operations import BEARER, Credential, Operation, credentials_of, first_of

AUTHORIZATION: Final = "authorization"
BEARER_SCHEME: Final = {"type": "http", "scheme": "bearer"}


@dataclass(frozen=True)
class CredentialPlaces:
    """The places of credentials in the requests of one document.

    Attributes:
        schemes: Its security schemes; if it has none, every credential is a bearer token.
    """

    schemes: Mapping[str, Any] = field(default_factory=dict)

    def of(self, operation: Operation | None, token: str = ":") -> tuple[Credential, ...]:
        """Returns the places where an operation takes a credential.

        Without a colon it is no name and password: then HTTP Basic is the last alternative. Operations
        without security take it as those with security do.
        """
        if operation is None:
            return self._usual(token)
        basic = {name for name, it in self._as_sent.items() if it.get("scheme") == "basic"}
        others = tuple(it for it in operation.security if ":" in token or basic.isdisjoint(it))
        preferred = replace(operation, security=others)
        return (
            first_of(preferred, self._as_sent)
            or first_of(operation, self._as_sent)
            or self._usual(token)
        )

    def _usual(self, token: str) -> tuple[Credential, ...]:
        """Returns the place of a credential where none is declared: a bearer token if the document has them."""
        declared = credentials_of(self._as_sent.values())
        fitting = [it for it in declared if ":" in token or it.scheme != "basic"]
        return (BEARER,) if BEARER in fitting else (*fitting, BEARER)[:1]

    @cached_property
    def _as_sent(self) -> dict[str, Any]:
        """The schemes, with a bearer scheme for an API key that is described as a bearer token."""
        return {name: BEARER_SCHEME if _is_bearer(it) else it for name, it in self.schemes.items()}

    def headers(self, token: str) -> dict[str, str]:
        """Returns every header in which some operation takes a credential, with this credential."""
        headers = {}
        # bearer last, so that it replaces other schemes of the same header
        declared = sorted(credentials_of(self._as_sent.values()), key=lambda it: it == BEARER)
        for place in declared or (BEARER,):
            if place.location == "header":
                # Schemathesis compares header names case-sensitively.
                name = "Authorization" if place.scheme else place.name
                headers[name] = _with(Request("GET", "/"), place, token).headers[0][1]
        return headers

    def written(self, request: Request, operation: Operation | None, token: str) -> Request:
        """Returns a request with a credential in the places that the operation declares."""
        for place in self.of(operation, token):
            request = _with(request, place, token)
        return request

    def token(self, request: Request, operation: Operation | None) -> str | None:
        """Returns the credential of a request; None without one."""
        found = (_found(request, place) for place in self._any_of(operation))
        return request.token or next(filter(None, found), None)

    def without(self, request: Request, operation: Operation | None) -> Request:
        """Returns a request without its credential."""
        for place in (BEARER, *self._any_of(operation)):
            request = _without(request, place)
        return request

    def _any_of(self, operation: Operation | None) -> Iterable[Credential]:
        """Returns every place where a request to an operation may carry a credential.

        These are the places of all its alternatives, and all headers, as ``headers`` fills each of them.
        """
        names = (name for it in (operation.security if operation else ()) for name in it)
        own = credentials_of(self._as_sent[name] for name in names if name in self._as_sent)
        headers = (it for it in credentials_of(self._as_sent.values()) if it.location == "header")
        return dict.fromkeys((*self.of(operation), *own, *headers))


def _is_bearer(scheme: Mapping[str, Any]) -> bool:
    is_key = scheme.get("type") == "apiKey" and str(scheme.get("name")).lower() == AUTHORIZATION
    return is_key and "bearer" in str(scheme.get("description")).lower()


def _with(request: Request, place: Credential, token: str) -> Request:
    request = _without(request, place)
    if place.location == "query":
        parts = urlsplit(request.url)
        query = "&".join(filter(None, (parts.query, urlencode({place.name: token}))))
        return replace(request, url=urlunsplit(parts._replace(query=query)))
    name, text = place.name.lower(), token
    if place.location == "cookie":
        name = "cookie"
        text = "; ".join(filter(None, (request.header(name), f"{place.name}={token}")))
    elif place.scheme:
        is_basic = place.scheme == "basic"  # a name and a password, with a colon between them
        text = b64encode(token.encode()).decode() if is_basic else token
        text = f"{place.scheme.capitalize()} {text}"
    kept = tuple(it for it in request.headers if it[0].lower() != name)
    return replace(request, headers=(*kept, (name, text)))


def _found(request: Request, place: Credential) -> str | None:
    if place.location == "query":
        return request.query.get(place.name)
    if place.location == "cookie":
        return _cookies(request).get(place.name)
    text = request.header(place.name.lower())
    if place.scheme != "basic":  # ``Request.token`` reads bearer tokens
        return None if place.scheme else text or None
    try:
        return b64decode(text.partition(" ")[2], validate=True).decode() or None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _without(request: Request, place: Credential) -> Request:
    if place.location == "query":
        parts = urlsplit(request.url)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        if place.name not in dict(pairs):
            return request
        query = urlencode([it for it in pairs if it[0] != place.name])
        return replace(request, url=urlunsplit(parts._replace(query=query)))
    name = "cookie" if place.location == "cookie" else place.name.lower()
    kept = tuple(it for it in request.headers if it[0].lower() != name)
    others = {key: text for key, text in _cookies(request).items() if key != place.name}
    if name == "cookie" and others:
        kept = (("cookie", "; ".join(f"{key}={text}" for key, text in others.items())), *kept)
    return replace(request, headers=kept)


def _cookies(request: Request) -> dict[str, str]:
    try:
        read = SimpleCookie(request.header("cookie"))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in read.items()}
