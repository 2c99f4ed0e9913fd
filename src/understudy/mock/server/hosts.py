"""Reads what a client calls the mock: the Host header and what a proxy says instead."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from understudy.errors import BadRequest

_HOST = re.compile(
    r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._~-]{1,253})(?::(?P<port>[0-9]{1,5}))?", re.ASCII
)
"""A host and a port as a URL has them (RFC 9112, 3.2; RFC 3986, 3.2.2)."""

_VERSIONS = frozenset({"1.0", "1.1"})

_HIGHEST_PORT = 65_535


@lru_cache(maxsize=256)
def is_host(text: str) -> bool:
    """Tells whether a text is a host, with or without a port."""
    match = _HOST.fullmatch(text)
    if match is None or int(match["port"] or 0) > _HIGHEST_PORT:
        return False
    return not text.startswith("[") or _address(match["name"][1:-1]) is not None


def host_name(text: str) -> str:
    """Returns the name in a Host header in lower case, without port and brackets; empty where it is none."""
    match = _HOST.fullmatch(text)
    return match["name"].strip("[]").lower() if match else ""


def origin_host(origin: str) -> str | None:
    """Returns the host and port of an Origin header in lower case; None where it is not an origin.

    Source: RFC 6454, 7.
    """
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


@lru_cache(maxsize=256)  # the same few clients and names, over and over
def is_local(host: str) -> bool:
    """Tells whether a name or address is this machine's own, which no other machine reaches."""
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
    """Refuses a request that does not say once, and plainly, which host it means (RFC 9112, 3.2).

    Raises:
        BadRequest: There is no Host header in HTTP/1.1, or more than one, or it is not a host; or the
            version is neither 1.1 nor 1.0.
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
