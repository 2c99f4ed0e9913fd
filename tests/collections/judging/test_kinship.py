"""What refers to an item is listed at the path below that item alone; nothing is below what was deleted."""

from pathlib import Path

import pytest
from tests.collections.judging.service import Service
from tests.collections.judging.verifying import target, verified

LABELLED = Path(__file__).parents[1] / "inference" / "labelled"


class Shop(Service):
    """Orders that are listed below their customer."""

    def identify(self, path):
        super().identify(path)
        return self.last

    def listed(self, who, path, query):
        *above, last = path.strip("/").split("/")
        items = super().listed(who, f"/{last}", query)
        return [it for it in items if not above or self.is_of(above[-1], it)]

    def is_of(self, customer, order):
        return str(order["customerId"]) == customer


class ListsTheOrdersOfEveryCustomer(Shop):
    def is_of(self, customer, order):
        return customer != "" or order


@pytest.mark.parametrize(("kind", "broken"), [(Shop, 0), (ListsTheOrdersOfEveryCustomer, 1)])
def test_an_order_of_another_customer_is_not_listed_below_a_customer(kind, broken):
    rules = ("inferred-parent-own",)
    outcome = verified(kind(), LABELLED / "shop.yaml", target(mode="full"), rules=rules)
    assert [it.exchange.operation for it in outcome.findings] == [
        "GET /customers/{}/orders"
    ] * broken
    assert {it.status for it in outcome.rules if it.rule.id in rules} == {
        "failed" if broken else "passed"
    }
