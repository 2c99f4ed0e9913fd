"""Puts any server behind a path prefix, TLS, gzip and a distance, as a customer's may be.

Bodies pass as they are: addresses in them are the server's own affair, which is told of the outside
by ``X-Forwarded-`` headers.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import NamedTuple, TypedDict

import httpx
import trustme
import uvicorn
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

HOST = "127.0.0.1"
PATIENCE = 120
"""Seconds that a busy machine may take to start."""
NOT_PASSED_ON = {
    "accept-encoding",  # this proxy compresses, not what is behind it
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
"""RFC 9110, 7.6.1: of this connection only, or made anew."""
METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]


PREFIX = "/staging"
"""Stands before every path."""

LATENCY = timedelta(milliseconds=20)
"""How much later each answer begins."""


class Proxied(NamedTuple):
    """Where the server is now.

    Attributes:
        address: Scheme, host, port and prefix; what the upstream had at ``/`` is there.
        authority: The PEM file to trust, as in ``SSL_CERT_FILE``.
    """

    address: str
    authority: Path


class Held(TypedDict):
    """What lives as long as the proxy."""

    client: httpx.AsyncClient


@contextmanager
def proxied(upstream: str) -> Iterator[Proxied]:
    """Puts a server behind a proxy on any free port until the block ends.

    Args:
        upstream: Its scheme, host and port, as ``http://127.0.0.1:8080``.

    Raises:
        TimeoutError: The proxy did not start.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server((HOST, 0)))
        address = f"https://{HOST}:{listener.getsockname()[1]}{PREFIX}"
        files = _certificates(Path(stack.enter_context(TemporaryDirectory(prefix="proxy-"))))
        ready = Event()
        server = uvicorn.Server(
            uvicorn.Config(
                _app(_Forwarder(upstream, address), ready),
                log_level="warning",
                date_header=False,  # the answer has these of its own
                server_header=False,
                timeout_graceful_shutdown=1,
                ssl_certfile=files.certificate,
                ssl_keyfile=str(files.key),
            )
        )
        stack.enter_context(_running(server, listener))
        if not ready.wait(PATIENCE):
            msg = f"the proxy at {address} did not start"
            raise TimeoutError(msg)
        yield Proxied(address, files.authority)


@contextmanager
def _running(server: uvicorn.Server, listener: socket.socket) -> Iterator[None]:
    thread = Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


class _Files(NamedTuple):
    authority: Path
    certificate: Path
    key: Path


def _certificates(directory: Path) -> _Files:
    files = _Files(*(directory / f"{name}.pem" for name in _Files._fields))
    authority = trustme.CA()
    leaf = authority.issue_cert(HOST, "localhost")
    authority.cert_pem.write_to_path(str(files.authority))
    leaf.cert_chain_pems[0].write_to_path(str(files.certificate))
    leaf.private_key_pem.write_to_path(str(files.key))
    return files


class _Forwarder:
    """Sends a request on, and its answer back."""

    def __init__(self, upstream: str, address: str) -> None:
        self._upstream = upstream.rstrip("/")
        self._address = httpx.URL(address)

    async def __call__(self, request: Request) -> Response:
        await asyncio.sleep(LATENCY.total_seconds())
        prefix = PREFIX.encode()
        path: bytes = request.scope["raw_path"]
        if not path.startswith(prefix + b"/"):
            return PlainTextResponse(f"Everything is below {PREFIX}.", 404)
        query = b"?" + request.url.query.encode() if request.url.query else b""
        target = httpx.URL(self._upstream).copy_with(raw_path=path.removeprefix(prefix) + query)
        client: httpx.AsyncClient = request.state.client
        try:
            answer = await client.request(
                request.method,
                target,
                headers=self._headers(request),
                content=await request.body(),
            )
        except httpx.TransportError as error:
            return PlainTextResponse(f"{target.host} does not answer: {error}.", 502)
        return self._sent_back(request, answer)

    def _headers(self, request: Request) -> list[tuple[str, str]]:
        passed = [(n, v) for n, v in request.headers.items() if n not in NOT_PASSED_ON]
        return [
            *passed,
            ("accept-encoding", "identity"),
            ("x-forwarded-for", HOST),
            ("x-forwarded-host", self._address.netloc.decode()),
            ("x-forwarded-prefix", PREFIX),
            ("x-forwarded-proto", self._address.scheme),
        ]

    def _sent_back(self, request: Request, answer: httpx.Response) -> Response:
        response = Response(answer.content, answer.status_code)
        if request.method == "HEAD" and "content-length" in answer.headers:
            response.headers["content-length"] = answer.headers["content-length"]
        for name, value in answer.headers.multi_items():
            # a server that compresses unasked has been decoded on the way in
            if name not in NOT_PASSED_ON | {"content-encoding"}:
                outside = self._outside(value) if name == "location" else value
                response.headers.append(name, outside)
        return response

    def _outside(self, location: str) -> str:
        """Turns an address of the upstream into one that leads through the proxy."""
        if location.startswith("/"):
            return f"{PREFIX}{location}"
        if location.startswith(f"{self._upstream}/"):
            return f"{self._address}{location.removeprefix(self._upstream)}"
        return location


def _app(forwarder: _Forwarder, ready: Event) -> Starlette:
    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[Held]:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            ready.set()
            yield {"client": client}

    app = Starlette(
        routes=[Route("/{path:path}", forwarder.__call__, methods=METHODS)], lifespan=lifespan
    )
    app.add_middleware(GZipMiddleware, minimum_size=1)
    return app
