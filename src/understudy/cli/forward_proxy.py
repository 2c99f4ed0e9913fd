"""A forward proxy to the mock for the clients of ``understudy exec --as-host``.

It listens on loopback, connects only to the mock, and refuses every other host, so that no request
of a test reaches the network.
"""

import socket
import ssl
import threading
from collections.abc import Collection
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Self
from urllib.parse import urlsplit

_HEAD = 64 * 1024
"""Most bytes of a request before its body."""

_CHUNK = 64 * 1024
"""Most bytes that are read at once."""


class ForwardProxy(ThreadingTCPServer):
    """A context manager that listens on a free port of loopback.

    Args:
        hosts: The host names that are passed to the mock, in lower case.
        mock: Host and port of the mock, which serves https.
        authority: Certificate authority of the mock, to pass on requests that clients send as http.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, hosts: Collection[str], mock: tuple[str, int], authority: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hosts = hosts
        self.mock = mock
        self.refused: set[str] = set()
        self.trusted = ssl.create_default_context(cafile=str(authority))

    @property
    def url(self) -> str:
        """The URL for the clients of the proxy."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        """Begins to accept connections."""
        # looks 20 times a second whether it is to stop, as the command may be short
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops listening; open connections end with the process."""
        self.shutdown()
        self.server_close()


class _Handler(BaseRequestHandler):
    """Connects one client to the mock, or refuses the client."""

    server: ForwardProxy

    def handle(self) -> None:
        """Reads the head of the first request, which names the host (RFC 9110, 9.3.6; 9112, 3.2.2)."""
        with suppress(OSError):
            head, rest = self._head()
            line, _, fields = head.partition(b"\r\n")
            method, _, target = line.decode("latin-1").rpartition(" ")[0].partition(" ")
            is_tunnel = method == "CONNECT"
            parts = urlsplit(f"//{target}" if is_tunnel else target)
            # a client that was redirected here by fixed_hosts.cjs names no host in its target
            host = parts.hostname or _host_in(fields)
            if host not in self.server.hosts:
                self._refuse(host or target)
                return
            upstream = socket.create_connection(self.server.mock)
            if is_tunnel:
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._join(upstream, rest)
                return
            # one request per connection, as the next one might be for another host
            kept = [it for it in fields.split(b"\r\n") if not it.lower().startswith(_OF_CONNECTION)]
            path = f"{parts.path or '/'}{'?' * bool(parts.query)}{parts.query}"
            start = f"{method} {path} HTTP/1.1".encode("latin-1")
            sent = b"\r\n".join([start, *kept, b"Connection: close", b"", b""])
            secured = self.server.trusted.wrap_socket(upstream, server_hostname=host)
            self._join(secured, sent + rest)

    def _head(self) -> tuple[bytes, bytes]:
        """Returns the bytes before the empty line, and those that were already read after it."""
        read = b""
        while b"\r\n\r\n" not in read and len(read) < _HEAD:
            chunk = self.request.recv(_CHUNK)
            if not chunk:
                break
            read += chunk
        head, _, rest = read.partition(b"\r\n\r\n")
        return head, rest

    def _refuse(self, host: str) -> None:
        self.server.refused.add(host)
        known = ", ".join(sorted(self.server.hosts))
        text = f"understudy exec answers for {known} only; add --as-host {host} for this one.\n"
        body = text.encode("latin-1", "replace")
        status = f"HTTP/1.1 {HTTPStatus.FORBIDDEN.value} Forbidden\r\n"
        fields = (
            f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.request.sendall(status.encode() + fields.encode() + body)

    def _join(self, upstream: socket.socket, first: bytes) -> None:
        """Passes bytes on in both directions until one side ends."""
        with upstream:
            if first:
                upstream.sendall(first)
            back = threading.Thread(target=_pass_on, args=(upstream, self.request), daemon=True)
            back.start()
            _pass_on(self.request, upstream)
            back.join()


def _host_in(fields: bytes) -> str:
    """Returns the host name in the field Host of a request (RFC 9110, 7.2); empty without one."""
    named = (field.partition(b":") for field in fields.split(b"\r\n"))
    host = next((text for name, _, text in named if name.strip().lower() == b"host"), b"")
    return urlsplit(f"//{host.decode('latin-1').strip()}").hostname or ""


_OF_CONNECTION = (b"connection:", b"proxy-connection:", b"keep-alive:")
"""Hop-by-hop header fields, which a proxy does not pass on (RFC 9110, 7.6.1)."""


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(_CHUNK):
            target.sendall(chunk)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
