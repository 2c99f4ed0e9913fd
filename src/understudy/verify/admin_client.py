"""Calls the admin API of a running mock, for the command line and the pytest plugin."""

import ssl
from collections.abc import Iterator, Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import httpx
import orjson

from understudy.errors import StartupError
from understudy.verify.transport import DeploymentTransport

_TIMEOUT = timedelta(seconds=30)
"""Total timeout of the request that finds out whether a mock responds."""


class AdminClient:
    """Calls the admin API in one world.

    Args:
        url: The mock's address without a path, or that of a world, ``…/__world/NAME``.
        world: The world's name; None for the default world.
        token: The admin token, which a mock on another machine requires.
        option: The option by which the address was given, for messages.

    Attributes:
        url: Base URL of the world.
        token: The admin token; None if none was given.
    """

    def __init__(
        self,
        url: str,
        world: str | None = None,
        token: str | None = None,
        *,
        option: str = "--mock",
    ) -> None:
        self._option = option
        self.url = url.rstrip("/") + (f"/__world/{world}" if world else "")
        self.token = token
        # lets the log of the mock tell commands from clients of the service
        headers = {"X-Mock-Client": "understudy"}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        # A default context also trusts $SSL_CERT_FILE, as for the authority of `serve --tls`. Plain
        # HTTP has none: making one takes longer than a request, and redirects are not followed.
        self._trusted = ssl.create_default_context() if url.startswith("https:") else None
        self._client = httpx.Client(
            headers=headers, timeout=30, trust_env=False, verify=self._trusted or False
        )

    def expect_mock(self) -> None:
        """Checks that a mock responds at the address.

        Raises:
            StartupError: No mock responds there, or it refused; the text is the mock's own.
        """
        path = f"{self.url}/__admin/health"
        request = self._client.build_request("GET", path)
        try:
            # Any server may be there: this transport bounds the bytes and the time of its response.
            with DeploymentTransport(_TIMEOUT, self._trusted) as transport:
                response = transport.handle_request(request)
        except httpx.HTTPError as error:
            raise self._absent(error) from error
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            response.request = request
            raise StartupError(_reason(response, response.content, self._option))
        if b'"healthy"' not in response.content:
            msg = f"{path} does not respond as a mock does; name a mock's address with {self._option} URL."
            raise StartupError(msg)

    def call(self, method: str, path: str, **options: Any) -> Any:
        """Calls an operation.

        Args:
            method: In upper case.
            path: Below ``/__admin``.
            options: Further arguments of httpx: ``json``, ``params``, ``content``.

        Returns:
            The decoded JSON; None where the response has no content.

        Raises:
            StartupError: No mock responds there, or it refused; the text is the mock's own.
        """
        response = self._send(method, path, **options)
        return response.json() if response.content else None

    def fetch(self, path: str) -> bytes:
        """Returns the body of a response that is not JSON.

        Raises:
            StartupError: No mock responds there, or it refused.
        """
        return self._send("GET", path).content

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            response = self._client.request(method, f"{self.url}/__admin{path}", **options)
        except httpx.HTTPError as error:
            raise self._absent(error) from error
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            raise StartupError(_reason(response, response.content, self._option))
        return response

    def follow(self, wanted: Mapping[str, str]) -> Iterator[Any]:
        """Yields each exchange when it is complete, until the mock stops.

        Args:
            wanted: The filter, as parameters of ``GET /requests``.

        Raises:
            StartupError: No mock responds there, or it refused.
        """
        path = f"{self.url}/__admin/requests/stream"
        try:
            with self._client.stream("GET", path, params=wanted, timeout=None) as response:
                if response.status_code >= HTTPStatus.BAD_REQUEST:
                    raise StartupError(_reason(response, response.read(), self._option))
                for line in response.iter_lines():
                    if line.startswith("data: "):
                        yield httpx.Response(200, content=line.removeprefix("data: ")).json()
        except httpx.RemoteProtocolError:
            return  # the mock stopped
        except httpx.HTTPError as error:
            raise self._absent(error) from error

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()

    def _absent(self, error: httpx.HTTPError) -> StartupError:
        why = "" if isinstance(error, httpx.ConnectError) else f" ({error})"
        return StartupError(
            f"No mock responds at {self.url}{why}; start one with `understudy serve`, "
            f"or name another with {self._option} URL."
        )


def _reason(response: httpx.Response, content: bytes, option: str) -> str:
    try:
        return str(orjson.loads(content)["detail"])
    except (ValueError, KeyError, TypeError):
        root = f"{response.url.scheme}://{response.url.netloc.decode()}"
        return (
            f"{response.url} responds with {response.status_code}; name the address of a mock "
            f"without a path, such as {option} {root}"
        )
