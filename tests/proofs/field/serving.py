"""Serves one of the six services by a socket: ``python -m tests.proofs.field.serving NAME PORT bugs|sound``."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

import httpx
from tests.proofs.field.frame import Service
from tests.proofs.field.services import SERVICES
from tests.proofs.field.targets import HERE

NO_CONTENT = 204


class Handler(BaseHTTPRequestHandler):
    """Passes requests on to a service, one at a time."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together, or each response waits for an acknowledgement
    service: Service
    turn = Lock()

    def respond(self) -> None:
        """Responds to one request."""
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = [(name, text) for name, text in self.headers.items() if text.isascii()]
        url = f"http://{HERE}{self.path}"
        with self.turn:
            response = self.service.respond(
                httpx.Request(self.command, url, headers=headers, content=content)
            )
        self.send_response(response.status_code)
        for header, text in response.headers.items():
            if header != "content-length":
                self.send_header(header, text)
        if response.status_code != NO_CONTENT:
            self.send_header("content-length", str(len(response.content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.content)

    def __getattr__(self, name: str) -> object:
        """Returns what responds to a method, whatever its name."""
        if name.startswith("do_"):
            return self.respond
        raise AttributeError(name)

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


def serve(name: str, port: int, *, has_bugs: bool) -> None:
    """Serves a service until the process is ended."""
    kind = next(it for it in SERVICES if it.name == name)
    Handler.service = kind(has_bugs=has_bugs)
    ThreadingHTTPServer((HERE, port), Handler).serve_forever()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), has_bugs=sys.argv[3] == "bugs")
