"""Translates addresses between a deployment and the proxy that stands before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import quote, unquote_to_bytes, urlsplit

_PAIR_WITH_URL: Final = re.compile(rb"(=)(http[^&]+)")
_AFTER_ORIGIN: Final = frozenset({"", "/", "?", "#"})
"""Characters that end the origin in a URL; any other one belongs to it."""

SiteName = Literal["resource", "authorization"]


@dataclass(frozen=True, slots=True)
class ProxiedServer:
    """One server of the deployment, and where the proxy stands in for it.

    Attributes:
        site: The server's part in the interface.
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
        """The path that its base URL ends in; empty without one."""
        return urlsplit(self.url).path

    def proxied_origin(self, host: str) -> str:
        """Returns the origin of the proxy in its place, as a client that calls ``host`` sees it."""
        return f"http://{host}:{self.port}"


class ProxiedAddresses:
    """Replaces the origins of a deployment by those of the proxy, and back.

    Clients call the proxy as ``127.0.0.1``, ``localhost`` or ``[::1]``, and go on in the name that
    they began with: cookies belong to it.

    Args:
        servers: The servers of the deployment.
    """

    def __init__(self, servers: Sequence[ProxiedServer]) -> None:
        self.servers = tuple(servers)
        self._for_clients = lru_cache(16)(self._table_for)
        origins = dict.fromkeys(server.origin for server in servers)
        known = "|".join(re.escape(origin) for origin in sorted(origins, key=len, reverse=True))
        # a longer host or port is another server; the escaped form is that of JSON's solidus
        self._pattern = re.compile(rf"({known})(?![\w.:-])")
        escaped = known.replace("/", r"\\/")
        self._in_body = re.compile(rf"({known}|{escaped})(?![\w.:-])".encode())

    def for_client(self, text: str, host: str) -> str:
        """Returns a header's text with the proxy's addresses.

        Args:
            text: The text, such as a Location.
            host: The host name that the client calls the proxy by.
        """
        table = self._for_clients(host)
        return self._pattern.sub(lambda match: table[match[1]], text)

    def body_for_client(self, body: bytes, host: str) -> bytes:
        """Returns a page or a JSON text with the proxy's addresses."""
        table = self._for_clients(host)

        def replacement(match: re.Match[bytes]) -> bytes:
            origin = match[1].decode()
            if "\\" in origin:
                return table[origin.replace("\\", "")].replace("/", "\\/").encode()
            return table[origin].encode()

        return self._in_body.sub(replacement, body)

    def for_deployment(self, text: str, server: ProxiedServer, host: str) -> str:
        """Returns an Origin or a Referer with the deployment's address, if it is the proxy's own."""
        for each in (server, *self.servers):
            own = each.proxied_origin(host)
            if text == own or text.startswith(f"{own}/"):
                return each.origin + text.removeprefix(own)
        return text

    def pairs_for_deployment(self, pairs: bytes, host: str) -> bytes:
        """Returns a query or a form with the deployment's address, where a value is the proxy's own.

        Pages are given the proxy's addresses, and send them back, such as where to go on to.

        Args:
            pairs: Names and values as they were sent; the others stay byte by byte.
            host: The host name that the client calls the proxy by.
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
        # the first server wins where two share an origin
        return {server.origin: server.proxied_origin(host) for server in reversed(self.servers)}


def origin_of(url: str) -> str:
    """Returns scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
