"""Makes a mock in this process a deployment, with its transport, its clock, and its limits."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import msgspec

from understudy.api.asgi_exchange import exchanged
from understudy.api.bundled_target import AUTHORIZATION, SITE, TARGET
from understudy.mock.app import Mock
from understudy.mock.server.request_context import Addresses
from understudy.mock.server.worlds import Baseline, World
from understudy.mock.settings import Settings
from understudy.verify.clock import Time
from understudy.verify.deployment import (
    MOVABLE_PAUSE,
    Allowance,
    Deployment,
    named_document,
    wording_of,
)
from understudy.verify.target import Target

Seeding = Callable[[Mock], tuple[Baseline, Target]]
"""Returns the fixtures of a new mock, and its target, which names the people among them."""


def mock_deployment(
    target: Target = TARGET,
    seed: int = 0,
    choices: Mapping[str, str] | None = None,
    seeding: Seeding | None = None,
) -> Deployment:
    """Returns a new mock in this process as a deployment.

    Args:
        target: The target; the mock serves its document, in its vocabulary.
        seed: Seed for the identifiers and responses of the mock.
        choices: The options of switches that differ from their defaults.
        seeding: Makes other fixtures than the bundled ones; None for the bundled ones.

    Raises:
        StartupError: The target's document cannot be read.
    """
    document = named_document(target)
    words = None if target.vocabulary is None else Path(target.vocabulary)
    settings = Settings(
        seed=seed,
        choices=choices or {},
        document=None if document is None else document.path,
        overlays=tuple(map(Path, target.overlays)),
        state_model=None if target.state_model is None else Path(target.state_model),
        # cases send invalid tokens
        tokens=None if document is None else "known",
        vocabulary=words,
        # fixtures that were read at a deployment may not match the document
        response_validation=None if seeding is None else "warn",
    )
    server = mock(settings)
    if seeding is not None:
        before = server.world.baseline
        fixtures, target = seeding(server)
        server.worlds.refit(before, {**before, **fixtures})
    target = msgspec.structs.replace(target, base_url=SITE + server.base_path)
    return Deployment(
        target=target,
        transport=InProcess(server),
        time=time_of(server),
        allowance=Allowance(pause=MOVABLE_PAUSE),
        wording=wording_of(target, document),
        document=document,
    )


class InProcess(httpx.BaseTransport):
    """Sends requests to the two servers of a mock without a socket."""

    def __init__(self, mock: Mock) -> None:
        self._runner = asyncio.Runner()
        self._lock = threading.Lock()
        self._mock = mock

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request and returns the whole response."""
        is_resource = str(request.url).startswith(SITE)
        site = self._mock.resource if is_resource else self._mock.authorization
        with self._lock:  # an event loop runs one request at a time
            # Runner.run would install a signal handler, and remove it, for each request.
            return self._runner.get_loop().run_until_complete(exchanged(site, request))

    @property
    def world(self) -> World:
        """The mock's default world, in which requests without another world are."""
        return self._mock.world

    def close(self) -> None:
        """Closes the event loop."""
        self._runner.close()


def mock(settings: Settings | None = None) -> Mock:
    """Returns a mock at the addresses of ``TARGET``."""
    return Mock(settings or Settings(), addresses=Addresses(SITE, AUTHORIZATION))


def time_of(mock: Mock) -> Time:
    """Returns the time of the mock's default world; waiting only moves its clock."""
    clock = mock.world.clock
    return Time(
        now=lambda: clock.now(),  # noqa: PLW0108 - moving a clock replaces its method
        wait=clock.advance,
        advance=clock.advance,
    )
