"""A mutant on a socket, for tools that know no other way."""

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread
from urllib.parse import urlsplit

import httpx
import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from tests.proofs.mutants.edge import SITE

HOST = "127.0.0.1"
OF_THE_WIRE = {"host", "connection", "content-length", "transfer-encoding"}
PLACE = urlsplit(SITE)


@contextmanager
def listening(wire: httpx.BaseTransport) -> Iterator[str]:
    """Lets the resource API behind a wire be reached on this machine until the block ends.

    Yields:
        Its base address.
    """
    with socket.create_server((HOST, 0)) as listener, ThreadPoolExecutor(1) as one_by_one:
        configuration = uvicorn.Config(
            _Bridge(wire, one_by_one), lifespan="off", log_level="critical", server_header=False
        )
        server = uvicorn.Server(configuration)
        thread = Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}{PLACE.path}"
        finally:
            server.should_exit = True
            thread.join()


class _Bridge:
    """Hands requests to the wire one by one: behind it is a single mock without a socket."""

    def __init__(self, wire: httpx.BaseTransport, one_by_one: ThreadPoolExecutor) -> None:
        self._wire = wire
        self._one_by_one = one_by_one

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = Request(scope, receive)
        content = await asked.body()
        query = b"?" + scope["query_string"] if scope["query_string"] else b""
        url = httpx.URL(
            scheme=PLACE.scheme,
            host=PLACE.hostname or "",
            port=PLACE.port,
            raw_path=scope["raw_path"] + query,
        )
        kept = [(name, text) for name, text in asked.headers.items() if name not in OF_THE_WIRE]
        request = httpx.Request(asked.method, url, headers=kept, content=content)
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._one_by_one, self._wire.handle_request, request)
        response = Response(answer.read(), answer.status_code)
        response.raw_headers = [
            (name.lower(), text)
            for name, text in answer.headers.raw
            if name.lower() != b"content-length"
        ]
        if answer.status_code != httpx.codes.NO_CONTENT:
            response.raw_headers.append((b"content-length", str(len(answer.content)).encode()))
        await response(scope, receive, send)
