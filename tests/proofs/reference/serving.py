"""Serves both applications over sockets, a thread for each request.

The sockets are bound first: the addresses stand in the answers, so they must be known before
there is an application.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from threading import Thread

from flask import Flask
from tests.proofs.reference import people
from tests.proofs.reference.apps import authorization_app, resource_app
from tests.proofs.reference.parts import SOUND, Parts
from tests.proofs.reference.service import Addresses, Options, Service
from werkzeug.serving import WSGIRequestHandler, make_server

HOST = "127.0.0.1"
POLL = 0.05
"""Seconds until a server notices that it shall stop."""


DEFAULTS = Options()


class Quiet(WSGIRequestHandler):
    """Writes no line for each request."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together, or each response waits for an acknowledgement

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Says nothing."""


def wall_clock() -> datetime:
    """Returns the time of this machine."""
    return datetime.now(UTC)  # noqa: TID251 - shares no code with the product, so not its clock


def random_text() -> str:
    """Returns 32 hexadecimal digits that nobody can guess."""
    return os.urandom(16).hex()


@contextmanager
def served(
    options: Options = DEFAULTS, clock: Callable[[], datetime] = wall_clock
) -> Iterator[Addresses]:
    """Serves the people of ``people`` until the block ends, and forgets what was changed.

    Args:
        options: What the operator decides.
        clock: Tells the time; a test may move it.
    """
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server((HOST, 0))) for _ in range(2)]
        addresses = Addresses(*(f"http://{HOST}:{at.getsockname()[1]}" for at in listeners))
        for listener, app in zip(
            listeners, applications(addresses, options, clock, SOUND), strict=True
        ):
            _serve(listener, app, stack)
        yield addresses


def applications(
    addresses: Addresses, options: Options, clock: Callable[[], datetime], parts: Parts
) -> tuple[Flask, Flask]:
    """Returns the resource API and the authorization server of a reference as good as new."""
    bearers = (people.API_KEY, *people.TOKENS)
    shared = Service(
        state=parts.state(people.ACCOUNTS, people.AVATARS, people.SELECTED),
        grants=parts.grants(people.ACCOUNTS, people.APPLICATIONS, bearers, random_text),
        limits=parts.limits(),
        addresses=addresses,
        clock=clock,
        random=random_text,
        options=options,
    )
    apps = resource_app(shared), authorization_app(shared)
    for endpoint, view in parts.views.items():
        for app in apps:
            if endpoint in app.view_functions:
                app.view_functions[endpoint] = view
    return apps


def _serve(listener: socket.socket, app: Flask, stack: ExitStack) -> None:
    server = make_server(HOST, 0, app, threaded=True, request_handler=Quiet, fd=listener.fileno())
    thread = Thread(target=server.serve_forever, args=(POLL,), daemon=True)
    thread.start()
    stack.callback(thread.join)
    stack.callback(server.shutdown)
