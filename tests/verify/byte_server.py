"""A server that responds with bytes, for what the transport to a deployment does over real sockets."""

import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Thread

from understudy.exchange.messages import Request, Response
from understudy.verify.transport import DeploymentTransport, received

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
LAST = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"

Behaviour = Callable[[int], bytes]
"""Returns the response to a request, by the number of its connection."""


class Server:
    """Responds with bytes, and keeps the bytes that it got; each connection has its own thread.

    Attributes:
        connections: Those it has accepted.
        requests: The requests, as they came.
    """

    def __init__(self, behave: Behaviour, secured: ssl.SSLContext | None = None) -> None:
        self.connections: list[socket.socket] = []
        self.requests: list[bytes] = []
        self._behave = behave
        self._listening = socket.create_server(("127.0.0.1", 0))
        scheme = "http" if secured is None else "https"
        self.address = f"{scheme}://127.0.0.1:{self._listening.getsockname()[1]}"
        self._secured = secured
        self._threads = [Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)  # which ends the thread that accepts
        self._listening.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections.append(connection)
            thread = Thread(target=self._serve, args=(connection, len(self.connections)))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            stream = self._secured.wrap_socket(connection, True) if self._secured else connection
        except ssl.SSLError:  # the client does not trust the certificate
            connection.close()
            return
        with stream:
            while request := _whole_request(stream):
                self.requests.append(request)
                response = self._behave(number)
                stream.sendall(response)
                if b"Connection: close" in response:
                    return


def _whole_request(connection: socket.socket) -> bytes:
    """Reads a request, whose body may come in another packet than its head."""
    request = connection.recv(65536)
    length = re.search(rb"(?i)content-length: (\d+)", request)
    end = 0 if length is None else request.index(b"\r\n\r\n") + 4 + int(length[1])
    while len(request) < end:
        request += connection.recv(65536)
    return request


@contextmanager
def served(*responses: bytes) -> Iterator[tuple[Server, Callable[..., Response]]]:
    """Serves these responses, in this order, and yields the server and what sends requests to it."""
    rest = iter(responses)
    with closing(Server(lambda _: next(rest))) as server, DeploymentTransport() as transport:

        def send(
            target: str = "/", method: str = "GET", body: bytes = b"", **headers: str
        ) -> Response:
            named = tuple((name.replace("_", "-"), text) for name, text in headers.items())
            return received(transport, Request(method, server.address + target, named, body))

        yield server, send
