"""Orders exchanges that were sent at the same moment as they can have been carried out.

Checks judge an exchange by those before it. Of two requests at once either may have been first, so
they are put into the order that their responses speak for; where they speak for none, as after a
lost update, any order shows it.
"""

from collections.abc import Sequence

from understudy.exchange.messages import Exchange


def in_order_of_effect(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """Returns simultaneous exchanges in an order in which they can have been carried out.

    What succeeded comes before what was refused, and a response that shows the changes of other
    requests comes after theirs.
    """
    return sorted(
        exchanges,
        key=lambda exchange: (not exchange.response.is_success, _seen(exchange, exchanges)),
    )


def _seen(exchange: Exchange, exchanges: Sequence[Exchange]) -> int:
    """Returns how many changes of the other requests a response shows."""
    shown = exchange.json_object
    changes = [each.request.json for each in exchanges if each is not exchange]
    return sum(
        shown.get(name) == value
        for change in changes
        if isinstance(change, dict)
        for name, value in change.items()
    )
