"""Judges each forwarded exchange by the document and all rules, without sending requests.

The judge works in a separate thread, so that forwarding continues, and in the order in which
exchanges end.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from understudy.exchange.messages import Exchange, Request, Response
from understudy.interface.operations import Routes
from understudy.limits import JUDGED_BYTES, PENDING_BYTES, PENDING_EXCHANGES
from understudy.openapi.loader import Document
from understudy.record.messages import (
    ExchangeSpan,
    ProxiedRequest,
    ProxiedResponse,
    decoded,
    place_of,
)
from understudy.record.servers import Fields, ProxiedServer, field_value
from understudy.record.upstream import NoUpstreamResponse
from understudy.verify.deployment import Deployment
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import Finding
from understudy.verify.recorded_traffic import TokenAccounts
from understudy.verify.run import evaluated, evaluator_of


@dataclass(slots=True)
class TrafficCounts:
    """Numbers of forwarded exchanges.

    Attributes:
        judged: Exchanges that were judged.
        too_large: Exchanges that were not, as a body is too large or cannot be decoded.
        lost: Requests without a response.
        blocked: Responses that were withheld from the client.
        websockets: WebSocket connections, which are not judged.
    """

    judged: int = 0
    too_large: int = 0
    lost: int = 0
    blocked: int = 0
    websockets: int = 0


class TrafficJudge:
    """Judges forwarded exchanges.

    Args:
        deployment: The deployment.
        document: The document to judge by.
        routes: Finds the operation of a request.
        is_blocking: True to withhold responses that break a rule.
        announce: Called with every finding when it is first made.
        record: Called with every exchange before it is judged, with the evaluator.

    Attributes:
        evaluator: Judges the exchanges.
        counts: Numbers of exchanges.
        proxy_failures: Source line of an error of the proxy itself to its number of occurrences.
        skip: Called with a line, without personal values, for each exchange that is not judged, or
            that could not be forwarded unchanged.

    Raises:
        StartupError: The target accepts a rule that does not exist, or its facts cannot be read.
    """

    def __init__(
        self,
        deployment: Deployment,
        document: Document,
        routes: Routes,
        *,
        is_blocking: bool,
        announce: Callable[[Finding], None],
        record: Callable[[Exchange, Evaluator], None],
    ) -> None:
        self._deployment = deployment
        self._routes = routes
        self._announce = announce
        self._record = record
        self.skip: Callable[[str], object] = lambda _line: None
        self._thread = ThreadPoolExecutor(1, "understudy-judge")
        self._pending: set[asyncio.Future[str | None]] = set()
        self._pending_bytes = 0
        self._judged_bytes = 0
        self._number = 0
        self.is_blocking = is_blocking
        self.evaluator = evaluator_of(deployment.target, document, ())
        self._accounts = TokenAccounts(deployment.target)
        self.counts = TrafficCounts()
        self.proxy_failures: dict[str, int] = {}

    async def passed(
        self, request: ProxiedRequest, response: ProxiedResponse, span: ExchangeSpan
    ) -> str | None:
        """Judges a complete exchange; returns its finding, or None, if responses can be withheld."""
        at = self._deployment.time.now()
        task = asyncio.get_running_loop().run_in_executor(
            self._thread, self._judge_safely, request, response, at, span.overlaps_change
        )
        size = request.captured.size + response.captured.size
        self._pending_bytes += size

        def end(done: asyncio.Future[str | None]) -> None:
            self._pending.discard(done)
            self._pending_bytes -= size

        self._pending.add(task)
        task.add_done_callback(end)
        finding = await asyncio.shield(task) if self._must_wait() else None
        return finding if self.is_blocking else None

    def _must_wait(self) -> bool:
        """Tells whether a response waits until it is judged, as it may be withheld or many pend."""
        too_many = len(self._pending) > PENDING_EXCHANGES.most
        return self.is_blocking or too_many or self._pending_bytes > PENDING_BYTES.most

    def lost(self, request: ProxiedRequest, error: NoUpstreamResponse) -> None:
        """Judges a request that got no response."""
        at = self._deployment.time.now()
        self._thread.submit(self._judge_lost, request, error, at)

    def changed(self, request: ProxiedRequest, names: Sequence[bytes]) -> None:
        """Reports the header fields of a response that could not be forwarded unchanged."""
        listed = b", ".join(names).decode("latin-1")
        self.skip(f"{self._title(request)}: control characters in {listed} passed as spaces")

    def passes_unjudged(self, server: ProxiedServer) -> None:
        """Counts a WebSocket connection, and reports that it is not judged."""
        self.counts.websockets += 1
        self.skip(f"A WebSocket connection to the {server.site} server passes, not judged")

    async def settled(self) -> None:
        """Waits until all exchanges so far are judged and recorded."""
        await asyncio.get_running_loop().run_in_executor(self._thread, _nothing)

    def failed(self, place: str) -> None:
        """Counts an error of the proxy itself by the source line that raised it."""
        self.proxy_failures[place] = self.proxy_failures.get(place, 0) + 1

    def close(self) -> None:
        """Waits until all exchanges are judged, and ends the thread."""
        self._thread.shutdown()

    def _judge_safely(
        self,
        request: ProxiedRequest,
        response: ProxiedResponse,
        at: datetime,
        overlaps_change: bool,  # noqa: FBT001 - called by the executor, by position
    ) -> str | None:
        """Judges an exchange; counts an error, whose text the event loop would log otherwise."""
        try:
            return self._judge(request, response, at, overlaps_change=overlaps_change)
        except Exception as error:
            self.failed(place_of(error))
            return None

    def _judge(
        self,
        request: ProxiedRequest,
        response: ProxiedResponse,
        at: datetime,
        *,
        overlaps_change: bool,
    ) -> str | None:
        exchange = self._exchange(request, response, at)
        if exchange is None:
            self.counts.too_large += 1
            self._say_skipped(request, response)
            return None
        self.counts.judged += 1
        self._judged_bytes += len(exchange.request.body) + len(exchange.response.body)
        if overlaps_change or self._judged_bytes > JUDGED_BYTES.most:
            self._forget()
        exchange = self._accounts.assigned(exchange, self.evaluator.history)
        self._keep(exchange)
        for finding in evaluated(self.evaluator, exchange):
            if not finding.is_note:
                self._announce(finding)
        broken = self.evaluator.broken
        if overlaps_change:
            self._forget()
        if not broken:
            return None
        rule, result = broken[0]
        self.counts.blocked += self.is_blocking
        return f"{rule}: expected {result.expected}; actual: {result.actual}"

    def _say_skipped(self, request: ProxiedRequest, response: ProxiedResponse) -> None:
        """Reports that an exchange is not judged, and why."""
        is_whole = request.captured.is_whole and response.captured.is_whole
        reason = "its content encoding cannot be decoded" if is_whole else "a body is too large"
        self.skip(f"{self._title(request)}: {response.status}, not judged, as {reason}")

    def _title(self, request: ProxiedRequest) -> str:
        """Returns the operation of a request by the document's name, or the method alone."""
        place = self._routes.find(request.method, request.url, texts_of(request.fields))
        return place.title or request.method

    def _keep(self, exchange: Exchange) -> None:
        """Hands an exchange to the recorder; an error there is counted, and judging continues."""
        try:
            self._record(exchange, self.evaluator)
        except Exception as error:  # its text may contain a personal value
            self.failed(place_of(error))

    def _judge_lost(self, request: ProxiedRequest, error: NoUpstreamResponse, at: datetime) -> None:
        self.counts.lost += 1
        exchange = self._exchange(request, ProxiedResponse(0, []), at)
        for finding in self.evaluator.unanswered(exchange, str(error)) if exchange else ():
            self._announce(finding)

    def _forget(self) -> None:
        """Clears the history, so that no rule relates later exchanges to earlier ones."""
        self.evaluator.history = self.evaluator.history.emptied()
        self._judged_bytes = 0

    def _exchange(
        self, request: ProxiedRequest, response: ProxiedResponse, at: datetime
    ) -> Exchange | None:
        """Returns an exchange for the checks; None if a body was too large or cannot be decoded."""
        if not (request.captured.is_whole and response.captured.is_whole):
            return None
        body = decoded(response.captured.content, field_value(response.fields, b"content-encoding"))
        if body is None:
            return None
        sent = Request(
            request.method, request.url, texts_of(request.fields), request.captured.content
        )
        place = self._routes.find(sent.method, sent.url, sent.headers)
        self._number += 1
        exchange = Exchange(
            number=self._number,
            source="passed",
            identity=self._deployment.target.identify(sent.token),
            request=sent,
            response=Response(response.status, texts_of(response.fields), body),
            at=at,
            **place._asdict(),
        )
        wording = self._deployment.wording
        return exchange if wording is None else wording.recorded(exchange)


def _nothing() -> None:
    """Does nothing; when it has run, all tasks submitted before it have ended."""


def texts_of(fields: Fields) -> tuple[tuple[str, str], ...]:
    """Returns header fields as strings."""
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields)
