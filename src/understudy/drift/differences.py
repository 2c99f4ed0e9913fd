"""Finds where two deployments differ, and leaves out what differs from run to run anyway."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from understudy.deployments.exchange import Exchange
from understudy.drift.aspects import DECISIVE, Aspects, aspects, is_personal
from understudy.verify.gateway import BOOKKEEPING

ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Difference:
    """An aspect of the response to one request that differs between two deployments.

    Attributes:
        aspect: The name of the aspect.
        ours: Its value at the deployment, in both runs.
        theirs: Its value at the other deployment.
        exchange: The exchange with the deployment.
        other: The exchange with the other deployment.
    """

    aspect: str
    ours: str
    theirs: str
    exchange: Exchange
    other: Exchange


def differences(
    first: Sequence[Exchange], second: Sequence[Exchange], other: Sequence[Exchange]
) -> Iterator[Difference]:
    """Yields the stable differences between a deployment and another.

    The requests of a sender are compared in their order, as long as all three runs send the same:
    after a response that differs a sender may go on otherwise.

    Args:
        first: The exchanges with the deployment.
        second: The exchanges of a second run there: what differs from the first is noise.
        other: The exchanges with the other deployment.
    """
    repeated, compared = _by_sender(second), _by_sender(other)
    for sender, exchanges in _by_sender(first).items():
        triples = zip(exchanges, repeated.get(sender, ()), compared.get(sender, ()), strict=False)
        for one, two, three in triples:
            if not _place(one) == _place(two) == _place(three):
                break
            yield from _between(one, aspects(two), three)


def compared_requests(first: Sequence[Exchange], other: Sequence[Exchange]) -> int:
    """Returns the number of requests that both deployments got from the same senders."""
    theirs = _by_sender(other)
    return sum(min(len(own), len(theirs.get(it, ()))) for it, own in _by_sender(first).items())


def _between(one: Exchange, again: Aspects, three: Exchange) -> Iterator[Difference]:
    ours, theirs = aspects(one), aspects(three)
    for aspect in dict.fromkeys((*ours, *theirs)):
        values = ours.get(aspect, ABSENT), theirs.get(aspect, ABSENT)
        is_noise = again.get(aspect, ABSENT) != values[0]
        if is_noise or values[0] == values[1]:
            continue
        if ABSENT in values and is_personal(one, aspect):
            continue
        yield Difference(aspect, *values, one, three)
        if aspect in DECISIVE:
            return


def _by_sender(exchanges: Sequence[Exchange]) -> dict[str, list[Exchange]]:
    senders: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        if exchange.source not in BOOKKEEPING:
            senders.setdefault(exchange.source, []).append(exchange)
    return senders


def _place(exchange: Exchange) -> tuple[str, str, str]:
    return exchange.request.method, exchange.operation, exchange.identity.name
