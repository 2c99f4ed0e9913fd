"""Sends every request of a run: checks permission, keeps a budget, and announces the exchange.

Everything goes through here, Schemathesis's own probes too, because filters above the transport
leak (a tool that was configured to send no writes sent twenty-six).
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final, NamedTuple, Protocol

import httpx

from understudy.exchange.connection_failures import failure_in_words
from understudy.exchange.messages import Exchange, Identity, Request, Response
from understudy.interface.limit_headers import limit_header, moment_of
from understudy.interface.operations import COUNTED, QR_CODE, UPLOAD_AVATAR, Place, Routes
from understudy.openapi.operations import Operation
from understudy.terminal import counted
from understudy.verify.clock import Time
from understudy.verify.credential_places import CredentialPlaces
from understudy.verify.deployment import Allowance
from understudy.verify.history import in_order_of_effect, issued_tokens
from understudy.verify.ledger import ANONYMOUS, RequestLedger, bucket_of
from understudy.verify.permits import (
    SAFE,
    BudgetSpent,
    Made,
    NotPermitted,
    OutOfTime,
    Unreachable,
    obstacle,
)
from understudy.verify.target import Budget, Target
from understudy.verify.transport import received
from understudy.verify.wording import Wording

MOST_LATE: Final = 2
"""Responses of an operation that are waited for in vain; each takes a minute of the run's time."""

RESERVE = 6
"""Counted requests of a token that each hour keeps for undoing changes."""


class RequestBudget:
    """The requests and the time that a run has left.

    Requests that undo changes are counted like all others, but refused only after the deployment
    itself announced that its limit is reached: changes are undone even if that takes more requests
    than the run was allowed.

    Args:
        hourly: Counted requests per hour.
        time: The deployment's time.
        ledger: The count of the hour's requests.
        allowance: The requests and the time that the run may use.
        is_counting: Whether the requests of the hour are limited.

    Attributes:
        kept: Requests of the run that are reserved for showing its findings again.
    """

    def __init__(
        self,
        hourly: Budget,
        time: Time,
        ledger: RequestLedger,
        allowance: Allowance,
        *,
        is_counting: bool = True,
    ) -> None:
        self.allowance = allowance
        self.is_counting = is_counting
        self.ledger = ledger
        self.sent = 0
        self.kept = 0
        self._hourly = hourly
        self._time = time
        self._limited_until: dict[str, datetime] = {}
        self._last: datetime | None = None

    def keep(self, requests: int) -> None:
        """Reserves requests of the run for showing its findings again, a tenth of all at most."""
        self.kept = min(self.kept + requests, (self.allowance.requests or 0) // 10)

    def left(self, token: str | None) -> int:
        """Returns the number of counted requests that a credential has left in the hour."""
        return self._limit(token) - self.ledger.used(bucket_of(token), self._time.now())

    def expect_left(self, reserved: int) -> None:
        """Checks that the run may send one more request, and undo its changes afterwards.

        Args:
            reserved: Requests that undoing will take.

        Raises:
            BudgetSpent: The requests of the run are used up.
            OutOfTime: The time of the run is used up.
        """
        if self.allowance.is_over():
            msg = "the time of the run is used up (--max-time)"
            raise OutOfTime(msg)
        most = self.allowance.requests
        if most is not None and self.sent + 1 + reserved + self.kept > most:
            # the same words whatever is reserved: equal reasons are listed once
            msg = f"the run may send {counted(most, 'request')} (--max-requests), undoing included"
            raise BudgetSpent(msg)

    def spend(
        self,
        request: Request,
        place: Place,
        identity: Identity,
        *,
        is_restoring: bool,
        is_exhausting: bool,
    ) -> None:
        """Counts a request, after waiting for the hour or the interval where that is allowed.

        Raises:
            BudgetSpent: The requests of the hour are used up.
        """
        if self.is_counting and is_counted(place):
            token = None if is_open(place.operation, identity) else request.token
            self._charge(token, is_restoring=is_restoring, is_exhausting=is_exhausting)
        now, interval = self._time.now(), self.allowance.interval
        if self._last is not None and now - self._last < interval:
            self._time.wait(interval - (now - self._last))
        self._last = self._time.now()
        self.sent += 1

    def heed(self, exchange: Exchange) -> None:
        """Reads the rate-limit headers, so that the next request keeps to the limit."""
        if exchange.operation not in COUNTED:
            return
        is_anonymous = is_open(exchange.operation, exchange.identity)
        bucket = ANONYMOUS if is_anonymous else bucket_of(exchange.request.token)
        remaining, reset = (
            limit_header(exchange.response.header, part) for part in ("remaining", "reset")
        )
        ends = exchange.at + timedelta(hours=1)
        if reset.isdecimal() and len(reset) < 11:  # noqa: PLR2004 - digits of Unix seconds
            ends = min(ends, moment_of(int(reset), exchange.at))
        if exchange.status == HTTPStatus.TOO_MANY_REQUESTS or (
            remaining == "0" and reset.isdecimal()
        ):
            self._limited_until[bucket] = ends

    def forget_later_than(self, now: datetime) -> None:
        """Drops ledger entries and limits later than the restored time of the deployment."""
        self._last = None  # else the interval to a later request would move the clock again
        self._limited_until.clear()
        self.ledger.forget_from(now)

    def _charge(self, token: str | None, *, is_restoring: bool, is_exhausting: bool) -> None:
        bucket = bucket_of(token)
        if not is_exhausting:
            now = self._time.now()
            limited = self._limited_until.get(bucket)
            if limited is not None and now < limited:
                self._pause(
                    limited, f"the deployment's limit for {_description(bucket)} is reached"
                )
            if not is_restoring:
                self._take(token, bucket)
                return
        self.ledger.add(bucket, self._time.now(), is_restoring=is_restoring)

    def _take(self, token: str | None, bucket: str) -> None:
        """Waits until the hour has a request left, and counts it.

        Raises:
            BudgetSpent: The wait would be longer than the run may pause.
        """
        reserve = 0 if token is None else RESERVE
        limit = self._limit(token)
        name = "anonymous" if token is None else "token"
        reason = (
            f"the hour's budget for {_description(bucket)} is used up ([budget] {name} = {limit})"
        )
        while not self.ledger.take(bucket, self._time.now(), limit, reserve):
            frees = self.ledger.frees(bucket) or self._time.now() + timedelta(hours=1)
            self._pause(frees, reason)

    def _limit(self, token: str | None) -> int:
        return self._hourly.anonymous if token is None else self._hourly.token

    def _pause(self, until: datetime, reason: str) -> None:
        span = until - self._time.now()
        if span > self.allowance.pause:
            msg = f"{reason}; {STARTS_AGAIN} {until:%H:%M:%S} UTC"
            raise BudgetSpent(msg)
        self._time.wait(span + timedelta(seconds=1))


STARTS_AGAIN: Final = "it starts again at"
"""Precedes, in a reason, the time from which the deployment accepts requests again."""

OPEN_KINDS = frozenset({"none", "invalid"})
"""Kinds of credentials that are counted as anonymous."""


def is_counted(place: Place) -> bool:
    """Returns True if the hourly limit counts a request; unknown paths of the API count too."""
    return place.operation in COUNTED or (place.site == "resource" and not place.operation)


def is_open(operation: str, identity: Identity) -> bool:
    """Returns True if a request is counted for the anonymous client."""
    return operation == QR_CODE or identity.kind in OPEN_KINDS


def _description(bucket: str) -> str:
    return "requests without a token" if bucket == ANONYMOUS else "this token"


CLIENT_ERRORS = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL, ValueError)
"""Errors of the HTTP client itself, such as for an illegal header value; nothing was sent."""

_SIGNAL_DELAY: Final = 0.2
"""Longest time, in seconds, that a signal waits for the main thread while a write is under way."""

GRACE: Final = timedelta(seconds=10)
"""Longest wait of an interrupted run for the response to a write that it has sent."""

TOGETHER: Final = "together"
"""Prefix of the names of threads that send requests at the same moment."""

UNDO = "undo"
"""The source of requests that restore what was changed."""

STATE = "state before a change"
"""The source of requests that read what a write is about to change."""

BOOKKEEPING = frozenset({UNDO, STATE})
"""The sources of requests that no probe, case or scenario sends."""

OnExchange = Callable[[Exchange], None]


class WriteObserver(Protocol):
    """Gets every write before it is sent, so that it can be undone."""

    def before_write(self, identity: Identity, place: Place, request: Request) -> None:
        """Reads the state that a write changes; raises a Refusal where it cannot be undone."""

    def on_write(self, identity: Identity, place: Place) -> None:
        """Records, right before a write is sent, that it has to be undone."""

    def restoring_requests(self, identity: Identity | None, place: Place | None) -> int:
        """Returns the number of requests that undoing takes, after one more write if one is named."""

    def covers(self, place: Place) -> bool:
        """Tells whether a write to another service changes something that can be undone."""


class Admitted(NamedTuple):
    """A request that may be sent, with its operation, its identity, and its number in the run."""

    request: Request
    place: Place
    identity: Identity
    number: int


@dataclass
class Gateway:
    """Sends requests to a deployment, as far as its target permits.

    Attributes:
        target: The deployment and its permissions.
        routes: Finds a request's operation.
        transport: The HTTP transport.
        time: The deployment's time.
        ledger: The count of the hour's requests.
        allowance: The requests and the time that the run may use.
        wording: Translates into the deployment's vocabulary; None if it uses the interface's.
        is_counting: Whether the requests of the hour are limited.
        listeners: Called with every exchange, in order.
        undo: Gets every write before it is sent.
        made: Ids of the avatars that this run uploaded.
        issued: Access tokens that were issued to this run.
        is_answered: False if the last request got no response.
        places: Where requests carry their credentials.
        budget: The requests and the time that are left.
    """

    target: Target
    routes: Routes
    transport: httpx.BaseTransport
    time: Time
    ledger: RequestLedger
    allowance: Allowance = field(default_factory=Allowance)
    wording: Wording | None = None
    is_counting: bool = True
    listeners: list[OnExchange] = field(default_factory=list)
    undo: WriteObserver | None = None
    made: set[str] = field(default_factory=set)
    issued: set[str] = field(default_factory=set)
    is_answered: bool = True
    places: CredentialPlaces = field(default_factory=CredentialPlaces)
    budget: RequestBudget = field(init=False)
    _late: Counter[str] = field(default_factory=Counter)
    _known: dict[str, Identity] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        """Makes the budget."""
        self.budget = RequestBudget(
            self.target.budget,
            self.time,
            self.ledger,
            self.allowance,
            is_counting=self.is_counting,
        )

    @property
    def sent(self) -> int:
        """The number of requests sent."""
        return self.budget.sent

    def learn(self, token: str, identity: Identity) -> None:
        """Remembers the identity of a token that was issued during the run."""
        self._known[token] = identity

    def with_token(self, request: Request, token: str) -> Request:
        """Returns a request with a credential, where its operation takes it."""
        return self.places.written(request, self._operation(request), token)

    def without_token(self, request: Request) -> Request:
        """Returns a request without its credential."""
        return self.places.without(request, self._operation(request))

    def is_outside_headers(self, request: Request) -> bool:
        """Tells whether a credential is sent in the query or in a cookie."""
        return any(it.location != "header" for it in self.places.of(self._operation(request)))

    def _operation(self, request: Request) -> Operation | None:
        return self.routes.operation(
            self.routes.find(request.method, request.url, request.headers).operation
        )

    def identify(self, request: Request) -> Identity:
        """Returns the identity of a request's credential."""
        token = self.places.token(request, self._operation(request))
        return self._known.get(token or "") or self.target.identify(token)

    def send(self, request: Request, source: str, *, is_exhausting: bool = False) -> Exchange:
        """Sends a request, and returns the exchange.

        Args:
            request: The request.
            source: The sender, for reports.
            is_exhausting: True if it is meant to use up the hourly limit, which needs permission.

        Raises:
            NotPermitted: The target's mode or permissions forbid it.
            BudgetSpent: The requests of the hour or of the run are used up.
            OutOfTime: The time of the run is used up.
            Unreachable: The deployment did not respond.
        """
        with self._lock:
            admitted = self._admit(request, source, is_exhausting=is_exhausting)
            is_write = self._is_write(admitted.request, admitted.identity)
            if is_write and threading.current_thread() is threading.main_thread():
                return self._send_whole(admitted, source)
            return self._announce(self._transmit(admitted, source))

    def _send_whole(self, admitted: Admitted, source: str) -> Exchange:
        """Sends a write, and waits for its response even if the run is interrupted meanwhile.

        An interrupt would close the connection, and the deployment could carry out the write after
        undoing has read the lists that it needs. Signals interrupt only the main thread, so another
        thread sends.
        """
        results: list[Exchange | BaseException] = []
        # a plain lock: a Condition stays locked after an interrupt within it
        under_way = threading.Lock()
        under_way.acquire()

        def send() -> None:
            try:
                results.append(self._transmit(admitted, source))
            except BaseException as error:  # raised again in the main thread
                results.append(error)
            under_way.release()

        try:
            threading.Thread(target=send, name="write", daemon=True).start()
            # a signal that comes just before a wait begins is handled only when that wait ends
            while not under_way.acquire(timeout=_SIGNAL_DELAY):
                pass
        except KeyboardInterrupt:
            if not results:
                under_way.acquire(timeout=GRACE.total_seconds())
            if results and isinstance(results[0], Exchange):
                self._announce(results[0])
            raise
        result = results[0]
        if isinstance(result, BaseException):
            raise result
        return self._announce(result)

    @staticmethod
    def _is_write(request: Request, identity: Identity) -> bool:
        """Tells whether a request may change an account."""
        return request.method not in SAFE and identity.account is not None

    def send_surely(self, request: Request, source: str) -> Exchange:
        """Sends a request, and once more if the server had closed the connection that was kept.

        Raises:
            Refusal: As of ``send``.
        """
        try:
            return self.send(request, source)
        except Unreachable as error:
            if isinstance(error.__cause__, httpx.TimeoutException):
                raise
            return self.send(request, source)

    def send_together(self, requests: Sequence[Request], source: str) -> list[Exchange]:
        """Sends requests at the same moment, each on a separate connection.

        Args:
            requests: The requests.
            source: The sender, for reports.

        Returns:
            The exchanges, in an order in which they can have been carried out.

        Raises:
            Refusal: As of ``send``, for any of the requests; then none is sent.
        """
        with self._lock:
            admitted = [
                self._admit(request, source, ahead=ahead) for ahead, request in enumerate(requests)
            ]
            with ThreadPoolExecutor(len(admitted), thread_name_prefix=TOGETHER) as pool:
                exchanges = list(pool.map(lambda item: self._transmit(item, source), admitted))
            numbered = zip(
                sorted(exchange.number for exchange in exchanges),
                in_order_of_effect(exchanges),
                strict=True,
            )
            return [self._announce(replace(each, number=number)) for number, each in numbered]

    def _admit(
        self, request: Request, source: str, *, is_exhausting: bool = False, ahead: int = 0
    ) -> Admitted:
        """Checks and counts a request that is about to be sent, after `ahead` others at once."""
        place = self.routes.find(request.method, request.url, request.headers)
        identity = self.identify(request)
        is_restoring = source == UNDO
        is_undoable = self.undo is not None and self.undo.covers(place)
        made = Made(self.made, len(self.issued) + ahead, is_undoable)
        reason = obstacle(request, place, identity, self.target, made, is_undo=is_restoring)
        if reason is not None:
            raise NotPermitted(reason)
        is_late = place.operation and self._late[place.operation] >= MOST_LATE
        if is_late and not is_restoring:
            msg = f"{MOST_LATE} requests to {place.operation} got no response in time"
            raise NotPermitted(msg)
        if is_exhausting and not self.target.permit.exhaust_rate_limit:
            msg = "provoking a 429 is not permitted: [permit] exhaust_rate_limit = true"
            raise NotPermitted(msg)
        is_write = self._is_write(request, identity)
        if not is_restoring:
            self._expect_undoable(request, place, identity if is_write else None)
        self.budget.spend(
            request, place, identity, is_restoring=is_restoring, is_exhausting=is_exhausting
        )
        if is_write and not is_restoring and self.undo is not None:
            self.undo.on_write(identity, place)
        return Admitted(request, place, identity, self.sent)

    def _announce(self, exchange: Exchange) -> Exchange:
        """Passes an exchange to every listener, and returns it."""
        self.issued |= issued_tokens([exchange])
        self.budget.heed(exchange)
        for listen in self.listeners:
            listen(exchange)
        return exchange

    def end(self) -> None:
        """Waits for a request under way, then refuses all others except those that undo changes."""
        with self._lock:
            self.budget.allowance = replace(self.budget.allowance, is_over=lambda: True)

    def put_time_back(self) -> list[str]:
        """Restores the deployment's clock, and drops ledger entries later than the restored time.

        Returns:
            One line for each thing that could not be restored.
        """
        if self.time.mock is None:
            return []
        moved = self.time.now()
        lines = self.time.mock.put_back()
        if self.time.now() < moved:
            self.budget.forget_later_than(self.time.now())
        return lines

    def _expect_undoable(self, request: Request, place: Place, writer: Identity | None) -> None:
        """Checks that a request leaves enough of the run's requests for undoing.

        Args:
            request: The request.
            place: Its operation and server.
            writer: The identity that writes; None for a request that changes no account.

        Raises:
            Refusal: Too few are left, or the state that it changes cannot be read or restored.
        """
        if self.undo is None:
            self.budget.expect_left(0)
            return
        if writer is None:
            self.budget.expect_left(self.undo.restoring_requests(None, None))
            return
        self.undo.before_write(writer, place, request)
        self.budget.expect_left(self.undo.restoring_requests(writer, place))

    def _transmit(self, admitted: Admitted, source: str) -> Exchange:
        request, place, identity, number = admitted
        if self.wording is not None:  # a followed link uses the deployment's vocabulary
            request = self.wording.original_request(request)
        at = self.time.now()
        response, wire = Response(0), None
        failure: httpx.HTTPError | None = None
        try:
            response, wire = self._receive(request, place.operation)
        except CLIENT_ERRORS as error:
            msg = f"the client cannot send this request: {type(error).__name__}: {error}"
            raise NotPermitted(msg) from error
        except httpx.HTTPError as error:
            failure = error
        exchange = Exchange(
            number=number,
            source=source,
            identity=identity,
            request=request,
            response=response,
            at=at,
            elapsed_ms=(self.time.now() - at).total_seconds() * 1000,
            wire=wire,
            **place._asdict(),
        )
        self.is_answered = failure is None
        if failure is not None:
            self._late[place.operation] += isinstance(failure, httpx.TimeoutException)
            msg = f"{request.method} {place.path}: {failure_in_words(failure, request.url)}"
            raise Unreachable(msg, exchange) from failure
        if place.operation == UPLOAD_AVATAR and isinstance(
            exchange.json_object.get("image_id"), str
        ):
            self.made.add(exchange.json_object["image_id"])
        return exchange

    def _receive(
        self, request: Request, operation: str
    ) -> tuple[Response, tuple[Request, Response] | None]:
        """Returns a response in the interface's vocabulary, and the exchange in the target's."""
        if self.wording is None:
            return self._received(request), None
        sent = self.wording.request(request, operation)
        response = received(self.transport, sent)
        return self.wording.response(response, operation), (sent, response)

    def _received(self, request: Request) -> Response:
        """Returns a response; reads from another service that closed the connection are repeated.

        A server may close a connection while a request is on its way (RFC 9112, 9.3.1), as some do
        after each failure. Only safe requests are repeated. A crash closes the next connection too,
        so that it is still reported.
        """
        try:
            return received(self.transport, request)
        except (httpx.ReadError, httpx.RemoteProtocolError):
            if self.is_counting or request.method not in SAFE:
                raise
            return received(self.transport, request)
