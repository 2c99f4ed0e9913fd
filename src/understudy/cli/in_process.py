"""The mock in this process, as a deployment that can be judged: a wire, a target, a time."""

import asyncio
import logging
from datetime import timedelta

import httpx

from understudy.deployments.clock import Time
from understudy.deployments.target import Credentials, Known, Permit, Target, TargetApplication
from understudy.mock.app import Mock
from understudy.mock.engine.clock import Clock
from understudy.mock.engine.request_context import Addresses
from understudy.mock.settings import Settings

SITE = "http://127.0.0.1:8080"
AUTHORIZATION = "http://127.0.0.1:8081"
CALLBACK = "http://127.0.0.1:5000/callback"

TARGET = Target(
    base_url=f"{SITE}/v3",
    auth_url=AUTHORIZATION,
    mode="full",
    ours=True,
    credentials=Credentials(
        access_token="ada-full",
        read_only_token="ada-read-only",
        auth_only_token="ada-auth-only",
        expired_token="ada-expired",
        other_access_token="olu-full",
        private_access_token="hush-full",
        disabled_access_token="gone-full",
        api_key="ada-api-key",
    ),
    application=TargetApplication(
        client_id="server-app",
        client_secret="server-app-secret",
        redirect_uri=CALLBACK,
        name="Trail Journal",
        username="ada",
        password="ada-password",
        approve="mock_approve=ada",
        deny="mock_deny=1",
    ),
    other_application=TargetApplication(
        client_id="two-redirects",
        client_secret="two-redirects-secret",
        redirect_uri="http://127.0.0.1:3000/callback",
        username="ben",
        password="ben-password",
    ),
    two_step=TargetApplication(
        client_id="two-step",
        client_secret="two-step-secret",
        redirect_uri=CALLBACK,
        username="tova",
        password="tova-password",
        application_password="hbtq rvxk 29fd zmwp",
    ),
    known=Known(
        slug="ada",
        emails=("ada@example.com", "ada.merrowdale@example.org"),
        other_slug="olu",
        other_emails=("olu@example.com", "Olu.Work@Example.com", "olu@example.net"),
        people=("nora", "greta", "tomas"),
        private_slug="hush",
        disabled_slug="gone",
        hidden_contact_slug="mei",
    ),
    permit=Permit(uploads=True, tokens=True, exhaust_rate_limit=True),
)
"""What the bundled fixtures hold."""


class InProcess(httpx.BaseTransport):
    """Leads to the two addresses of a mock, without a socket.

    Args:
        mock: What answers.
    """

    def __init__(self, mock: Mock) -> None:
        self._runner: asyncio.Runner | None = None  # begun with the first request
        self._resource = httpx.ASGITransport(mock.resource)
        self._authorization = httpx.ASGITransport(mock.authorization)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answers a request."""
        is_resource = str(request.url).startswith(SITE)
        site = self._resource if is_resource else self._authorization
        self._runner = self._runner or asyncio.Runner()
        return self._runner.run(_answered(site, request))

    def close(self) -> None:
        """Lets go of the event loop."""
        if self._runner is not None:
            self._runner.close()


async def _answered(site: httpx.ASGITransport, request: httpx.Request) -> httpx.Response:
    found = await site.handle_async_request(request)
    body = await found.aread()
    return httpx.Response(found.status_code, headers=found.headers, content=body)


def mock(seed: int = 0) -> Mock:
    """Returns a mock at the addresses of the target."""
    logging.getLogger("python_multipart").addHandler(
        logging.NullHandler()
    )  # broken forms are meant
    return Mock(Settings(seed=seed), addresses=Addresses(SITE, AUTHORIZATION))


def time_of(mock: Mock) -> Time:
    """Returns the time of a mock's world, which waits for nobody."""
    clock: Clock = mock.world.clock

    def advance(span: timedelta) -> None:
        clock.advance(span)

    return Time(
        now=lambda: clock.now(),  # noqa: PLW0108 - moving a clock replaces its method
        wait=advance,
        advance=advance,
    )
