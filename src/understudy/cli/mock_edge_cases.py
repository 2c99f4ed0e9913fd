"""Generates the edge cases that the console of a mock offers, and sends them to the mock.

The generator takes a second to import; this happens at the first use, in a thread.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from understudy.errors import NotFound, StartupError
from understudy.mock.admin.context import ExportedCases

_KEPT = 8
"""Most lists of cases that are cached, as their cases are sent one by one."""


class MockEdgeCases:
    """The edge cases of one mock.

    Args:
        mock: The mock.
        document: The document in force, if it is not the bundled one.
    """

    def __init__(self, mock: Any, document: Path | None) -> None:
        self._mock = mock
        self._document = document
        self._made = lru_cache(maxsize=_KEPT)(self._generated)

    def cases(self, operation: str, count: int, seed: int) -> list[dict[str, Any]]:
        """Returns edge cases as JSON.

        Raises:
            StartupError: There is no such operation.
        """
        from understudy.cases.test_data import TestData

        secrets = TestData().secrets
        return [_as_json(case, secrets) for case in self._made(operation, count, seed)]

    async def send(self, wanted: Mapping[str, Any], site_url: str, auth_url: str) -> dict[str, Any]:
        """Sends a case to the mock, and returns its outcome.

        Raises:
            StartupError: There is no such operation.
            NotFound: There is no such case.
        """
        import asyncio

        operation, number = wanted["operation"], wanted.get("count", 20)
        made = await asyncio.to_thread(self._made, operation, number, wanted.get("seed", 0))
        case = next((case for case in made if case.id == wanted["id"]), None)
        if case is None:
            msg = f"There is no case {wanted['id']!r} among these; GET /__admin/edge-cases lists them."
            raise NotFound(msg)
        from understudy.cases.test_data import TestData

        values = dict(TestData().secrets)
        urls = {"resource": site_url, "authorization": auth_url}
        try:
            if case.set_up is not None:
                response = await self._exchanged(case.set_up.request, values, urls)
                values[case.set_up.variable] = _obtained(response, case.set_up.member)
            response = await self._exchanged(case.request, values, urls)
        except _Unsendable as error:
            return {"id": case.id, "outcome": f"not sent: {error}"}
        mismatch = case.expected.mismatch(
            response.status_code, response.headers.get("location", "")
        )
        outcome = f"failed: {mismatch}" if mismatch else "passed"
        return {"id": case.id, "outcome": outcome, "status": response.status_code}

    def exported(
        self, operation: str, form: str, options: Mapping[str, int], urls: Mapping[str, str]
    ) -> ExportedCases:
        """Returns edge cases in the file format of a tool, with variables for secrets.

        Raises:
            StartupError: There is no such operation or format.
        """
        from understudy import plugins
        from understudy.generate.formats.export import ExportSettings, OutputPiece
        from understudy.mock.fixtures.loading import zipped

        chosen = plugins.find("formats", form)
        if chosen is None:
            msg = f"format: there is no {form!r}; there are {', '.join(plugins.names('formats'))}."
            raise StartupError(msg)
        made = self._made(operation, options["count"], options["seed"])
        settings = ExportSettings(
            base_urls={"resource": urls["resource"], "authorization": urls["authorization"]}
        )
        pieces = [it for it in chosen.write(made, settings) if isinstance(it, OutputPiece)]
        if not chosen.suffix:
            return ExportedCases(zipped({it.name: it.content for it in pieces}.items()), ".zip")
        content = b"".join(it.content for it in pieces if not it.name)
        return ExportedCases(content, chosen.suffix)

    def _generated(self, operation: str, count: int, seed: int) -> list[Any]:
        from understudy.cases.selection import edge_cases

        return list(edge_cases(operation, count=count, seed=seed, document=self._document))

    async def _exchanged(
        self, request: Any, values: Mapping[str, str], urls: Mapping[str, str]
    ) -> Any:
        import httpx

        from understudy.api.asgi_exchange import exchanged

        filled = request.filled(values)
        site = self._mock.resource if request.site == "resource" else self._mock.authorization
        if not filled.is_sendable:
            msg = "HTTP cannot carry its headers"
            raise _Unsendable(msg)
        try:
            message = httpx.Request(
                filled.method,
                urls[request.site].rstrip("/") + filled.target,
                headers=list(filled.headers),
                content=filled.body,
            )
        except (httpx.InvalidURL, ValueError, TypeError) as error:
            raise _Unsendable(str(error)) from error
        return await exchanged(site, message)


class _Unsendable(Exception):
    """A request that HTTP or the client library cannot send."""


def _obtained(response: Any, member: str) -> str:
    """Returns a value from the response to a set-up request: of a JSON member or of a redirect."""
    from urllib.parse import parse_qs, urlsplit

    location = response.headers.get("location", "")
    for text in parse_qs(urlsplit(location).query).get(member, ()):
        return str(text)
    try:
        return str(response.json()[member])
    except (ValueError, KeyError, TypeError) as error:
        msg = f"its set-up was answered {response.status_code}"
        raise _Unsendable(msg) from error


def _as_json(case: Any, secrets: Mapping[str, str]) -> dict[str, Any]:
    request = case.request.filled(secrets)
    body = None if request.body is None else request.body[:2000].decode("utf-8", "replace")
    return {
        "id": case.id,
        "description": case.description,
        "category": case.category,
        "kind": case.kind,
        "source": case.source,
        "method": request.method,
        "path": request.target,
        "site": request.site,
        "headers": dict(case.request.headers),
        "body": body,
        "expected": list(case.expected.statuses),
        "because": case.expected.because,
    }
