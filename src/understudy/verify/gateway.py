"""Sends every request of a run: checks permission, counts, paces, and announces the exchange.

Everything goes through here, Schemathesis's own probes too, because filters above the transport
leak (a tool that was told to send no writes sent twenty-six).
"""

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import httpx

from understudy.deployments.allowance import Allowance
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
"""Counted requests of a token that are reserved for undoing changes."""

TIMEOUT = httpx.Timeout(30.0)
"""Timeout of each read of a response."""

LARGEST = 32 * 2**20
"""Bytes of a response body; a larger one is cut."""

UNDO = "undo"
"""The source of requests that read the state before a change and restore it."""


OnExchange = Callable[[Exchange], None]
BeforeWrite = Callable[[Identity, Place, Request], None]
OnWrite = Callable[[Identity, Place], None]


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
        listeners: Called with every exchange, in order.
        before_write: Called before a write, to record the state that it changes.
        on_write: Called right before a permitted and counted write is sent.
        made: Ids of the avatars that this run uploaded.
        sent: The number of requests sent.
    """

    target: Target
    routes: Routes
    transport: httpx.BaseTransport
    time: Time
    ledger: Ledger
    allowance: Allowance = field(default_factory=Allowance)
    listeners: list[OnExchange] = field(default_factory=list)
    before_write: BeforeWrite | None = None
    on_write: OnWrite | None = None
    made: set[str] = field(default_factory=set)
    sent: int = 0
    _known: dict[str, Identity] = field(default_factory=dict)
    _until: dict[str, datetime] = field(default_factory=dict)
    _last: datetime | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def learn(self, token: str, identity: Identity) -> None:
        """Remembers the identity of a token that was issued during the run."""
        self._known[token] = identity

    def identify(self, request: Request) -> Identity:
        """Returns the identity of a request's token."""
        token = request.token
        return self._known.get(token or "") or self.target.identify(token)

    def send(self, request: Request, source: str, *, is_exhausting: bool = False) -> Exchange:
        """Sends a request, and returns the exchange.

        Args:
            request: The request.
            source: The sender, for reports.
            is_exhausting: True if it is meant to use up the hourly limit, which needs permission.

        Raises:
            NotPermitted: The target's mode or permissions rule it out.
            BudgetSpent: The requests of the hour or of the run are used up.
            OutOfTime: The time of the run is used up.
            Unreachable: The deployment did not respond.
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
        """Refuses every further request except those that undo changes."""
        self.allowance = replace(self.allowance, is_over=lambda: True)

    def put_time_back(self) -> list[str]:
        """Restores the deployment's clock, and drops ledger entries later than the restored time.

        Returns:
            One line for each thing that could not be restored.
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
        """Returns the number of counted requests that a credential has left in the hour."""
        budget = self.target.budget
        limit = budget.anonymous if token is None else budget.token
        return limit - self.ledger.used(bucket_of(token), self.time.now())

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
        """Returns the tokens whose budget a request is charged to; None for the anonymous budget."""
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
                self._pause(
                    limited, f"the deployment's limit for {_description(bucket)} is reached"
                )
            if self.left(token) <= reserve:
                frees = self.ledger.frees(bucket) or now + timedelta(hours=1)
                self._pause(frees, f"the hour's budget for {_description(bucket)} is used up")
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
        response = Response(0)
        failure: Exception | None = None
        try:
            response = self._receive(request)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            failure = error
        exchange = Exchange(
            number=self.sent,
            source=source,
            identity=identity,
            request=request,
            response=response,
            at=at,
            operation=place.operation,
            site=place.site,
            path=place.path,
            values=place.values,
            elapsed_ms=(self.time.now() - at).total_seconds() * 1000,
        )
        if failure is not None:
            msg = f"{request.method} {place.path}: {type(failure).__name__}: {failure}"
            raise Unreachable(msg, exchange) from failure
        if place.operation == UPLOAD_AVATAR and isinstance(
            exchange.json_object.get("image_id"), str
        ):
            self.made.add(exchange.json_object["image_id"])
        return exchange

    def _receive(self, request: Request) -> Response:
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
        """Reads the rate-limit headers, so that the next request keeps to the limit."""
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
    """Returns a response's body.

    Raises:
        httpx.ReadError: It is too large.
    """
    body = bytearray()
    with closing(response):
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > LARGEST:
                msg = f"the response is larger than {LARGEST // 2**20} MiB and was cut"
                raise httpx.ReadError(msg)
    return bytes(body)


def _description(bucket: str) -> str:
    return "requests without a token" if bucket == ANONYMOUS else "this token"
