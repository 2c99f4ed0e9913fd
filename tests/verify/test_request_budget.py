"""What a response says of the limit is heeded before the next request."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.verify.exchanges import exchange_of

from understudy.exchange.messages import Identity, Response
from understudy.interface.operations import LOOKUP, Place
from understudy.verify.clock import Time
from understudy.verify.deployment import Allowance
from understudy.verify.gateway import RequestBudget
from understudy.verify.ledger import Ledger
from understudy.verify.permits import BudgetSpent
from understudy.verify.target import Budget

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
IN_TEN_MINUTES = str(int((NOON + timedelta(minutes=10)).timestamp()))


@pytest.mark.parametrize("beginning", ["x-ratelimit", "ratelimit", "x-rate-limit"])
def test_a_limit_that_is_used_up_is_heeded_although_its_number_is_not_sent(beginning: str) -> None:
    time = Time(lambda: NOON, lambda _span: None)
    budget = RequestBudget(Budget(), time, Ledger(None, NOON), Allowance())
    headers = ((f"{beginning}-remaining", "0"), (f"{beginning}-reset", IN_TEN_MINUTES))
    exchange = exchange_of(
        "/profiles/ada", operation=LOOKUP, at=NOON, response=Response(200, headers)
    )
    budget.heed(exchange)
    with pytest.raises(BudgetSpent, match="starts again at 12:10:00 UTC"):
        budget.spend(
            exchange.request,
            Place(LOOKUP, "resource", "/profiles/ada", ("ada",)),
            Identity("anonymous", "none"),
            is_restoring=False,
            is_exhausting=False,
        )
