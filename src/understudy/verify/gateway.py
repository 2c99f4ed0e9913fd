"""The one way onto the wire: it permits, counts, paces, journals, and hands over what came.

Everything goes through here, Schemathesis's own probes too, because filters above the transport
leak (a tool that was told to send no writes sent twenty-six). What is not permitted is not sent.
"""

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import httpx

from understudy.deployments.clock import Time
from understudy.deployments.exchange import Exchange, Identity, Request, Response, headers_of
from understudy.deployments.ledger import ANONYMOUS, Ledger, bucket_of
from understudy.deployments.permits import SAFE
from understudy.deployments.permits import fault as fault_of
from understudy.deployments.refusals import BudgetSpent, NotPermitted, OutOfTime, Unreachable
from understudy.deployments.target import Target
from understudy.interface.operations import COUNTED, QR_CODE, UPLOAD_AVATAR, Place, Routes

TOO_MANY = 429
RESERVE = 6
"""Counted requests of a token that are kept for putting things back."""

TIMEOUT = httpx.Timeout(30.0)
"""Seconds that a deployment has for each step of an answer."""

LARGEST = 32 * 2**20
"""Bytes of an answer; what goes on is cut."""

UNDO = "undo"
"""The source of what looks at things before they are changed, and puts them back."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a run may use.

    Attributes:
        requests: In all; None for no limit but the hour's.
        is_over: Tells whether its time is used up: the machine's, as the deployment's can be moved.
        pause: How long a pause for the hour's limit may be.
        interval: The least time between two requests.
    """

    requests: int | None = None
    is_over: Callable[[], bool] = lambda: False
    pause: timedelta = timedelta(0)
    interval: timedelta = timedelta(0)


Listen = Callable[[Exchange], None]
BeforeWrite = Callable[[Identity, Place, Request], None]
OnWrite = Callable[[Identity, Place], None]


@dataclass
class Gateway:
    """Sends requests to a deployment, as far as its target permits.

    Attributes:
        target: What is permitted.
        routes: Finds a request's operation.
        transport: The wire.
        time: The deployment's time.
        ledger: The count of the hour.
        allowance: What the run may use.
        listeners: Get every exchange, in order.
        before_write: Called before a write is sent, to record what stands there.
        on_write: Called when it is permitted and paid for, and leaves.
        made: Avatars that this run uploaded.
        sent: Requests so far.
    """

    target: Target
    routes: Routes
    transport: httpx.BaseTransport
    time: Time
    ledger: Ledger
    allowance: Allowance = field(default_factory=Allowance)
    listeners: list[Listen] = field(default_factory=list)
    before_write: BeforeWrite | None = None
    on_write: OnWrite | None = None
    made: set[str] = field(default_factory=set)
    sent: int = 0
    _known: dict[str, Identity] = field(default_factory=dict)
    _until: dict[str, datetime] = field(default_factory=dict)
    _last: datetime | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def learn(self, token: str, identity: Identity) -> None:
        """Remembers whose a token is that was issued during the run."""
        self._known[token] = identity

    def identify(self, request: Request) -> Identity:
        """Returns whom a request speaks for."""
        token = request.token
        return self._known.get(token or "") or self.target.identify(token)

    def send(self, request: Request, source: str, *, is_exhausting: bool = False) -> Exchange:
        """Sends a request, and returns what came of it.

        Args:
            request: What to send.
            source: Who wants it; stands in reports.
            is_exhausting: Whether it is meant to use up the limit; only where that is permitted.

        Raises:
            NotPermitted: The target's mode or permissions rule it out.
            BudgetSpent: The requests of the hour or of the run are used up.
            OutOfTime: The time of the run is.
            Unreachable: The deployment did not answer.
        """
        with self._lock:
            place = self.routes.find(request.method, request.url)
            identity = self.identify(request)
            is_undo = source == UNDO
            reason = fault_of(request, place, identity, self.target, self.made, is_undo=is_undo)
            if reason is not None:
                raise NotPermitted(reason)
            if is_exhausting and not self.target.permit.exhaust_rate_limit:
                msg = "provoking a 429 is not permitted: [permit] exhaust_rate_limit = true"
                raise NotPermitted(msg)
            is_write = request.method not in SAFE and identity.account is not None
            if is_write and source != UNDO and self.before_write is not None:
                self.before_write(identity, place, request)
            self._spend(request, place, source, is_exhausting=is_exhausting)
            if is_write and self.on_write is not None:
                self.on_write(identity, place)
            exchange = self._transmit(request, place, identity, source)
            self._heed(exchange)
            for listen in self.listeners:
                listen(exchange)
            return exchange

    def end(self) -> None:
        """Sends nothing any more but what puts things back, whoever still asks."""
        self.allowance = replace(self.allowance, is_over=lambda: True)

    def put_time_back(self) -> list[str]:
        """Makes the deployment's time as it stood, and returns what could not be.

        Hours that were counted ahead of it count no more.
        """
        if self.time.put_back is None:
            return []
        moved = self.time.now()
        left = self.time.put_back()
        if self.time.now() < moved:
            self._until.clear()
            self.ledger.forget_from(self.time.now())
        return left

    def left(self, token: str | None) -> int:
        """Returns how many counted requests a credential has left in the hour."""
        budget = self.target.budget
        whole = budget.anonymous if token is None else budget.token
        return whole - self.ledger.used(bucket_of(token), self.time.now())

    def _spend(self, request: Request, place: Place, source: str, *, is_exhausting: bool) -> None:
        now = self.time.now()
        allowance = self.allowance
        if source != UNDO:
            if allowance.is_over():
                msg = "the time of the run is used up (--max-time)"
                raise OutOfTime(msg)
            if allowance.requests is not None and self.sent >= allowance.requests:
                msg = f"the {allowance.requests} requests of the run are used up (--max-requests)"
                raise BudgetSpent(msg)
        if place.operation in COUNTED or (place.site == "resource" and not place.operation):
            for token in self._charged(request, place):
                self._charge(token, source, is_exhausting=is_exhausting)
        if self._last is not None and now - self._last < allowance.interval:
            self.time.wait(allowance.interval - (now - self._last))
        self._last = self.time.now()
        self.sent += 1

    def _charged(self, request: Request, place: Place) -> list[str | None]:
        """Returns whose budget a request is charged to: of two readings, both."""
        token = request.token
        is_open = place.operation == QR_CODE or self.identify(request).kind in {"none", "invalid"}
        return [None] if token is None or is_open else [token]

    def _charge(self, token: str | None, source: str, *, is_exhausting: bool) -> None:
        bucket = bucket_of(token)
        reserve = RESERVE if token is not None and source != UNDO else 0
        if not is_exhausting:
            now = self.time.now()
            limited = self._until.get(bucket)
            if limited is not None and now < limited:
                self._pause(limited, f"the deployment's limit for {_named(bucket)} is reached")
            if self.left(token) <= reserve:
                frees = self.ledger.frees(bucket) or now + timedelta(hours=1)
                self._pause(frees, f"the hour's budget for {_named(bucket)} is used up")
        self.ledger.add(bucket, self.time.now())

    def _pause(self, until: datetime, reason: str) -> None:
        span = until - self.time.now()
        if span > self.allowance.pause:
            msg = f"{reason}; it starts again at {until:%H:%M:%S} UTC"
            raise BudgetSpent(msg)
        self.time.wait(span + timedelta(seconds=1))

    def _transmit(
        self, request: Request, place: Place, identity: Identity, source: str
    ) -> Exchange:
        at = self.time.now()
        answer = Response(0)
        fault: Exception | None = None
        try:
            answer = self._answered(request)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            fault = error
        exchange = Exchange(
            number=self.sent,
            source=source,
            identity=identity,
            request=request,
            response=answer,
            at=at,
            operation=place.operation,
            site=place.site,
            path=place.path,
            values=place.values,
            elapsed_ms=(self.time.now() - at).total_seconds() * 1000,
        )
        if fault is not None:
            msg = f"{request.method} {place.path}: {type(fault).__name__}: {fault}"
            raise Unreachable(msg, exchange) from fault
        if place.operation == UPLOAD_AVATAR and isinstance(
            exchange.json_object.get("image_id"), str
        ):
            self.made.add(exchange.json_object["image_id"])
        return exchange

    def _answered(self, request: Request) -> Response:
        sending = httpx.Request(
            request.method,
            request.url,
            headers=list(request.headers),
            content=request.body,
            extensions={"timeout": TIMEOUT.as_dict()},
        )
        response = self.transport.handle_request(sending)
        body = _body(response)
        return Response(response.status_code, headers_of(response.headers.multi_items()), body)

    def _heed(self, exchange: Exchange) -> None:
        """Reads what the deployment says of its limits, so that the next request keeps to it."""
        if exchange.operation not in COUNTED:
            return
        is_open = exchange.operation == QR_CODE or exchange.identity.kind in {"none", "invalid"}
        bucket = ANONYMOUS if is_open else bucket_of(exchange.request.token)
        reset = exchange.response.header("x-ratelimit-reset")
        remaining = exchange.response.header("x-ratelimit-remaining")
        ends = exchange.at + timedelta(hours=1)
        if reset.isdecimal() and len(reset) < 11:  # noqa: PLR2004 - digits of Unix seconds
            ends = min(ends, datetime.fromtimestamp(int(reset), exchange.at.tzinfo))
        if exchange.status == TOO_MANY or (remaining == "0" and reset.isdecimal()):
            self._until[bucket] = ends


def _body(response: httpx.Response) -> bytes:
    """Returns an answer's body.

    Raises:
        httpx.ReadError: It goes on and on.
    """
    body = bytearray()
    with closing(response):
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > LARGEST:
                msg = f"the answer is larger than {LARGEST // 2**20} MiB and was cut"
                raise httpx.ReadError(msg)
    return bytes(body)


def _named(bucket: str) -> str:
    return "requests without a token" if bucket == ANONYMOUS else "this token"
