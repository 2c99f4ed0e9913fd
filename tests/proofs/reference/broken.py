"""Deployments that answer no request as they should: each a server for the length of a block.

Raw sockets, because what they send no HTTP library would: too little, nothing, or something else.
"""

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from typing import NamedTuple

from tests.proofs.reference.service import Addresses

HOST = "127.0.0.1"
POLL = 0.05
"""Seconds until a server notices that it shall stop."""
ABORT = struct.pack("ii", 1, 0)
"""SO_LINGER: on, for no time; closing then resets the connection."""
DRIP = 0.2
"""Seconds between two bytes, less than any patience between them."""


class Exchange(NamedTuple):
    """A request that was read, and where to answer it; ``ended`` is set when the block ends."""

    path: str
    connection: socket.socket
    ended: Event


@contextmanager
def down() -> Iterator[Addresses]:
    """Listens nowhere: the port is held, so that nobody else answers there."""
    with socket.socket() as holder:
        holder.bind((HOST, 0))
        yield _addresses(holder.getsockname()[1])


def dripping() -> AbstractContextManager[Addresses]:
    """Begins an answer at once and never ends it, a byte at a time."""

    def behave(exchange: Exchange) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        exchange.connection.sendall(head)
        while not exchange.ended.wait(DRIP):
            exchange.connection.sendall(b" ")

    return _behaving(behave)


def dripping_head() -> AbstractContextManager[Addresses]:
    """Begins the headers of an answer and never ends them, a byte at a time."""

    def behave(exchange: Exchange) -> None:
        exchange.connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not exchange.ended.wait(DRIP):
            exchange.connection.sendall(b"a")

    return _behaving(behave)


def endless() -> AbstractContextManager[Addresses]:
    """Sends an answer that goes on and on, as fast as it is taken."""

    def behave(exchange: Exchange) -> None:
        exchange.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not exchange.ended.is_set():
            exchange.connection.sendall(b" " * 65536)

    return _behaving(behave)


def html() -> AbstractContextManager[Addresses]:
    """Answers everything with 200 and a page, as a gateway's sign-in does."""
    page = b"<!doctype html><title>Welcome</title><p>Please sign in to the network.</p>"

    def behave(exchange: Exchange) -> None:
        exchange.connection.sendall(_answer("200 OK", "text/html; charset=utf-8", page))

    return _behaving(behave)


def dropping() -> AbstractContextManager[Addresses]:
    """Reads a request and resets the connection."""

    def behave(exchange: Exchange) -> None:
        exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        exchange.connection.close()

    return _behaving(behave)


def cut_short() -> AbstractContextManager[Addresses]:
    """Announces more than it sends."""

    def behave(exchange: Exchange) -> None:
        whole = _answer("200 OK", "application/json", b'{"display_name": "Half a name"}')
        exchange.connection.sendall(whole[:-10])

    return _behaving(behave)


def garbage() -> AbstractContextManager[Addresses]:
    """Answers in another protocol."""

    def behave(exchange: Exchange) -> None:
        exchange.connection.sendall(b"220 mail.example.com ESMTP ready\r\n")

    return _behaving(behave)


def circling() -> AbstractContextManager[Addresses]:
    """Redirects to an address that redirects back."""

    def behave(exchange: Exchange) -> None:
        there = "/v3/there" if exchange.path == "/v3/back" else "/v3/back"
        answer = _answer("302 Found", "text/plain", b"", f"Location: {there}\r\n")
        exchange.connection.sendall(answer)

    return _behaving(behave)


@contextmanager
def _behaving(behave: Callable[[Exchange], None]) -> Iterator[Addresses]:
    ended = Event()

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            with suppress(ConnectionError, ValueError):  # the client left, or sent no HTTP
                behave(Exchange(self._request_path(), self.connection, ended))

        def finish(self) -> None:
            with suppress(OSError):  # behave may have closed the connection
                super().finish()

        def _request_path(self) -> str:
            _, path, _ = self.rfile.readline().decode("latin-1").split()
            length = 0
            while (line := self.rfile.readline().strip().lower()) != b"":
                if line.startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            self.rfile.read(length)
            return path

    class Server(ThreadingTCPServer):
        daemon_threads = True

    with Server((HOST, 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(POLL,), daemon=True)
        thread.start()
        try:
            yield _addresses(server.server_address[1])
        finally:
            ended.set()
            server.shutdown()
            thread.join()


def _addresses(port: int) -> Addresses:
    site = f"http://{HOST}:{port}"
    return Addresses(site, site)


def _answer(status: str, media_type: str, body: bytes, more: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\n{more}"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
