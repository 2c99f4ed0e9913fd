"""Reduces a response to how it relates to what its sender sent and read before.

Two deployments have other texts and identifiers, but at both what was written is read back, a list
grows by what was added, and what nobody changed stays as it was.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from understudy.drift.aspects import Aspects
from understudy.exchange.messages import Exchange
from understudy.verify.permits import SAFE
from understudy.verify.rate_limit_history import count_in, counted_alike

AS_SENT: Final = "as sent"
OTHERWISE: Final = "otherwise"
AS_BEFORE: Final = "as before"
CHANGED: Final = "changed"

COUNTED_REQUESTS: Final = "requests counted since the last one"
"""The relation of what is left of an hourly limit to what the request before left."""

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_ISSUED: Final = re.compile(r"(^|_)(id|hash|token|code)$")
"""Ends of the names of members whose values a deployment issues."""

_Key = tuple[object, ...]


def is_relation(aspect: str) -> bool:
    """Tells whether an aspect is a relation to what was sent or read before."""
    is_read = aspect.startswith("read back ") or aspect.endswith("since the last read")
    return is_read or aspect == COUNTED_REQUESTS


def relations(exchanges: Sequence[Exchange], run: Sequence[Exchange]) -> list[Aspects]:
    """Returns the relations of each response of one sender.

    Args:
        exchanges: The exchanges of the sender, in order.
        run: All exchanges of the run, as a write of another sender ends what can be related.
    """
    writes = [it.number for it in run if _is_write(it)]
    own = {it.number for it in exchanges}
    relating = _Relating([number for number in writes if number not in own])
    before = (None, *exchanges)
    return [
        {**dict(relating.of(exchange)), **dict(_counted(last, exchange))}
        for last, exchange in zip(before, exchanges, strict=False)
    ]


class _Relating:
    """Remembers what a sender sent and read.

    Args:
        disturbing: Numbers of the successful writes of other senders, in order.
    """

    def __init__(self, disturbing: Sequence[int]) -> None:
        self._disturbing = disturbing
        self._read: dict[_Key, Exchange] = {}
        self._written: dict[_Key, dict[str, tuple[int, Any]]] = {}

    def of(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        """Yields the relations of the next exchange."""
        if not exchange.response.is_success:
            return
        if exchange.request.method in SAFE:
            before = self._read.get(_key(exchange))
            if before is not None and self._is_undisturbed(before.number, exchange):
                yield from _since(before, exchange)
            self._read[_key(exchange)] = exchange
        else:
            self._note_written(exchange)
        for owner, members in _objects(exchange):
            written = self._written.get(owner, {})
            for name in written.keys() & members.keys():
                number, value = written[name]
                if self._is_undisturbed(number, exchange):
                    yield f"read back {name}", AS_SENT if value == members[name] else OTHERWISE

    def _note_written(self, exchange: Exchange) -> None:
        sent = exchange.request.json
        if isinstance(sent, dict):
            members = self._written.setdefault((exchange.identity.account, exchange.value), {})
            members |= {name: (exchange.number, value) for name, value in sent.items()}

    def _is_undisturbed(self, number: int, exchange: Exchange) -> bool:
        """Tells whether no other sender wrote since an exchange."""
        place = bisect_right(self._disturbing, number)
        return place == len(self._disturbing) or self._disturbing[place] > exchange.number


def _counted(before: Exchange | None, exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yields how many requests a limit counted since the one before, where none was in between."""
    if before is None or exchange.number != before.number + 1:
        return
    left, now = count_in(before), count_in(exchange)
    if left is None or now is None or not counted_alike(exchange, before):
        return
    if left.reset == now.reset:
        yield COUNTED_REQUESTS, str(left.remaining - now.remaining)


def _is_write(exchange: Exchange) -> bool:
    is_change = exchange.request.method not in SAFE and exchange.response.is_success
    return is_change and exchange.site == "resource"


def _key(exchange: Exchange) -> _Key:
    request = exchange.request
    return exchange.operation, exchange.values, exchange.identity.name, request.pairs


def _objects(exchange: Exchange) -> Iterator[tuple[_Key, Mapping[str, Any]]]:
    """Yields the objects of a response, each with whose it is: an avatar's, or the account's."""
    account, body = exchange.identity.account, exchange.body
    for item in body if isinstance(body, list) else [body]:
        if isinstance(item, dict):
            yield (account, str(item.get("image_id", ""))), item


def _since(before: Exchange, exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yields what became of a response since the same was read before."""
    if exchange.response.media_type.startswith("image/"):
        is_same = exchange.response.body == before.response.body
        yield "since the last read", AS_BEFORE if is_same else CHANGED
    if isinstance(exchange.body, list) and isinstance(before.body, list):
        yield "length since the last read", f"{len(exchange.body) - len(before.body):+d}"
    for name, value in exchange.json_object.items():
        if name in before.json_object and _is_lasting(name, value):
            is_same = value == before.json_object[name]
            yield f"{name} since the last read", AS_BEFORE if is_same else CHANGED


def _is_lasting(name: str, value: Any) -> bool:
    """Tells whether a value is a person's, and no date, address or identifier."""
    if _ISSUED.search(name):
        return False
    if isinstance(value, str):
        return "://" not in value and not _DATE.match(value)
    return isinstance(value, bool)
