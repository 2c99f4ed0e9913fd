"""A broken deployment at an address: a mutant's deviation, over sockets."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import httpx
from tests.proofs.mutants.edge import MUTANTS, Edge

from understudy.api import in_process
from understudy.api.bundled_target import AUTHORIZATION, SITE


@contextmanager
def mutant(name: str | None) -> Iterator[str]:
    """Serves a mutant, or the unbroken mock; yields the address of both of its servers."""
    inner = in_process.InProcess(in_process.mock())
    wire: httpx.BaseTransport = inner
    for found in (one for one in MUTANTS if one.name == name):
        wire = Edge(inner, found.make())

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            is_authorization = self.path.startswith(("/oauth2/", "/sign-in", "/consent"))
            site = AUTHORIZATION if is_authorization else SITE
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = list(self.headers.items())  # with the Host, to which links lead
            request = httpx.Request(self.command, site + self.path, headers=headers, content=body)
            response = wire.handle_request(request)
            response.read()
            self.send_response(response.status_code)
            for key, text in response.headers.multi_items():
                if key not in {"content-length", "date", "server"}:
                    self.send_header(key, text)
            self.send_header("content-length", str(len(response.content)))
            self.end_headers()
            self.wfile.write(response.content)

        do_GET = do_POST = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer  # noqa: N815 - the library's

        def log_message(self, *_arguments: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=_serve, args=(server, inner), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _serve(server: HTTPServer, inner: in_process.InProcess) -> None:
    try:
        server.serve_forever(0.05)
    finally:
        inner.close()  # its event loop belongs to this thread
