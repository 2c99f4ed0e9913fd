"""Reads what a proxy says of the address that the client used: X-Forwarded-* and Forwarded (RFC 7239).

Of several hops the first counts, which is the proxy that the client spoke to. ``for`` is read and not
followed, like X-Forwarded-For: whom a request may trust depends on who sent it here.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from understudy.errors import BadRequest
from understudy.mock.server.hosts import is_host

_SCHEMES: Final = frozenset({"http", "https"})
_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9._~%!$&'()*+,;=:@-]+){1,20}", re.ASCII)

_TOKEN: Final = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"  # RFC 9110, 5.6.2
_PAIR: Final = re.compile(
    # proxies are seen to leave the quotes around an address with a port or brackets out
    rf'({_TOKEN})=(?:"((?:[^"\\]|\\.)*)"|([A-Za-z0-9!#$%&\'*+.^_`|~:\[\]-]+))[ \t]*(?=[;,]|$)',
    re.ASCII,
)
_BETWEEN: Final = re.compile(r"[ \t;,]*")


class ForwardedAddress(NamedTuple):
    """The address that the client used, as a proxy forwards it.

    Attributes:
        host: Host with or without a port; empty where it says none.
        scheme: ``http`` or ``https``; empty where it says none.
    """

    host: str
    scheme: str


def is_forwarded(headers: Mapping[bytes, bytes]) -> bool:
    """Tells whether a proxy says anything of the address that the client used."""
    return b"forwarded" in headers or b"x-forwarded-host" in headers


def forwarded_site(
    headers: Mapping[bytes, bytes], sent_headers: Sequence[tuple[bytes, bytes]]
) -> str:
    """Returns the address that a proxy forwards; empty where it says none that can be followed.

    Args:
        headers: Those of the request, names in lower case.
        sent_headers: All of them, in the order they were sent.
    """
    host = headers.get(b"x-forwarded-host", b"").decode("latin-1")
    scheme = headers.get(b"x-forwarded-proto", b"").partition(b",")[0].strip().decode("latin-1")
    if not host:
        named = headers.get(b"host", b"").decode("latin-1")
        try:
            address = forwarded_address(sent_headers)
        except BadRequest:
            return ""  # refused further in
        host, scheme = address.host or named, address.scheme
    if not is_host(host):
        return ""
    prefix = headers.get(b"x-forwarded-prefix", b"").decode("latin-1").rstrip("/")
    scheme = scheme.lower() if scheme.lower() in _SCHEMES else "http"
    return f"{scheme}://{host}{prefix if _PREFIX.fullmatch(prefix) else ''}"


def expect_forwarded(
    headers: Mapping[bytes, bytes], sent_headers: Sequence[tuple[bytes, bytes]]
) -> None:
    """Refuses a request whose Forwarded header cannot be read, or names no host.

    Raises:
        BadRequest: It is such a request.
    """
    if b"forwarded" in headers:
        forwarded_address(sent_headers)


def forwarded_address(sent_headers: Sequence[tuple[bytes, bytes]]) -> ForwardedAddress:
    """Returns what the Forwarded headers say of the address that the client used.

    Raises:
        BadRequest: They cannot be read, or what they name is not a host.
    """
    lines = [value.decode("latin-1") for name, value in sent_headers if name == b"forwarded"]
    pairs = _pairs(", ".join(lines))
    host = next((text for name, text in pairs if name == "host"), "")
    if host and not is_host(host):
        msg = f'The Forwarded header names {host[:100]!r}, which is not a host; send host="name:port".'
        raise BadRequest(msg, code="invalid_host")
    scheme = next((text for name, text in pairs if name == "proto"), "")
    return ForwardedAddress(host, scheme.lower())


def _pairs(text: str) -> list[tuple[str, str]]:
    """Returns the parameters of every hop, the client's first, with names in lower case.

    Raises:
        BadRequest: The text does not have the form of RFC 7239, 4.
    """
    pairs: list[tuple[str, str]] = []
    place = _end_of_separators(text, 0)
    while place < len(text):
        match = _PAIR.match(text, place)
        if match is None:
            msg = (
                f"The Forwarded header cannot be read at {text[place : place + 40]!r}; send "
                'for=192.0.2.60;proto=https;host="name:port" (RFC 7239, 4).'
            )
            raise BadRequest(msg, code="invalid_forwarded")
        name, quoted, plain = match.groups()
        value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        pairs.append((name.lower(), value))
        place = _end_of_separators(text, match.end())
    return pairs


def _end_of_separators(text: str, place: int) -> int:
    match = _BETWEEN.match(text, place)
    return match.end() if match else place
