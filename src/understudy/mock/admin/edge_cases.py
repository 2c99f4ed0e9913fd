"""Offers the edge cases of an operation, where something that makes them was plugged in.

The mock knows no generator: whoever starts it hands one in, so that a mock alone stays small.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from understudy.errors import BadRequest, NotFound, StartupError
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.world_selection import Worlds


class ExportedCases(NamedTuple):
    """Cases as a file of a tool.

    Attributes:
        content: The bytes of the file.
        suffix: What its name ends with, such as ``.har``; ``.zip`` where the tool reads a directory.
    """

    content: bytes
    suffix: str


class EdgeCaseSource(Protocol):
    """Makes edge cases of operations, and sends them to the mock."""

    def cases(self, operation: str, count: int, seed: int) -> list[dict[str, Any]]:
        """Returns cases as JSON.

        Raises:
            StartupError: There is no such operation.
        """

    async def send(self, wanted: Mapping[str, Any], site_url: str, auth_url: str) -> dict[str, Any]:
        """Sends a case to the mock, and returns what became of it.

        Raises:
            StartupError: There is no such operation.
            NotFound: There is no such case.
        """

    def exported(
        self, operation: str, form: str, options: Mapping[str, int], urls: Mapping[str, str]
    ) -> ExportedCases:
        """Returns cases as a file of a tool.

        Raises:
            StartupError: There is no such operation or format.
        """


class EdgeCasesAdmin:
    """The handlers of edge cases.

    Args:
        source: Returns what makes them; None: nothing does.
        base_path: The base path of the resource API.
        worlds: All the worlds of the mock.
    """

    def __init__(
        self,
        source: Callable[[], EdgeCaseSource | None],
        base_path: str,
        worlds: Worlds,
    ) -> None:
        self._source = source
        self._base_path = base_path
        self._worlds = worlds

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {
            ("GET", "/edge-cases"): self.list_cases,
            ("POST", "/edge-cases/send"): self.send_case,
            ("GET", "/edge-cases/export"): self.export_cases,
        }

    async def list_cases(
        self, _call: Call, *, operation: str, count: int = 20, seed: int = 0
    ) -> HandlerResponse:
        """Responds to ``GET /edge-cases``.

        Raises:
            BadRequest: There is no such operation.
            NotFound: This mock makes none.
        """
        source = self._expected()
        try:
            cases = await asyncio.to_thread(source.cases, operation, count, seed)
        except StartupError as error:
            raise BadRequest(str(error)) from error
        return HandlerResponse({"cases": cases})

    async def send_case(self, call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
        """Responds to ``POST /edge-cases/send``.

        Raises:
            BadRequest: There is no such operation.
            NotFound: There is no such case, or this mock makes none.
        """
        source = self._expected()
        total = call.world.journal.total
        site_url = call.site_url + self._base_path
        await self._worlds.let_go()
        try:
            sent = await source.send(body, site_url, call.authorization_url)
        except StartupError as error:
            raise BadRequest(str(error)) from error
        await self._worlds.refresh(call.world)
        after = call.world.journal.total
        return HandlerResponse({**sent, "request": after if after > total else None})

    async def export_cases(
        self, call: Call, *, operation: str, format_: str, count: int = 20, seed: int = 0
    ) -> HandlerResponse:
        """Responds to ``GET /edge-cases/export``.

        Raises:
            BadRequest: There is no such operation or format.
            NotFound: This mock makes none.
        """
        source = self._expected()
        urls = {
            "resource": call.site_url + self._base_path,
            "authorization": call.authorization_url,
        }
        options = {"count": count, "seed": seed}
        try:
            exported = await asyncio.to_thread(source.exported, operation, format_, options, urls)
        except StartupError as error:
            raise BadRequest(str(error)) from error
        name = f'attachment; filename="{operation}{exported.suffix}"'
        media_type = "application/zip" if exported.suffix == ".zip" else "text/plain"
        headers = (("content-disposition", name),)
        return HandlerResponse(exported.content, media_type=media_type, headers=headers)

    def _expected(self) -> EdgeCaseSource:
        source = self._source()
        if source is None:
            msg = "This mock makes no edge cases; one that `understudy serve` starts does."
            raise NotFound(msg)
        return source
