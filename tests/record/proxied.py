"""A recording proxy before a mock, all in this process: requests, responses and what was judged."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import httpx

from understudy.api.asgi_exchange import exchanged
from understudy.mock.app import Mock
from understudy.mock.server.request_context import Addresses
from understudy.mock.settings import Settings
from understudy.record.proxy import Recording, RecordingOptions
from understudy.record.upstream import Upstream
from understudy.verify.deployment import deployment_of
from understudy.verify.findings import Finding
from understudy.verify.target import target_of

RESOURCE, AUTHORIZATION = "https://api.staging.example", "https://auth.staging.example"
PROXY, AUTH_PROXY = "http://127.0.0.1:8080", "http://127.0.0.1:8081"
TARGET = {
    "base_url": f"{RESOURCE}/v3",
    "auth_url": AUTHORIZATION,
    "credentials": {"access_token": "ada-full", "other_access_token": "ben-full"},
    "known": {"slug": "ada", "emails": ["ada@example.com", "ada.merrowdale@example.org"]},
    "application": {"client_id": "browser-app", "redirect_uri": "http://127.0.0.1:5173/"},
}
ADA = {"Authorization": "Bearer ada-full"}

Result = TypeVar("Result")
Change = Callable[[httpx.Request, httpx.Response], httpx.Response]


def unchanged(_request: httpx.Request, response: httpx.Response) -> httpx.Response:
    return response


class MockedDeployment(httpx.AsyncBaseTransport):
    """A mock that plays the deployment, and what it was sent.

    Args:
        change: Changes its responses, or raises what the network raises.
        settings: Of the mock.
    """

    def __init__(self, change: Change = unchanged, **settings: Any) -> None:
        self._settings = Settings(**settings)
        self.requests: list[httpx.Request] = []
        self.change = change

    @cached_property
    def mock(self) -> Mock:
        """The mock, which starts at the first request."""
        return Mock(self._settings, addresses=Addresses(RESOURCE, AUTHORIZATION))

    async def respond(self, request: httpx.Request) -> httpx.Response:
        """Returns the mock's response."""
        is_resource = str(request.url).startswith(RESOURCE)
        site = self.mock.resource if is_resource else self.mock.authorization
        response = await exchanged(site, request)
        response.read()
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.AsyncByteStream | httpx.ByteStream)
        content = b"".join([part async for part in request.stream])
        fields = [(n, v) for n, v in request.headers.raw if n.lower() != b"transfer-encoding"]
        url = request.url.copy_with(raw_path=request.extensions["target"])
        sent = httpx.Request(request.method, url, headers=fields, content=content)
        self.requests.append(sent)
        response = await self.respond(sent)
        changed = self.change(sent, response)
        if not changed.is_stream_consumed:
            return changed
        stream = httpx.ByteStream(changed.content)
        return httpx.Response(changed.status_code, headers=changed.headers, stream=stream)


class AnsweringDeployment(MockedDeployment):
    """A deployment that gives one response to every request."""

    def __init__(self, status: int, content: bytes = b"", **headers: Any) -> None:
        super().__init__()
        self._status = status
        self._fields = {name.replace("_", "-"): value for name, value in headers.items()}
        self._content = content

    async def respond(self, _request: httpx.Request) -> httpx.Response:
        stream = httpx.ByteStream(self._content)
        return httpx.Response(self._status, headers=self._fields, stream=stream)


class Session:
    """The traffic of an app with the proxy.

    Attributes:
        deployment: The deployment behind the proxy.
        findings: Those that were announced.
        recording: The proxy.
    """

    def __init__(self, deployment: MockedDeployment, options: RecordingOptions) -> None:
        self.deployment = deployment
        self.findings: list[Finding] = []
        described = deployment_of(target_of(TARGET, {}, "the target"))
        self.recording = Recording(described, options, self.findings.append, Upstream(deployment))
        self._runner = asyncio.Runner()
        self.run(
            self.recording.judge.settled()
        )  # its thread is the session's, not the first test's

    def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        """Sends a request to the proxy, and waits until its exchange is judged."""
        request = httpx.Request(method, url, **options)
        port = request.url.port
        assert port is not None
        application = self.recording.applications[port]
        response = self.run(exchanged(application, request))
        response.read()
        return response

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Waits for work in the session's event loop."""
        return self._runner.run(work)

    def close(self) -> None:
        self._runner.run(self.recording.aclose())
        self.recording.judge.close()
        self._runner.close()


@contextmanager
def proxied(deployment: MockedDeployment | None = None, **options: Any) -> Iterator[Session]:
    """Puts a proxy before a deployment, which is a sound mock by default."""
    ports = RecordingOptions(port=8080, auth_port=8081)
    session = Session(deployment or MockedDeployment(), replace(ports, **options))
    try:
        yield session
    finally:
        session.close()
