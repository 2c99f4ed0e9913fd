"""Finds where two deployments differ, and leaves out what differs from run to run anyway."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from understudy.drift.aspects import DECISIVE, Aspects, aspects, is_personal
from understudy.drift.relations import relations
from understudy.exchange.messages import Exchange
from understudy.interface.operations import TOKEN, TOKEN_INFO
from understudy.verify.gateway import BOOKKEEPING

ABSENT = "absent"

_BROWSED: Final = frozenset({"GET", "POST"})
"""The methods by which a browser gets pages and sends forms."""

_CALLED: Final = frozenset(name.partition(" ")[2] for name in (TOKEN, TOKEN_INFO))
"""The paths of the authorization server that applications call, and no browser opens."""

DifferenceKey = tuple[int, int, str]
"""The numbers of the two exchanges of a difference, and its aspect."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An aspect of the response to one request that differs between two deployments.

    Attributes:
        aspect: The name of the aspect.
        ours: Its value at the deployment, in both runs.
        theirs: Its value at the other deployment.
        exchange: The exchange with the deployment.
        other: The exchange with the other deployment.
        is_of_second_run: True if the exchange is of the second run, where only that one shows it.
    """

    aspect: str
    ours: str
    theirs: str
    exchange: Exchange
    other: Exchange
    is_of_second_run: bool = False

    @property
    def key(self) -> DifferenceKey:
        """The key of the difference among those of a comparison."""
        return self.exchange.number, self.other.number, self.aspect


class Compared(NamedTuple):
    """The exchanges of one request with a deployment, there again, and with another one.

    Attributes:
        first: The exchange with the deployment.
        second: The exchange of the second run there.
        other: The exchange with the other deployment.
        related: How the three relate to what their sender sent and read before.
    """

    first: Exchange
    second: Exchange
    other: Exchange
    related: tuple[Aspects, Aspects, Aspects] = ({}, {}, {})


def compared(
    first: Sequence[Exchange], second: Sequence[Exchange], other: Sequence[Exchange]
) -> Iterator[Compared]:
    """Yields the exchanges of three runs that can be compared.

    Those are of the requests of a sender in their order, as long as all three runs send the same:
    after a response that differs a sender may go on otherwise.

    Args:
        first: The exchanges with the deployment.
        second: The exchanges of a second run there.
        other: The exchanges with the other deployment.
    """
    again, theirs = _by_sender(second), _by_sender(other)
    for sender, exchanges in _by_sender(first).items():
        rows = zip(exchanges, again.get(sender, ()), theirs.get(sender, ()), strict=False)
        related = zip(
            relations(exchanges, first),
            relations(again.get(sender, ()), second),
            relations(theirs.get(sender, ()), other),
            strict=False,
        )
        for (one, two, three), relating in zip(rows, related, strict=True):
            if not _place(one) == _place(two) == _place(three):
                break
            yield Compared(one, two, three, relating)


def differences(exchanges: Compared, *, are_people_alike: bool = False) -> Iterator[Difference]:
    """Yields the stable differences of one request: what differs from run to run is noise.

    Args:
        exchanges: The exchanges of the request.
        are_people_alike: True if both have the same people: then their members count too.
    """
    one, two, three, (related, related_again, related_there) = exchanges
    ours, again, theirs = aspects(one), aspects(two), aspects(three)
    for aspect in dict.fromkeys((*ours, *theirs)):
        values = ours.get(aspect, ABSENT), theirs.get(aspect, ABSENT)
        is_noise = again.get(aspect, ABSENT) != values[0]
        if is_noise or values[0] == values[1]:
            continue
        if not are_people_alike and ABSENT in values and is_personal(one, aspect):
            continue
        yield Difference(aspect, *values, one, three)
        if aspect in DECISIVE:
            return
    for aspect in related.keys() & related_again.keys() & related_there.keys():
        is_stable = related[aspect] == related_again[aspect]
        if is_stable and related[aspect] != related_there[aspect]:
            yield Difference(aspect, related[aspect], related_there[aspect], one, three)


def senders(exchanges: Sequence[Exchange]) -> frozenset[str]:
    """Returns the senders whose requests can be compared."""
    return frozenset(_by_sender(exchanges))


def _by_sender(exchanges: Sequence[Exchange]) -> dict[str, list[Exchange]]:
    senders: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        if exchange.source not in BOOKKEEPING and not _is_page(exchange):
            senders.setdefault(exchange.source, []).append(exchange)
    return senders


def _is_page(exchange: Exchange) -> bool:
    """Tells whether a person would see a page: how people sign in differs and is not described."""
    is_of_browser = (
        exchange.site == "authorization"
        and not exchange.operation
        and exchange.request.method in _BROWSED
        and exchange.path not in _CALLED
    )
    return is_of_browser and not _leads_to_client(exchange)


def _leads_to_client(exchange: Exchange) -> bool:
    """Tells whether a browser gets what a client waits for: a code, a token or an error."""
    return not {"code", "access_token", "error"}.isdisjoint(exchange.redirect_parameters)


def _place(exchange: Exchange) -> tuple[str, str, str]:
    """Returns what two requests have in common that can be compared."""
    if _leads_to_client(exchange) and not exchange.operation:
        return "", "redirect to the client", ""
    return exchange.request.method, exchange.operation, exchange.identity.name
