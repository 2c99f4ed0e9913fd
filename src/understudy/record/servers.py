"""Translates addresses and header fields between a deployment and the proxy in front of it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import quote, unquote_to_bytes, urlsplit

from understudy.verify.target import is_loopback

_PAIR_WITH_URL: Final = re.compile(rb"(=)(http[^&]+)")  # a value of a query or form that is a URL
_AFTER_ORIGIN: Final = frozenset({"", "/", "?", "#"})
"""Characters that can follow the origin in a URL; empty at its end."""

SiteName = Literal["resource", "authorization"]


@dataclass(frozen=True, slots=True)
class ProxiedServer:
    """One server of the deployment, and the proxy's port for it.

    Attributes:
        site: The API of the server.
        url: Base URL of the server, without a trailing slash.
        port: The proxy's port for it.
    """

    site: SiteName
    url: str
    port: int

    @property
    def origin(self) -> str:
        """Scheme, host and port of the server (RFC 6454, 4)."""
        return origin_of(self.url)

    @property
    def path(self) -> str:
        """The path of its base URL; empty without one."""
        return urlsplit(self.url).path

    def proxied_origin(self, host: str) -> str:
        """Returns the proxy's origin for this server, for a client that calls the proxy ``host``."""
        return f"http://{host}:{self.port}"


class ProxiedAddresses:
    """Replaces the origins of a deployment by those of the proxy, and back.

    Clients call the proxy ``127.0.0.1``, ``localhost`` or ``[::1]``, and get addresses with the same
    name, as cookies belong to it.
    """

    def __init__(self, servers: Sequence[ProxiedServer]) -> None:
        self.servers = tuple(servers)
        self._for_clients = lru_cache(16)(self._table_for)
        origins = dict.fromkeys(server.origin for server in servers)
        known = "|".join(re.escape(origin) for origin in sorted(origins, key=len, reverse=True))
        # a longer host or port is another server; JSON may escape the slash as \/
        self._pattern = re.compile(rf"({known})(?![\w.:-])")
        escaped = known.replace("/", r"\\/")
        self._in_body = re.compile(rf"({known}|{escaped})(?![\w.:-])".encode())

    def for_client(self, text: str, host: str) -> str:
        """Returns a header's value with the proxy's addresses.

        Args:
            text: The value, such as that of Location.
            host: The host name by which the client calls the proxy.
        """
        table = self._for_clients(host)
        return self._pattern.sub(lambda match: table[match[1]], text)

    def body_for_client(self, body: bytes, host: str) -> bytes:
        """Returns an HTML or JSON body with the proxy's addresses."""
        table = self._for_clients(host)

        def replacement(match: re.Match[bytes]) -> bytes:
            origin = match[1].decode()
            if "\\" in origin:
                return table[origin.replace("\\", "")].replace("/", "\\/").encode()
            return table[origin].encode()

        return self._in_body.sub(replacement, body)

    def for_deployment(self, text: str, server: ProxiedServer, host: str) -> str:
        """Returns an Origin or Referer with the proxy's address replaced by the deployment's."""
        for each in (server, *self.servers):
            own = each.proxied_origin(host)
            if text == own or text.startswith(f"{own}/"):
                return each.origin + text.removeprefix(own)
        return text

    def pairs_for_deployment(self, pairs: bytes, host: str) -> bytes:
        """Returns a query or form in which values with the proxy's address have the deployment's.

        Pages contain the proxy's addresses, and send them back, for example as the next page.

        Args:
            pairs: Encoded names and values; others are kept byte by byte.
            host: The host name by which the client calls the proxy.
        """

        def replacement(match: re.Match[bytes]) -> bytes:
            value = unquote_to_bytes(match[2].replace(b"+", b" ")).decode("latin-1")
            for server in self.servers:
                own = server.proxied_origin(host)
                if value.startswith(own) and value[len(own) :][:1] in _AFTER_ORIGIN:
                    url = server.origin + value.removeprefix(own)
                    return match[1] + quote(url, safe="", encoding="latin-1").encode()
            return match[0]

        return _PAIR_WITH_URL.sub(replacement, pairs)

    def _table_for(self, host: str) -> dict[str, str]:
        # reversed, so that the first of two servers with the same origin wins
        return {server.origin: server.proxied_origin(host) for server in reversed(self.servers)}


def origin_of(url: str) -> str:
    """Returns scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


Fields = list[tuple[bytes, bytes]]
"""Header fields in order, as bytes: name in lower case, and value."""

HOP_BY_HOP: Final = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer"),
        *(b"proxy-authenticate", b"proxy-authorization", b"transfer-encoding", b"upgrade"),
    }
)
"""Fields of a single connection, which proxies do not forward (RFC 9110, 7.6.1)."""

_OWN_OF_REQUEST: Final = frozenset({b"host", b"expect", b"accept-encoding"})
"""Request fields that the proxy sets itself, or handles itself, as 100 (Continue)."""

_DROPPED_FROM_RESPONSE: Final = frozenset({b"date", b"alt-svc", b"strict-transport-security"})
"""Response fields that concern the deployment's connection; uvicorn sets Date itself."""

_WITH_ADDRESSES: Final = frozenset(
    {
        *(b"location", b"content-location", b"link", b"refresh"),
        *(b"access-control-allow-origin", b"content-security-policy"),
    }
)

_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""Characters that are invalid in a field value (RFC 9110, 5.5), so that uvicorn cannot send them."""

_BOUND_COOKIES: Final = ("__secure-", "__host-")
"""Prefixes of cookies that require ``Secure``; browsers accept them from a loopback address."""

_OF_HTTPS: Final = frozenset({"upgrade-insecure-requests", "block-all-mixed-content"})
"""Directives of a content security policy that would block the proxy, which is served over http."""


def field_value(fields: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """Returns the value of a header field, or an empty string."""
    return next((value.decode("latin-1") for key, value in fields if key.lower() == name), "")


def lowered(fields: Iterable[tuple[bytes, bytes]]) -> Fields:
    """Returns header fields with their names in lower case."""
    return [(name.lower(), value) for name, value in fields]


def sendable(fields: Fields) -> tuple[Fields, list[bytes]]:
    """Returns header fields with control characters replaced by spaces (RFC 9110, 5.5).

    Returns:
        The fields, and the names of those that were changed.
    """
    replaced = [(name, _CONTROL.sub(b" ", value)) for name, value in fields]
    changed = [
        name for (name, value), pair in zip(fields, replaced, strict=True) if value != pair[1]
    ]
    return replaced, list(dict.fromkeys(changed))


def end_to_end(fields: Iterable[tuple[bytes, bytes]]) -> Fields:
    """Returns the fields that a proxy forwards, with names in lower case (RFC 9110, 7.6.1)."""
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
    """Returns the header fields of a request to the deployment.

    Responses are requested without compression, so that they can be judged and rewritten.

    Args:
        fields: The client's header fields.
        addresses: Translates addresses.
        server: The server that gets the request.
        host: The host name by which the client calls the proxy.
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
    """Returns the header fields of a response to the client."""
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
    """Returns header fields by which a page on a loopback address may read the response (Fetch, 3.2).

    Args:
        origin: The Origin of the request; for other origins the deployment's fields stay unchanged.
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
    """Returns the response fields for a CORS preflight from a loopback address; None for others."""
    origin, method = (
        field_value(fields, b"origin"),
        field_value(fields, b"access-control-request-method"),
    )
    if not method or not is_loopback(origin):
        return None
    headers = field_value(fields, b"access-control-request-headers")
    return [
        *opened_to(origin, []),
        (b"access-control-allow-methods", method.encode("latin-1")),
        (b"access-control-allow-headers", headers.encode("latin-1")),
    ]


def _cookie(text: str) -> str:
    """Returns a Set-Cookie value that browsers accept from the proxy, by its host and over http."""
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
    """Returns a content security policy without directives that require https."""
    directives = (each for each in text.split(";") if each.strip().lower() not in _OF_HTTPS)
    return ";".join(directives)
