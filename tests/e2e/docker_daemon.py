"""A daemon with the few calls of Docker's API that Testcontainers makes; its containers are processes.

A container of any image is ``understudy`` with the command of the container, on the ports that are
bound on the host.
"""

import json
import os
import re
import socket
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.cli.conftest import PATIENCE, UNDERSTUDY

Answer = tuple[int, Any]
"""A status, and what becomes the JSON of the body; None for no body."""

TAKEN = "port is already allocated"
"""What Docker says of a port that something listens on."""

FIXED: dict[str, Answer] = {
    r"\w+ /_ping": (200, None),
    r"GET /version": (200, {"ApiVersion": "1.47", "MinAPIVersion": "1.24", "Version": "27.0.0"}),
    r"GET /info": (200, {"ServerVersion": "27.0.0", "OperatingSystem": "Debian", "Labels": []}),
    r"GET /images/.+": (200, {"Id": "image", "Config": {}}),
    r"GET /containers/json": (200, []),
    r"GET /containers/\w+/logs": (200, None),
}
"""Calls whose answers are always the same."""


class DockerDaemon:
    """Answers on a free port of this machine.

    Attributes:
        url: The address, as ``DOCKER_HOST`` takes it.
        left: The containers that were not removed.
    """

    def __init__(self) -> None:
        self.left: dict[str, dict[str, Any]] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.answer))
        self.url = f"tcp://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Stops the daemon and what still runs."""
        for process in self._processes.values():
            process.kill()
            process.wait(PATIENCE)
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, body: Any) -> Answer:
        """Returns the status and the content for a call."""
        call = f"{method} {re.sub(r'^/v[0-9.]+', '', path)}"
        for pattern, fixed in FIXED.items():
            if re.fullmatch(pattern, call):
                return fixed
        steered: dict[str, Callable[[str], Answer]] = {
            r"POST /containers/()create": lambda _: (201, self._create(body)),
            r"POST /containers/(\w+)/start": self._start,
            r"GET /containers/(\w+)/json": lambda name: (200, self._described(name)),
            r"POST /containers/(\w+)/(?:stop|kill)": self._stop,
            r"DELETE /containers/(\w+)": self._remove,
        }
        for pattern, respond in steered.items():
            match = re.fullmatch(pattern, call)
            if match is not None:
                return respond(match[1])
        return 404, {"message": f"{call} is not answered here"}

    def _create(self, settings: Any) -> dict[str, Any]:
        name = f"{len(self.left):064x}"
        self.left[name] = settings
        return {"Id": name, "Warnings": []}

    def _start(self, name: str) -> Answer:
        settings = self.left[name]
        bound = settings["HostConfig"]["PortBindings"]
        port, auth_port = (bound[f"{it}/tcp"][0]["HostPort"] for it in (8080, 8081))
        if not (_is_free(int(port)) and _is_free(int(auth_port))):
            return 500, {"message": TAKEN}
        ports = ["--host", "127.0.0.1", "--port", str(port), "--auth-port", str(auth_port)]
        environment = dict(text.split("=", 1) for text in settings["Env"])
        self._processes[name] = subprocess.Popen(
            [str(UNDERSTUDY), *settings["Cmd"], *ports, "--log", "off"],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
        )
        return 204, None

    def _stop(self, name: str) -> Answer:
        if name in self._processes:
            self._processes[name].terminate()
            self._processes[name].wait(PATIENCE)
        return 204, None

    def _remove(self, name: str) -> Answer:
        self._stop(name)
        del self.left[name]
        return 204, None

    def _described(self, name: str) -> dict[str, Any]:
        settings = self.left[name]
        ports = {
            port: [{"HostIp": "0.0.0.0", "HostPort": str(it["HostPort"])} for it in bound]
            for port, bound in settings["HostConfig"]["PortBindings"].items()
        }
        state = {"Status": "running", "Running": True, "StartedAt": "2026-01-01T00:00:00Z"}
        return {
            "Id": name,
            "Name": f"/{name[-12:]}",
            "Config": {"Hostname": name[-12:], "Image": settings["Image"], "Labels": {}},
            "State": {**state, "FinishedAt": "0001-01-01T00:00:00Z"},
            "HostConfig": {"PortBindings": settings["HostConfig"]["PortBindings"]},
            "NetworkSettings": {"Ports": ports, "Networks": {}},
        }


def _is_free(port: int) -> bool:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _handler(answer: Callable[[str, str, Any], Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65_537)
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, content = answer(self.command, urlsplit(self.path).path, body)
            text = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Api-Version", "1.47")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_arguments: Any) -> None:
            """Logs nothing."""

    return Handler
