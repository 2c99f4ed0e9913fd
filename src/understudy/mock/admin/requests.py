"""Lists, counts, searches and streams the journal of a world (``openapi/admin.yaml``)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import SequenceMatcher
from typing import Any, Final, TypeVar

import orjson

from understudy.errors import BadRequest, NotFound, nearest
from understudy.mock.admin.explaining import Explainer
from understudy.mock.admin.instants import instant_of
from understudy.mock.admin.journal_archive import archive
from understudy.mock.admin.journal_entries import logged, request
from understudy.mock.admin.request_patterns import Pattern, matches, search
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.worlds import World
from understudy.openapi.paths import LONGEST_COMPARED, fill

HEARTBEAT = 15.0
"""Seconds after which a silent stream says that it is still there; proxies end those that do not."""

INTERVAL = 0.25
"""Seconds after which a silent stream looks for requests to other replicas."""

WAITING = 1000
"""Exchanges that a slow follower may fall behind before it misses some."""

NEAR = 3
"""Operations that are offered for a request that matched none."""

NEWEST = 50
"""Requests for which near misses are looked for; each is compared with every operation."""

_SEARCHES: Final = ThreadPoolExecutor(1, "understudy-searches")
"""The thread for searches; many of them must not use up the threads that check uploads."""

Found = TypeVar("Found")


class RequestsAdmin:
    """The handlers of the journal.

    Args:
        operations: operationId to method and path template of every operation of the mock.
        explainer: Explains the responses.
        refresh: Brings a world up to date that other processes may have changed.
    """

    def __init__(
        self,
        operations: Mapping[str, tuple[str, str]],
        explainer: Explainer,
        refresh: Callable[[World], Awaitable[None]],
    ) -> None:
        self._operations = operations
        self._explainer = explainer
        self._refresh = refresh

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {
            ("GET", "/requests"): self.list_requests,
            ("DELETE", "/requests"): delete_requests,
            ("POST", "/requests/count"): self.count_requests,
            ("POST", "/requests/find"): self.find_requests,
            ("GET", "/requests/unmatched"): list_unmatched,
            ("GET", "/requests/unmatched/near-misses"): self.list_near_misses,
            ("GET", "/requests/har"): get_har,
            ("GET", "/requests/stream"): self.stream_requests,
            ("GET", "/requests/{id}"): self.get_request,
        }

    async def list_requests(
        self,
        call: Call,
        *,
        operation: str | None = None,
        status: str | None = None,
        person: str | None = None,
        since: str | None = None,
        limit: int | None = None,
    ) -> HandlerResponse:
        """Responds to ``GET /requests``, the newest first.

        Raises:
            BadRequest: There is no such operation, or ``since`` is not an instant.
        """
        named = {"operation": operation, "status": status, "person": person}
        pattern = {name: value for name, value in named.items() if value is not None}
        self._expect_operation(pattern)
        matching = [context for context in call.world.journal if matches(context, pattern)]
        if since is not None:
            start = instant_of(since, "since")
            matching = [context for context in matching if context.started >= start]
        newest = matching[::-1][:limit]
        listed = await asyncio.to_thread(_logged, newest)
        return HandlerResponse({"requests": listed, "meta": {"total": len(matching)}})

    async def count_requests(self, call: Call, *, body: Pattern) -> HandlerResponse:
        """Responds to ``POST /requests/count``.

        Raises:
            BadRequest: There is no such operation, or a regular expression is invalid.
            LimitExceeded: The pattern has too many comparisons, or they take too long.
        """
        return HandlerResponse({"count": len(await self._matching(call, body))})

    async def find_requests(self, call: Call, *, body: Pattern) -> HandlerResponse:
        """Responds to ``POST /requests/find``, the oldest first.

        Raises:
            BadRequest: There is no such operation, or a regular expression is invalid.
            LimitExceeded: The pattern has too many comparisons, or they take too long.
        """
        matching = await self._matching(call, body)
        return HandlerResponse({"requests": await asyncio.to_thread(_logged, matching)})

    def get_request(self, call: Call, number: int) -> HandlerResponse:
        """Responds to ``GET /requests/{id}``: the exchange, and why it went as it did.

        Raises:
            NotFound: It is unknown, or forgotten.
        """
        journal = call.world.journal
        context = journal.get(number)
        if context is None:
            first = journal.total - len(journal) + 1
            known = f"{first} to {journal.total}" if len(journal) else "none"
            msg = f"There is no request {number} in this world; it remembers {known}."
            raise NotFound(msg)
        return HandlerResponse({**logged(context), "explanation": self._explainer.explain(context)})

    def stream_requests(self, call: Call) -> HandlerResponse:
        """Responds to ``GET /requests/stream``: each exchange as it ends, as server-sent events."""
        return HandlerResponse(_events(call, self._refresh), media_type="text/event-stream")

    async def list_near_misses(self, call: Call) -> HandlerResponse:
        """Responds to ``GET /requests/unmatched/near-misses``: what was probably meant."""
        newest = _unmatched(call)[-NEWEST:]
        return HandlerResponse({"nearMisses": await _searching(self._near_misses, newest)})

    def _near_misses(self, contexts: Sequence[RequestContext]) -> list[dict[str, Any]]:
        return [
            {"request": request(context), **near}
            for context in contexts
            for near in self._near(context)
        ]

    def _near(self, context: RequestContext) -> list[dict[str, Any]]:
        def distance(method: str, path: str) -> float:
            similar = SequenceMatcher(None, context.path, fill(path, context.path)).ratio()
            return round(1 - (similar if method == context.method else similar * 0.9), 3)

        if len(context.path) > LONGEST_COMPARED:
            return []
        ranked = sorted(
            (distance(method, path), name, method, path)
            for name, (method, path) in self._operations.items()
        )
        return [
            {
                "stubMapping": {
                    "name": name,
                    "request": {"method": method, "urlPathTemplate": path},
                },
                "matchResult": {"distance": far},
            }
            for far, name, method, path in ranked[:NEAR]
        ]

    async def _matching(self, call: Call, pattern: Pattern) -> list[RequestContext]:
        self._expect_operation(pattern)
        return await _searching(search, tuple(call.world.journal), pattern)

    def _expect_operation(self, pattern: Pattern) -> None:
        operation = pattern.get("operation")
        if operation is not None and operation not in self._operations:
            hint = nearest(operation, list(self._operations)) or "."
            msg = f"operation: there is no {operation!r}{hint}"
            raise BadRequest(msg)


async def _searching(work: Callable[..., Found], *arguments: Any) -> Found:
    return await asyncio.get_running_loop().run_in_executor(_SEARCHES, work, *arguments)


def delete_requests(call: Call) -> HandlerResponse:
    """Responds to ``DELETE /requests``: forgets the requests of the world."""
    call.world.journal.forget()
    return HandlerResponse(status=204)


async def list_unmatched(call: Call) -> HandlerResponse:
    """Lists what matched no operation (``GET /requests/unmatched``)."""
    return HandlerResponse({"requests": await asyncio.to_thread(_logged, _unmatched(call))})


async def get_har(call: Call) -> HandlerResponse:
    """Returns the journal as an HTTP archive (``GET /requests/har``)."""
    return HandlerResponse(await asyncio.to_thread(archive, tuple(call.world.journal)))


def _logged(contexts: Sequence[RequestContext]) -> list[dict[str, Any]]:
    """Returns journal entries as JSON; in a thread, as a full journal takes a while to mask."""
    return [logged(context) for context in contexts]


async def _events(call: Call, refresh: Callable[[World], Awaitable[None]]) -> AsyncIterator[bytes]:
    waiting: asyncio.Queue[RequestContext] = asyncio.Queue(WAITING)

    def listen(context: RequestContext) -> None:
        if not waiting.full():
            waiting.put_nowait(context)

    listeners = call.world.journal.listeners
    listeners.append(listen)
    try:
        yield b": following\n\n"
        silent = 0.0
        while True:
            try:
                context = await asyncio.wait_for(waiting.get(), INTERVAL)
            except TimeoutError:
                await refresh(call.world)
                silent += INTERVAL
                if silent >= HEARTBEAT:
                    silent = 0.0
                    yield b": still there\n\n"
                continue
            silent = 0.0
            yield b"id: %d\ndata: %s\n\n" % (context.number, orjson.dumps(logged(context)))
    finally:
        listeners.remove(listen)


def _unmatched(call: Call) -> Sequence[RequestContext]:
    return [context for context in call.world.journal if not context.is_matched]
