"""Speaks to the admin API of a running mock, for the command line and the pytest plugin."""

from collections.abc import Iterator
from typing import Any

import httpx

from understudy.errors import StartupError

_FIRST_ERROR = 400


class AdminClient:
    """Calls the admin API in one world.

    Args:
        url: The mock's address, without a path; or that of a world, ``…/__world/NAME``.
        world: The world's name; the default one if left out.
        token: What a mock on another machine asks for.
    """

    def __init__(self, url: str, world: str | None = None, token: str | None = None) -> None:
        self.url = url.rstrip("/") + (f"/__world/{world}" if world else "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.Client(headers=headers, timeout=30, trust_env=False)

    def call(self, method: str, path: str, **options: Any) -> Any:
        """Calls an operation.

        Args:
            method: In upper case.
            path: Below ``/__admin``.
            options: As httpx takes them: ``json``, ``params``, ``content``.

        Returns:
            What the JSON says; None for no content.

        Raises:
            StartupError: There is no mock there, or it refused; the text is the mock's own.
        """
        answer = self._answer(method, path, **options)
        return answer.json() if answer.content else None

    def fetch(self, path: str) -> bytes:
        """Returns the bytes of an answer that is no JSON.

        Raises:
            StartupError: There is no mock there, or it refused.
        """
        return self._answer("GET", path).content

    def _answer(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            answer = self._client.request(method, f"{self.url}/__admin{path}", **options)
        except httpx.HTTPError as error:
            raise self._absent(error) from error
        if answer.status_code >= _FIRST_ERROR:
            raise StartupError(_reason(answer))
        return answer

    def follow(self) -> Iterator[Any]:
        """Yields each exchange as it ends, until the mock stops.

        Raises:
            StartupError: There is no mock there, or it refused.
        """
        path = f"{self.url}/__admin/requests/stream"
        try:
            with self._client.stream("GET", path, timeout=None) as answer:
                if answer.status_code >= _FIRST_ERROR:
                    answer.read()
                    raise StartupError(_reason(answer))
                for line in answer.iter_lines():
                    if line.startswith("data: "):
                        yield httpx.Response(200, content=line.removeprefix("data: ")).json()
        except httpx.RemoteProtocolError:
            return  # the mock stopped
        except httpx.HTTPError as error:
            raise self._absent(error) from error

    def close(self) -> None:
        """Lets go of the connection."""
        self._client.close()

    def _absent(self, error: httpx.HTTPError) -> StartupError:
        return StartupError(
            f"No mock answers at {self.url} ({error}); start one with `understudy serve`, "
            "or name another with --mock URL."
        )


def _reason(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.url} answers {answer.status_code}; is that a mock?"
