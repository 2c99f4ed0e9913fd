"""Reads the address that a client used, from Host, X-Forwarded-* and Forwarded; the mock's own paths."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from understudy.errors import BadRequest
from understudy.openapi.grammar import MOCK_PATHS

BASE_PATH, CONSOLE_PATH, _ = MOCK_PATHS
"""Paths of the admin API, and of the console: static files without data, which call the admin API."""

PRIVATE_PATHS = (BASE_PATH, CONSOLE_PATH)
"""Prefixes of the paths for the mock's user, which no client of the service calls."""

HEALTH_PATH = f"{BASE_PATH}/health"
READY_PATH = f"{BASE_PATH}/ready"
"""Readiness checks the store, too: replicas without their store are healthy, but not ready."""

METADATA_PATH = "/.well-known/oauth-authorization-server"
"""Describes the authorization server to clients that configure themselves (RFC 8414, 3)."""


def is_reserved(path: str) -> bool:
    """Tells whether a path is the console's or below it; a document cannot take such paths."""
    return path.startswith(CONSOLE_PATH) and path[len(CONSOLE_PATH) :][:1] in {"", "/"}


_HOST = re.compile(
    r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._~-]{1,253})(?::(?P<port>[0-9]{1,5}))?", re.ASCII
)
"""Matches a host with an optional port (RFC 9112, 3.2; RFC 3986, 3.2.2)."""

_VERSIONS = frozenset({"1.0", "1.1"})

_HIGHEST_PORT = 65_535


@lru_cache(maxsize=256)  # runs for every request, with the same few names
def is_host(text: str) -> bool:
    """Tells whether a text is a host, with or without a port."""
    match = _HOST.fullmatch(text)
    if match is None or int(match["port"] or 0) > _HIGHEST_PORT:
        return False
    return not text.startswith("[") or _address(match["name"][1:-1]) is not None


def host_name(text: str) -> str:
    """Returns the host of a Host header in lower case, without port and brackets; empty if invalid."""
    match = _HOST.fullmatch(text)
    return match["name"].strip("[]").lower() if match else ""


def origin_host(origin: str) -> str | None:
    """Returns host and port of an Origin header (RFC 6454, 7) in lower case; None if it is invalid."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


@lru_cache(maxsize=256)  # runs for every request, with the same few clients and names
def is_local(host: str) -> bool:
    """Tells whether a name or address is a loopback one."""
    if host == "localhost":
        return True
    address = _address(host)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped  # how a listener on :: sees a caller at 127.0.0.1
    return address is not None and address.is_loopback


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def expect_host(
    http_version: str, headers: Mapping[bytes, bytes], repeated: Sequence[bytes] | frozenset[bytes]
) -> None:
    """Refuses a request without exactly one valid Host header (RFC 9112, 3.2).

    Args:
        http_version: HTTP version of the request, such as ``1.1``.
        headers: Headers of the request, with names in lower case.
        repeated: Names of the headers that were sent more than once.

    Raises:
        BadRequest: The Host header is missing in HTTP/1.1, repeated or invalid; or the version is
            neither 1.1 nor 1.0.
    """
    if http_version not in _VERSIONS:
        msg = f"HTTP/{http_version} is not served here; send HTTP/1.1."
        raise BadRequest(msg, code="invalid_version")
    host = headers.get(b"host")
    if b"host" in repeated:
        msg = "The Host header is given more than once; send one."
        raise BadRequest(msg, code="invalid_host")
    if host is None:
        if http_version == "1.1":
            msg = "The Host header is missing; HTTP/1.1 requires it."
            raise BadRequest(msg, code="invalid_host")
        return
    for name in (b"host", b"x-forwarded-host"):
        text = headers.get(name, host).decode("latin-1")
        if not is_host(text):
            msg = (
                f"The {name.decode().title()} header {text[:100]!r} is not a host; send name:port."
            )
            raise BadRequest(msg, code="invalid_host")


# Of several proxies the first one is used, which the client connected to. ``for`` is parsed and ignored,
# like X-Forwarded-For: access depends on the real peer, since a header can claim any client.

_SCHEMES: Final = frozenset({"http", "https"})
_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9._~%!$&'()*+,;=:@-]+){1,20}", re.ASCII)

_TOKEN: Final = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"  # RFC 9110, 5.6.2
_SEPARATORS: Final = " \t;,"
_PAIR: Final = re.compile(
    # some proxies omit the quotes that an address with a port or brackets needs: accept both
    rf'[ \t;,]*({_TOKEN})=(?:"((?:[^"\\]|\\.)*)"|([A-Za-z0-9!#$%&\'*+.^_`|~:\[\]-]+))[ \t]*(?=[;,]|$)',
    re.ASCII,
)


def forwarded_site(
    headers: Mapping[bytes, bytes], sent_headers: Sequence[tuple[bytes, bytes]]
) -> str:
    """Returns the base URL that a proxy says the client used; empty without a valid one.

    Args:
        headers: Headers of the request, with names in lower case.
        sent_headers: All header fields, in the order they were sent.
    """
    host = headers.get(b"x-forwarded-host", b"").decode("latin-1")
    scheme = headers.get(b"x-forwarded-proto", b"").partition(b",")[0].strip().decode("latin-1")
    if not host:
        named = headers.get(b"host", b"").decode("latin-1")
        try:
            host, scheme = forwarded_address(sent_headers)
        except BadRequest:
            return ""  # an inner layer refuses the request
        host = host or named
    if not is_host(host):
        return ""
    prefix = headers.get(b"x-forwarded-prefix", b"").decode("latin-1").rstrip("/")
    scheme = scheme.lower() if scheme.lower() in _SCHEMES else "http"
    return f"{scheme}://{host}{prefix if _PREFIX.fullmatch(prefix) else ''}"


def forwarded_address(sent_headers: Sequence[tuple[bytes, bytes]]) -> tuple[str, str]:
    """Returns host and scheme that the client used, from the Forwarded headers; empty texts if absent.

    Raises:
        BadRequest: The headers are malformed, or their host is invalid.
    """
    lines = [value.decode("latin-1") for name, value in sent_headers if name == b"forwarded"]
    pairs = _pairs(", ".join(lines))
    host = next((text for name, text in pairs if name == "host"), "")
    if host and not is_host(host):
        msg = f'The Forwarded header names {host[:100]!r}, which is not a host; send host="name:port".'
        raise BadRequest(msg, code="invalid_host")
    scheme = next((text for name, text in pairs if name == "proto"), "")
    return host, scheme.lower()


def _pairs(text: str) -> list[tuple[str, str]]:
    """Returns the parameters of every proxy, from the client on, with names in lower case.

    Raises:
        BadRequest: The text is malformed (RFC 7239, 4).
    """
    pairs: list[tuple[str, str]] = []
    text, place = text.strip(_SEPARATORS), 0
    while place < len(text):
        match = _PAIR.match(text, place)
        if match is None:
            msg = (
                f"The Forwarded header cannot be read at {text[place:].lstrip(_SEPARATORS)[:40]!r}; send "
                'for=192.0.2.60;proto=https;host="name:port" (RFC 7239, 4).'
            )
            raise BadRequest(msg, code="invalid_forwarded")
        name, quoted, plain = match.groups()
        value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        pairs.append((name.lower(), value))
        place = match.end()
    return pairs
