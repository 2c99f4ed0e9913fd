"""Runs the printed reproduction of a finding at a deployment, and judges what it exchanged.

The lines are run by bash and curl as they are printed. A proxy stands between curl and the
deployment, so that the printed addresses need not be reachable and every exchange is recorded.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Lock, Thread, current_thread
from typing import Any
from urllib.parse import urlsplit

import httpx

from understudy.exchange.messages import Exchange, Identity, Request, Response, headers_of
from understudy.verify.clock import Time, machine_clock
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Finding
from understudy.verify.gateway import TOGETHER
from understudy.verify.issued_values import issued_values
from understudy.verify.reproducing import commands, turns
from understudy.verify.run import evaluator_of, routes_of
from understudy.verify.shapes import bundled

PATIENCE = 120
"""Seconds after which a reproduction is ended."""

OF_THE_CONNECTION = frozenset({"connection", "proxy-connection", "transfer-encoding"})
CLOCK = "clock.invalid"
SLEEPING = f'sleep() {{ command curl -s "http://{CLOCK}/$1"; }}'
"""Waits by moving the deployment's clock, as the comment beside each ``sleep`` offers."""


class Recorder(ThreadingHTTPServer):
    """A proxy that records every exchange.

    Attributes:
        wire: The deployment that requests are passed to.
        time: The deployment's time.
        recorded: The exchanges since the list was emptied.
        together: Which requests the script sends at the same moment, counted from 0.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.wire: httpx.BaseTransport = httpx.HTTPTransport()
        self.time: Time = machine_clock()
        self.recorded: list[Exchange] = []
        self.together: frozenset[int] = frozenset()
        self.received = count()
        self.lock = Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Reports an error, but for a client that has what it wanted and closes its connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def passed_on(self, request: httpx.Request) -> Response:
        """Passes a request on, records the exchange, and returns the response.

        The thread is named as verify names those that send at the same moment, for the deployment.
        """
        current_thread().name = TOGETHER if next(self.received) in self.together else "alone"
        at = self.time.now()
        response = self.wire.handle_request(request)
        headers = headers_of(
            (name, text)
            for name, text in response.headers.multi_items()
            if name.lower() not in OF_THE_CONNECTION
        )
        received = Response(response.status_code, headers, response.read())
        sent = Request(
            request.method,
            str(request.url),
            tuple(  # in what case the name of the token's header is written may be what is shown
                (name if name.lower() == "authorization" else name.lower(), text)
                for name, text in (
                    (name.decode(), text.decode()) for name, text in request.headers.raw
                )
            ),
            request.content,
        )
        with self.lock:
            number = len(self.recorded) + 1
            self.recorded.append(Exchange(number, "script", Identity(""), sent, received, at))
        return received


class _Handler(BaseHTTPRequestHandler):
    server: Recorder
    protocol_version = "HTTP/1.1"  # curl keeps its connection where it repeats a request
    wbufsize = -1  # head and body leave together, or each response waits for an acknowledgement

    def respond(self) -> None:
        body = b"".join(self.content())
        if urlsplit(self.path).hostname == CLOCK:
            self.server.time.wait(timedelta(seconds=int(self.path.rpartition("/")[2])))
            response = Response(204)
        else:
            headers = [
                (n, t)
                for n, t in self.headers.items()
                if n.lower() not in OF_THE_CONNECTION - {"transfer-encoding"}
            ]
            request = httpx.Request(self.command, self.path, headers=headers, content=body)
            response = self.server.passed_on(request)
        self.send_response_only(response.status)
        length = str(len(response.body))
        if self.command == "HEAD":  # says how long the body of GET is
            length = response.header("content-length") or length
        others = (pair for pair in response.headers if pair[0].lower() != "content-length")
        for name, text in (*others, ("content-length", length)):
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def content(self) -> Iterator[bytes]:
        """Yields the body of a request, in chunks where it comes in chunks (RFC 9112, 7.1)."""
        if self.headers.get("transfer-encoding") is None:
            yield self.rfile.read(int(self.headers.get("content-length") or 0))
            return
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self.respond
        raise AttributeError(name)

    def log_message(self, *_arguments: Any) -> None:
        pass


@contextmanager
def recording() -> Iterator[Recorder]:
    """Runs a recorder until the block ends."""
    with Recorder() as recorder:
        thread = Thread(target=recorder.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield recorder
        finally:
            recorder.shutdown()
            thread.join()


def seen_again(
    finding: Finding, deployment: Deployment, recorder: Recorder, folder: Path
) -> list[Finding]:
    """Runs the printed lines of a finding, and returns what its rule says of their exchanges.

    Args:
        finding: A finding.
        deployment: A deployment, as good as new.
        recorder: A running recorder.
        folder: The working directory of the script.
    """
    target = deployment.target
    secrets = target.secrets()
    recorder.wire, recorder.time = deployment.transport, deployment.time
    recorder.recorded.clear()
    recorder.together, recorder.received = _sent_together(finding), count()
    run(commands(finding, secrets), secrets, recorder.address, folder)
    evaluator = evaluator_of(target, bundled("service.yaml"), (finding.rule.id,))
    for exchange in _exchanges(finding.steps, recorder, deployment):
        evaluator.evaluate(exchange)
    return evaluator.findings


def _sent_together(finding: Finding) -> frozenset[int]:
    """Returns which requests of a finding's script are sent at the same moment."""
    number, together = 0, set[int]()
    for turn in turns(finding, issued_values(finding.steps)):
        several = len(turn.places) * turn.times
        if len(turn.places) > 1:
            together.update(range(number, number + several))
        number += several
    return frozenset(together)


def run(lines: Sequence[str], secrets: dict[str, str], proxy: str, folder: Path) -> str:
    """Runs the lines of a script in one shell, and returns what they print."""
    known = {name: secret for secret, name in secrets.items()}
    done = subprocess.run(
        ["bash", "-c", "\n".join((SLEEPING, "set -e", *lines))],
        env={"PATH": os.environ["PATH"], **known, "http_proxy": proxy, "LC_ALL": "C.UTF-8"},
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-500:]
    return done.stdout.decode("utf-8", "replace")


def _exchanges(
    steps: Sequence[Exchange], recorder: Recorder, deployment: Deployment
) -> Iterator[Exchange]:
    """Yields the recorded exchanges with what the steps know of a token that was issued anew."""
    target = deployment.target
    routes = routes_of(target, bundled("service.yaml"))
    for recorded in recorder.recorded:
        request = recorded.request
        place = routes.find(request.method, request.url)
        identity = target.identify(request.token)
        if identity.kind == "unknown":
            alike = (step.identity for step in steps if step.operation == place.operation)
            identity = next((each for each in alike if each.name == "issued"), identity)
        yield replace(
            recorded,
            identity=identity,
            operation=place.operation,
            site=place.site,
            path=place.path,
            values=place.values,
        )
