"""Texts that run code where a tool interprets them, a document made of them, and who would notice."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

CANARY = "CANARY"
"""The file that every payload tries to create."""

_NODE = f"require('fs').writeFileSync('{CANARY}','')"
_PYTHON = f"open('{CANARY}','w').close()"

PAYLOADS = (
    f"$(touch {CANARY})",
    f"`touch {CANARY}`",
    f"'; touch {CANARY}; '",
    f'"; touch {CANARY}; "',
    f"a\ntouch {CANARY}\n",
    f"a\r\ntouch {CANARY}\r\n",
    f"EOF\ntouch {CANARY}\nEOF",
    f"|| touch {CANARY} &",
    f"${{TOKEN:=$(touch {CANARY})}}",
    f"-o {CANARY}",
    f"--output={CANARY}",
    "@/etc/passwd",
    f"*/ {_NODE} /*",
    f"'); {_NODE}; ('",
    f'"); {_NODE}; ("',
    f"`+{_NODE}+`",
    f"${{{_NODE}}}",
    f"\u2028{_NODE}\u2029",
    f"//\n{_NODE}",
    f"/;{_NODE};/",
    f"{{{{{_NODE}}}}}",
    f"{{{{={_NODE}}}}}",
    "{{$randomUUID}} {{$processEnv TOKEN}} {{process.env.TOKEN}}",
    f"}}\n}}\nscript:pre-request {{\n  {_NODE}\n}}\n",
    f"a\n> {{%\n {_NODE}\n%}}",
    f"< {{% {_NODE} %}}",
    f"?? js {_NODE}",
    f"# @disabled {_NODE}",
    f"# @loop while {_NODE}",
    f'"""\n{_PYTHON}\n"""',
    f"'''\n{_PYTHON}\n'''",
    f"\\\n{_PYTHON}",
    f"\x0c{_PYTHON}",
    "%s %(name)s {0} {name}",
    "=HYPERLINK(1)",
    "~~TOKEN~~ ~~PATH~~",
    "\u202e\u0000\u001b[31m",
)


def document() -> dict[str, Any]:
    """Returns an OpenAPI document with a payload wherever a document can have a text."""
    paths = {
        f"/{number}/{payload.replace('{', '(').replace('}', ')')}/{{id}}": {
            "post": _operation(payload)
        }
        for number, payload in enumerate(PAYLOADS)
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": PAYLOADS[4], "version": PAYLOADS[0]},
        "paths": paths,
        "components": {
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "query", "name": PAYLOADS[0]},
                "head": {"type": "apiKey", "in": "header", "name": "@x"},
            }
        },
    }


def _operation(payload: str) -> dict[str, Any]:
    text = {"type": "string", "enum": [payload, "other"]}
    return {
        "operationId": payload,
        "summary": payload,
        "tags": [payload],
        "security": [{"key": []}],
        "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": text, "example": payload},
            {"name": payload, "in": "query", "required": True, "schema": text},
            {"name": "X-Text", "in": "header", "required": True, "schema": text},
            {"name": payload, "in": "header", "schema": text},
            {"name": "c", "in": "cookie", "schema": text},
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": [payload],
                        "properties": {payload: text, "free": {"type": "string"}},
                    },
                    "example": {payload: payload, "free": payload},
                }
            },
        },
        "responses": {"2XX": {"description": payload}, "2/;": {"description": payload}},
    }


def write(directory: Path) -> Path:
    """Writes the document."""
    path = directory / "hostile.json"
    path.write_text(json.dumps(document()))
    return path


class _Anything(BaseHTTPRequestHandler):
    def _respond(self) -> None:
        assert isinstance(self.server, Server)
        self.server.seen += 1
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Prints nothing."""

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _respond  # noqa: N815 - http.server's names


class Server(ThreadingHTTPServer):
    """Answers 200 to everything, and counts."""

    seen = 0


@contextmanager
def serving() -> Iterator[Server]:
    """Serves on a free port of this machine."""
    with Server(("127.0.0.1", 0), _Anything) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
