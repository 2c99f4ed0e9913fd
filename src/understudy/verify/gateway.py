"""Sends every request of a run: checks permission, counts, paces, and announces the exchange.

Everything goes through here, Schemathesis's own probes too, because filters above the transport
leak (a tool that was configured to send no writes sent twenty-six).
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import httpx

from understudy.deployments.allowance import Allowance
from understudy.deployments.clock import Time
from understudy.deployments.ledger import RequestLedger
from understudy.deployments.permits import SAFE, Made
from understudy.deployments.permits import fault as fault_of
from understudy.deployments.receiving import received
from understudy.deployments.refusals import NotPermitted, Unreachable
from understudy.deployments.target import Target
from understudy.deployments.wording import Wording
from understudy.exchange.messages import Exchange, Identity, Request, Response
from understudy.interface.operations import UPLOAD_AVATAR, Place, Routes
from understudy.verify.history import issued_tokens
from understudy.verify.request_budget import RequestBudget
from understudy.verify.simultaneous import in_order_of_effect

CLIENT_ERRORS = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL, ValueError)
"""Errors of the client's own, such as an illegal header value; the deployment got no request."""

UNDO = "undo"
"""The source of requests that restore what was changed."""

STATE = "state before a change"
"""The source of requests that read what a write is about to change."""

BOOKKEEPING = frozenset({UNDO, STATE})
"""The sources of requests that no probe, case or scenario sends."""

OnExchange = Callable[[Exchange], None]


class WriteObserver(Protocol):
    """Learns of every write before it is sent, so that it can be undone."""

    def before_write(self, identity: Identity, place: Place, request: Request) -> None:
        """Reads the state that a write changes; raises a Refusal where it cannot be undone."""

    def on_write(self, identity: Identity, place: Place) -> None:
        """Records, right before a write is sent, that it has to be undone."""

    def restoring_requests(self, identity: Identity | None, place: Place | None) -> int:
        """Returns the number of requests that undoing takes, after one more write if one is named."""

    def covers(self, place: Place) -> bool:
        """Tells whether what a write to another service changes is known, and how to undo it."""


class Admitted(NamedTuple):
    """A request that may be sent, where it goes, whose it is, and its number in the run."""

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
        wording: Translates into the deployment's words; None where it uses the interface's.
        listeners: Called with every exchange, in order.
        undo: Learns of every write before it is sent.
        made: Ids of the avatars that this run uploaded.
        issued: Access tokens that this run had issued.
        budget: The requests and the time that are left.
    """

    target: Target
    routes: Routes
    transport: httpx.BaseTransport
    time: Time
    ledger: RequestLedger
    allowance: Allowance = field(default_factory=Allowance)
    wording: Wording | None = None
    listeners: list[OnExchange] = field(default_factory=list)
    undo: WriteObserver | None = None
    made: set[str] = field(default_factory=set)
    issued: set[str] = field(default_factory=set)
    budget: RequestBudget = field(init=False)
    _known: dict[str, Identity] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        """Starts to count."""
        self.budget = RequestBudget(self.target.budget, self.time, self.ledger, self.allowance)

    @property
    def sent(self) -> int:
        """The number of requests sent."""
        return self.budget.sent

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
            admitted = self._admit(request, source, is_exhausting=is_exhausting)
            return self._announce(self._transmit(admitted, source))

    def send_together(self, requests: Sequence[Request], source: str) -> list[Exchange]:
        """Sends requests at the same moment, each on a connection of its own.

        Args:
            requests: The requests.
            source: The sender, for reports.

        Returns:
            The exchanges, in an order in which they can have been carried out.

        Raises:
            Refusal: As of ``send``; nothing is sent before all may be.
        """
        with self._lock:
            admitted = [
                self._admit(request, source, ahead=ahead) for ahead, request in enumerate(requests)
            ]
            with ThreadPoolExecutor(len(admitted)) as pool:
                exchanges = list(pool.map(lambda each: self._transmit(each, source), admitted))
            numbered = zip(
                sorted(exchange.number for exchange in exchanges),
                in_order_of_effect(exchanges),
                strict=True,
            )
            return [self._announce(replace(each, number=number)) for number, each in numbered]

    def _admit(
        self, request: Request, source: str, *, is_exhausting: bool = False, ahead: int = 0
    ) -> Admitted:
        """Checks and counts a request that is about to be sent, `ahead` others before it."""
        place = self.routes.find(request.method, request.url)
        identity = self.identify(request)
        is_restoring = source == UNDO
        is_undoable = self.undo is not None and self.undo.covers(place)
        made = Made(self.made, len(self.issued) + ahead, is_undoable)
        reason = fault_of(request, place, identity, self.target, made, is_undo=is_restoring)
        if reason is not None:
            raise NotPermitted(reason)
        if is_exhausting and not self.target.permit.exhaust_rate_limit:
            msg = "provoking a 429 is not permitted: [permit] exhaust_rate_limit = true"
            raise NotPermitted(msg)
        is_write = request.method not in SAFE and identity.account is not None
        if not is_restoring:
            self._expect_undoable(request, place, identity if is_write else None)
        self.budget.spend(
            request, place, identity, is_restoring=is_restoring, is_exhausting=is_exhausting
        )
        if is_write and not is_restoring and self.undo is not None:
            self.undo.on_write(identity, place)
        return Admitted(request, place, identity, self.sent)

    def _announce(self, exchange: Exchange) -> Exchange:
        """Tells every listener of an exchange, and returns it."""
        self.issued |= issued_tokens([exchange])
        self.budget.heed(exchange)
        for listen in self.listeners:
            listen(exchange)
        return exchange

    def end(self) -> None:
        """Refuses every further request except those that undo changes."""
        self.budget.allowance = replace(self.budget.allowance, is_over=lambda: True)

    def put_time_back(self) -> list[str]:
        """Restores the deployment's clock, and drops ledger entries later than the restored time.

        Returns:
            One line for each thing that could not be restored.
        """
        if self.time.put_back is None:
            return []
        moved = self.time.now()
        lines = self.time.put_back()
        if self.time.now() < moved:
            self.budget.forget_later_than(self.time.now())
        return lines

    def left(self, token: str | None) -> int:
        """Returns the number of counted requests that a credential has left in the hour."""
        return self.budget.left(token)

    def _expect_undoable(self, request: Request, place: Place, writer: Identity | None) -> None:
        """Makes sure that a request leaves enough of the run's requests for undoing.

        Args:
            request: The request.
            place: Its operation and server.
            writer: The identity that writes; None for a request that changes no account.

        Raises:
            Refusal: It does not, or the state that it changes cannot be read or restored.
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
        if self.wording is not None:  # a link that was followed is in the deployment's words
            request = self.wording.original_request(request)
        at = self.time.now()
        response, wire = Response(0), None
        failure: Exception | None = None
        try:
            response, wire = self._receive(request)
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
            operation=place.operation,
            site=place.site,
            path=place.path,
            values=place.values,
            elapsed_ms=(self.time.now() - at).total_seconds() * 1000,
            wire=wire,
        )
        if failure is not None:
            msg = f"{request.method} {place.path}: {type(failure).__name__}: {failure}"
            raise Unreachable(msg, exchange) from failure
        if place.operation == UPLOAD_AVATAR and isinstance(
            exchange.json_object.get("image_id"), str
        ):
            self.made.add(exchange.json_object["image_id"])
        return exchange

    def _receive(self, request: Request) -> tuple[Response, tuple[Request, Response] | None]:
        """Returns a response in the interface's words, and both sides in the deployment's."""
        if self.wording is None:
            return received(self.transport, request), None
        sent = self.wording.request(request)
        response = received(self.transport, sent)
        return self.wording.response(response), (sent, response)
