"""Counts and paces the requests of a run, and keeps enough of them for undoing its changes."""

from datetime import datetime, timedelta

from understudy.deployments.allowance import Allowance
from understudy.deployments.clock import Time
from understudy.deployments.ledger import ANONYMOUS, RequestLedger, bucket_of
from understudy.deployments.refusals import BudgetSpent, OutOfTime
from understudy.deployments.target import Budget
from understudy.exchange.messages import Exchange, Identity, Request
from understudy.interface.limit_headers import limit_header
from understudy.interface.operations import COUNTED, QR_CODE, Place

TOO_MANY = 429
RESERVE = 6
"""Counted requests of a token that each hour keeps for undoing changes."""


class RequestBudget:
    """The requests and the time that a run has left.

    Restoring requests are counted like all others, but refused only where the deployment itself
    has announced that its limit is reached: what a run has changed is undone even if that takes
    more than was allowed.

    Args:
        hourly: Counted requests per hour.
        time: The deployment's time.
        ledger: The count of the hour's requests.
        allowance: The requests and the time that the run may use.
    """

    def __init__(
        self, hourly: Budget, time: Time, ledger: RequestLedger, allowance: Allowance
    ) -> None:
        self.allowance = allowance
        self.ledger = ledger
        self.sent = 0
        self._hourly = hourly
        self._time = time
        self._limited_until: dict[str, datetime] = {}
        self._last: datetime | None = None

    def left(self, token: str | None) -> int:
        """Returns the number of counted requests that a credential has left in the hour."""
        return self._limit(token) - self.ledger.used(bucket_of(token), self._time.now())

    def expect_left(self, reserved: int) -> None:
        """Makes sure that the run may send one more request, and undo its changes afterwards.

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
        if most is not None and self.sent + 1 + reserved > most:
            kept = f", {reserved} of them are kept for undoing changes" if reserved else ""
            msg = f"the {most} requests of the run are used up (--max-requests{kept})"
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
        if is_counted(place):
            token = None if is_open(place, identity) else request.token
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
        is_anonymous = exchange.operation == QR_CODE or exchange.identity.kind in OPEN_KINDS
        bucket = ANONYMOUS if is_anonymous else bucket_of(exchange.request.token)
        remaining, reset = (
            limit_header(exchange.response.header, part) for part in ("remaining", "reset")
        )
        ends = exchange.at + timedelta(hours=1)
        if reset.isdecimal() and len(reset) < 11:  # noqa: PLR2004 - digits of Unix seconds
            ends = min(ends, datetime.fromtimestamp(int(reset), exchange.at.tzinfo))
        if exchange.status == TOO_MANY or (remaining == "0" and reset.isdecimal()):
            self._limited_until[bucket] = ends

    def forget_later_than(self, now: datetime) -> None:
        """Drops everything that was noted later than the restored time of the deployment."""
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
        """Counts a request as soon as the hour has one left.

        Raises:
            BudgetSpent: That takes longer than the run may pause.
        """
        reserve = 0 if token is None else RESERVE
        while not self.ledger.take(bucket, self._time.now(), self._limit(token), reserve):
            frees = self.ledger.frees(bucket) or self._time.now() + timedelta(hours=1)
            self._pause(frees, f"the hour's budget for {_description(bucket)} is used up")

    def _limit(self, token: str | None) -> int:
        return self._hourly.anonymous if token is None else self._hourly.token

    def _pause(self, until: datetime, reason: str) -> None:
        span = until - self._time.now()
        if span > self.allowance.pause:
            msg = f"{reason}; it starts again at {until:%H:%M:%S} UTC"
            raise BudgetSpent(msg)
        self._time.wait(span + timedelta(seconds=1))


OPEN_KINDS = frozenset({"none", "invalid"})
"""Kinds of credentials that are counted as anonymous."""


def is_counted(place: Place) -> bool:
    """Returns True if the hourly limit counts a request; unknown paths of the API count too."""
    return place.operation in COUNTED or (place.site == "resource" and not place.operation)


def is_open(place: Place, identity: Identity) -> bool:
    """Returns True if a request is counted for the anonymous client."""
    return place.operation == QR_CODE or identity.kind in OPEN_KINDS


def _description(bucket: str) -> str:
    return "requests without a token" if bucket == ANONYMOUS else "this token"
