"""Finds responses that a deployment repeats although the requests differ, or after a change.

A cache with too few parts in its key, a stale replica or a gateway that mixes up callers is one
fault that breaks many rules. A guess names the part of a request that the response depends on.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from understudy.exchange.messages import Exchange


class Guess(NamedTuple):
    """A guess that the responses to reads depend on some parts of the request alone.

    Attributes:
        id: Name in reports.
        statement: One sentence on the behaviour.
        parts: Return the parts that the response depends on.
    """

    id: str
    statement: str
    parts: tuple[Callable[[Exchange], object], ...]

    def key(self, exchange: Exchange) -> tuple[object, ...] | None:
        """Returns the parts of a request; None for one that is no read."""
        is_read = exchange.request.method == "GET"
        return (exchange.site, *(part(exchange) for part in self.parts)) if is_read else None


def _caller(exchange: Exchange) -> object:
    return exchange.request.header("authorization")


_PATH, _OPERATION, _QUERY = map(attrgetter, ("path", "operation", "request.pairs"))

GUESSES: Final = {
    it.id: it
    for it in (
        Guess(
            "repeated-for-operation",
            "A read gets the response of an earlier one of the same operation by the same caller, "
            "whoever it is about.",
            (_OPERATION, _QUERY, _caller),
        ),
        Guess(
            "repeated-for-path",
            "A read gets the response of an earlier one of the same path, whoever asks and whatever the "
            "parameters are.",
            (_PATH,),
        ),
        Guess(
            "repeated-for-url",
            "A read gets the response of an earlier one of the same URL, whoever asks.",
            (_PATH, _QUERY),
        ),
        Guess(
            "repeated-for-caller",
            "A read gets the response of an earlier one by the same caller, whatever the parameters are.",
            (_PATH, _caller),
        ),
        Guess(
            "repeated-after-change",
            "A read gets the response of the same read before a change.",
            (_PATH, _QUERY, _caller),
        ),
    )
}
"""The guesses by their names, from the widest to the narrowest."""


def content_of(exchange: Exchange) -> tuple[int, bytes]:
    """Returns the status and the body of a response."""
    return exchange.status, exchange.response.body


def neighbours(exchanges: Iterable[Exchange], guess: Guess) -> Iterator[tuple[Exchange, Exchange]]:
    """Yields each request after the previous one with the same key, from the first success on."""
    latest: dict[object, Exchange] = {}
    for exchange in exchanges:
        key = guess.key(exchange)
        if key in latest:
            yield latest[key], exchange
        if key is not None and (key in latest or exchange.response.is_success):
            latest[key] = exchange


def alike_of(exchanges: Iterable[Exchange], guess: Guess) -> dict[int, Sequence[Exchange]]:
    """Returns, by the number of an exchange, all with its key and the same response, in order."""
    alike = defaultdict[object, list[Exchange]](list)
    for exchange in exchanges:
        key = guess.key(exchange)
        if key is not None:
            alike[key, content_of(exchange)].append(exchange)
    return {it.number: same for same in alike.values() for it in same}
