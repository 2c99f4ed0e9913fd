"""Rewrites the header fields of requests and responses that pass the proxy."""

import re
from collections.abc import Iterable
from typing import Final

from understudy.record.servers import ProxiedAddresses, ProxiedServer
from understudy.verify.target import is_loopback

Fields = list[tuple[bytes, bytes]]
"""Header fields in order, as bytes: a name in lower case, and a value."""

HOP_BY_HOP: Final = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer"),
        *(b"proxy-authenticate", b"proxy-authorization", b"transfer-encoding", b"upgrade"),
    }
)
"""Fields of one connection, which no proxy passes on (RFC 9110, 7.6.1)."""

_OWN_OF_REQUEST: Final = frozenset({b"host", b"expect", b"accept-encoding"})
"""Fields of a request that the proxy writes itself; 100 (Continue) is the server's before it."""

_DROPPED_FROM_RESPONSE: Final = frozenset({b"date", b"alt-svc", b"strict-transport-security"})
"""Fields of a response that name or bind the deployment's connection; the server writes the date."""

_WITH_ADDRESSES: Final = frozenset(
    {
        *(b"location", b"content-location", b"link", b"refresh"),
        *(b"access-control-allow-origin", b"content-security-policy"),
    }
)

_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""Characters that no field value has, so that no server sends them."""

_BOUND_COOKIES: Final = ("__secure-", "__host-")
"""Cookie names that demand ``Secure``, which browsers take from a loopback address."""

_OF_HTTPS: Final = frozenset({"upgrade-insecure-requests", "block-all-mixed-content"})
"""Directives of a content security policy that keep a page from what is served over http."""


def field(fields: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """Returns the value of a header field, or an empty string."""
    return next((value.decode("latin-1") for key, value in fields if key.lower() == name), "")


def lowered(fields: Iterable[tuple[bytes, bytes]]) -> Fields:
    """Returns header fields with their names in lower case."""
    return [(name.lower(), value) for name, value in fields]


def sendable(fields: Fields) -> tuple[Fields, list[bytes]]:
    """Returns header fields with a space for each control character (RFC 9110, 5.5).

    Returns:
        The fields, and the names of those that were changed.
    """
    replaced = [(name, _CONTROL.sub(b" ", value)) for name, value in fields]
    changed = [
        name for (name, value), pair in zip(fields, replaced, strict=True) if value != pair[1]
    ]
    return replaced, list(dict.fromkeys(changed))


def end_to_end(fields: Iterable[tuple[bytes, bytes]]) -> Fields:
    """Returns the fields that a proxy passes on, names in lower case (RFC 9110, 7.6.1)."""
    pairs = lowered(fields)
    named = b",".join(value for name, value in pairs if name == b"connection").lower()
    dropped = HOP_BY_HOP | {token.strip() for token in named.split(b",")}
    return [(name, value) for name, value in pairs if name not in dropped]


def request_fields(
    fields: Iterable[tuple[bytes, bytes]],
    addresses: ProxiedAddresses,
    server: ProxiedServer,
    host: str,
) -> Fields:
    """Returns the header fields of a request as the deployment gets them.

    Responses are requested without compression, so that they can be judged and rewritten as they
    pass.

    Args:
        fields: The client's.
        addresses: Translates addresses.
        server: The server that gets the request.
        host: The host name that the client calls the proxy by.
    """
    authority = server.origin.partition("://")[2].encode()
    rewritten: Fields = [(b"host", authority), (b"accept-encoding", b"identity")]
    for name, value in end_to_end(fields):
        if name in {b"origin", b"referer"}:
            text = addresses.for_deployment(value.decode("latin-1"), server, host)
            rewritten.append((name, text.encode("latin-1")))
        elif name not in _OWN_OF_REQUEST:
            rewritten.append((name, value))
    return rewritten


def response_fields(
    fields: Iterable[tuple[bytes, bytes]], addresses: ProxiedAddresses, host: str
) -> Fields:
    """Returns the header fields of a response as the client gets them."""
    rewritten: Fields = []
    for name, value in end_to_end(fields):
        if name in _DROPPED_FROM_RESPONSE:
            continue
        if name in _WITH_ADDRESSES:
            text = addresses.for_client(value.decode("latin-1"), host)
            text = _policy(text) if name == b"content-security-policy" else text
            rewritten.append((name, text.encode("latin-1")))
        elif name == b"set-cookie":
            rewritten.append((name, _cookie(value.decode("latin-1")).encode("latin-1")))
        else:
            rewritten.append((name, value))
    return rewritten


def opened_to(origin: str, fields: Fields) -> Fields:
    """Returns header fields that let a page of this machine read the response (Fetch, 3.2).

    Args:
        origin: The Origin of the request; a page of any other machine gets what the deployment says.
        fields: The fields of the response.
    """
    if not is_loopback(origin):
        return fields
    kept = [(name, value) for name, value in fields if not name.startswith(b"access-control-")]
    return [
        *kept,
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", b"*"),
        (b"vary", b"Origin"),
    ]


def preflight_fields(fields: Iterable[tuple[bytes, bytes]]) -> Fields | None:
    """Returns the header fields that answer a preflight of a page of this machine; None for others."""
    origin, method = field(fields, b"origin"), field(fields, b"access-control-request-method")
    if not method or not is_loopback(origin):
        return None
    headers = field(fields, b"access-control-request-headers")
    return [
        *opened_to(origin, []),
        (b"access-control-allow-methods", method.encode("latin-1")),
        (b"access-control-allow-headers", headers.encode("latin-1")),
    ]


def _cookie(text: str) -> str:
    """Returns a cookie as a browser takes it from the proxy: for its host, and over http."""
    pair, *attributes = text.split(";")
    is_bound = pair.strip().lower().startswith(_BOUND_COOKIES)
    kept = [pair]
    for attribute in attributes:
        name, _, value = (part.strip().lower() for part in attribute.partition("="))
        if name == "domain" or (name in {"secure", "partitioned"} and not is_bound):
            continue
        is_cross_site = (name, value) == ("samesite", "none") and not is_bound
        kept.append(" SameSite=Lax" if is_cross_site else attribute)
    return ";".join(kept)


def _policy(text: str) -> str:
    """Returns a content security policy as a page of the proxy can keep to it."""
    directives = (each for each in text.split(";") if each.strip().lower() not in _OF_HTTPS)
    return ";".join(directives)
