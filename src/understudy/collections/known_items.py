"""Keeps the expected state of the items of one collection, and judges responses about them.

The functions here send nothing: they get exchanges and the items in them. Each judgement names the
exchanges that it is based on, so that a finding shows only those.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from understudy.collections import rules
from understudy.collections.model import Steps, item_at
from understudy.exchange.messages import Exchange
from understudy.verify.checks import CheckResult, expect
from understudy.verify.item_undo import GONE
from understudy.verify.value_texts import as_json

# A service may add members, write an instant in another notation, or omit null members; none of these
# counts as a difference.

_SHOWN = 80
"""Largest number of characters of a value in a difference."""


def agrees(expected: Any, actual: Any) -> bool:
    """Tells whether a value that was read is compatible with the expected one."""
    if expected == actual and isinstance(expected, bool) == isinstance(actual, bool):
        return True
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(agrees(value, actual.get(name)) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(agrees, expected, actual))
    if isinstance(expected, str) and isinstance(actual, str):
        instant = _instant(expected)
        return instant is not None and instant == _instant(actual)
    return False


def differing(
    expected: Mapping[str, Any], actual: Mapping[str, Any], ignored: Iterable[str] = ()
) -> list[str]:
    """Returns the names of the members whose values differ from the expected ones."""
    left_out = set(ignored)
    return [
        name
        for name, value in expected.items()
        if name not in left_out and not agrees(value, actual.get(name))
    ]


def shown(members: Mapping[str, Any], names: Iterable[str]) -> str:
    """Returns the text of some members for a report; a missing one is named as missing."""
    return ", ".join(
        f"{name} {_shortened(as_json(members[name]))}" if name in members else f"no {name}"
        for name in names
    )


def _shortened(text: str) -> str:
    """Returns a long text without its middle, as services cut or trim texts at their ends."""
    if len(text) <= _SHOWN:
        return text
    return f"{text[: _SHOWN // 2]} … {text[-_SHOWN // 4 :]} ({len(text):,} characters)"


def _instant(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def objects_in(body: Any) -> Iterator[dict[str, Any]]:
    """Yields the objects of a body, alone or in a list, at the top or one level below."""
    parts = [body, *(body.values() if isinstance(body, dict) else ())]
    for part in parts:
        yield from (
            it for it in (part if isinstance(part, list) else [part]) if isinstance(it, dict)
        )


Judgement = tuple[str, CheckResult]
"""The id of a rule, and its check result."""


@dataclass
class KnownItem:
    """An item that a run created.

    Attributes:
        identifier: The identifier as text.
        value: The identifier in the type that the service uses.
        expected: The expected values of members that a client can set.
        writes: The exchanges that created and changed the item.
        cause: The rule that the next read tests; empty if the item was not written since the last.
        response: The item in the response to the last write; None without.
        last_read: The exchange that read the item last; None before.
        changes: Number of changes in the collection before the last read.
        is_gone: True if the item was deleted.
        is_lost: True if its state is unknown, as it was missing, or a change is processed later; then
            it is not judged any more.
    """

    identifier: str
    value: Any
    expected: dict[str, Any]
    writes: list[Exchange]
    cause: str = rules.CREATE_READABLE
    response: Mapping[str, Any] | None = None
    last_read: Exchange | None = None
    changes: int = 0
    is_gone: bool = False
    is_lost: bool = False

    @property
    def evidence(self) -> tuple[Exchange, ...]:
        """The exchanges that the expected values come from."""
        return (*self.writes, *([self.last_read] if self.last_read is not None else []))


def last_shown(item: KnownItem, identifier: str | None) -> Mapping[str, Any]:
    """Returns an item as the last response about it shows it; empty if that does not."""
    objects = objects_in(item.evidence[-1].body)
    return next((it for it in objects if str(it.get(identifier or "")) == item.identifier), {})


@dataclass
class ItemModel:
    """The items of a collection that a run created.

    Attributes:
        compared: The members that can be sent and read back.
        identifier: The member of an item that identifies it; None if only its path does, or what
            responses have around it.
        items: Identifier to item.
        lasting: The members that only the service sets, and never changes: the time of creation.
        volatile: Members that were observed to change without a write.
    """

    compared: frozenset[str]
    identifier: str | None
    lasting: frozenset[str] = frozenset()
    items: dict[str, KnownItem] = field(default_factory=dict)
    volatile: set[str] = field(default_factory=set)
    _changes: list[tuple[KnownItem, Exchange]] = field(default_factory=list)

    @property
    def present(self) -> list[KnownItem]:
        """The items that must exist, the oldest first."""
        return [it for it in self.items.values() if not (it.is_gone or it.is_lost)]

    @property
    def creations(self) -> list[Exchange]:
        """The exchanges that created the items that must exist."""
        return [it.writes[0] for it in self.present]

    def create(
        self,
        exchange: Exchange,
        value: Any,
        sent: Mapping[str, Any],
        body: Mapping[str, Any] | None,
    ) -> tuple[KnownItem, list[Judgement]]:
        """Adds a created item, and judges whether its identifier is new.

        Args:
            exchange: The creation.
            value: The identifier.
            sent: The sent members, by their names in the item.
            body: The item in the response; None if absent.
        """
        identifier = str(value)
        other = self.items.get(identifier)
        is_new = other is None or other.is_gone
        item = KnownItem(identifier, value, dict(sent), [exchange], response=body)
        item.changes = len(self._changes)
        self.items[identifier] = item
        evidence = () if other is None else other.writes[:1]
        actual = f"{self.identifier or 'the address'} is {identifier} again"
        result = expect(is_new, "an identifier that no other item has", actual, *evidence)
        return item, [(rules.CREATE_IDENTIFIER, result)]

    def put(
        self, exchange: Exchange, item: KnownItem, sent: Mapping[str, Any], body: Any = None
    ) -> None:
        """Replaces the expected members of an item; those that PUT left out become unknown."""
        self._change(exchange, item, rules.REPLACE_KEPT, body)
        item.expected = dict(sent)

    def patch(
        self, exchange: Exchange, item: KnownItem, sent: Mapping[str, Any], body: Any = None
    ) -> None:
        """Changes some of the expected members of an item."""
        self._change(exchange, item, rules.UPDATE_MERGED, body)
        item.expected |= sent

    def delete(self, exchange: Exchange, item: KnownItem) -> list[Judgement]:
        """Marks an item as deleted, or judges a second deletion."""
        if item.is_gone:
            actual = f"status {exchange.status}"
            expected = "status 404 or 410, as the item was deleted before"
            is_refused = not exchange.response.is_success
            return [(rules.DELETE_ONCE, expect(is_refused, expected, actual, *item.writes))]
        if exchange.response.is_success:
            self._change(exchange, item, "", None)
            item.is_gone = True
        return []

    def _change(self, exchange: Exchange, item: KnownItem, cause: str, body: Any) -> None:
        item.writes.append(exchange)
        item.cause = cause
        item.response = body if isinstance(body, Mapping) else None
        self._changes.append((item, exchange))

    def read(
        self, exchange: Exchange, item: KnownItem, body: Mapping[str, Any] | None
    ) -> list[Judgement]:
        """Judges the response to reading an item, and updates its expected members.

        Args:
            exchange: The exchange.
            item: The item.
            body: The item in the response; None if absent.
        """
        if item.is_gone:
            actual = f"status {exchange.status}"
            expected = "status 404 or 410, as the item was deleted"
            is_gone = not exchange.response.is_success
            return [(rules.DELETE_GONE, expect(is_gone, expected, actual, *item.writes))]
        if item.is_lost or not (exchange.response.is_success or exchange.status in GONE):
            return []
        cause, evidence = self._cause(item)
        if body is None or exchange.status in GONE:
            item.is_lost = True
            actual = f"status {exchange.status}, {'no item' if body is None else 'another item'}"
            return [
                (
                    cause,
                    CheckResult(holds=False, expected="the item", actual=actual, evidence=evidence),
                )
            ]
        judgements = list(self._compared(cause, evidence, item, body))
        item.expected = {n: body[n] for n in self.compared | self.lasting if n in body}
        item.cause, item.response = "", None
        item.last_read, item.changes = exchange, len(self._changes)
        return judgements

    def differs(self, item: KnownItem, body: Mapping[str, Any] | None) -> bool:
        """Tells whether an item that must exist is there, but not as expected."""
        is_judged = body is not None and not (item.is_gone or item.is_lost)
        return is_judged and bool(differing(item.expected, body or {}, self.volatile))

    def read_again(self, before: Exchange, again: Exchange, path: Steps | None) -> list[Judgement]:
        """Judges a read right after another, and remembers the members that differ.

        They change by themselves, so the first read says nothing of the write before it.

        Args:
            before: The first read.
            again: The second read.
            path: The place of the item in the responses.
        """
        first, second = (item_at(it.body, path) or {} for it in (before, again))
        first = {name: first[name] for name in self.compared & first.keys()}
        names = differing(first, second, self.volatile) if second else []
        self.volatile.update(names)
        wrong = f"{', '.join(names)} as read before"
        actual = f"{shown(second, names)}; before {shown(first, names)}"
        return [(rules.READ_REPEATABLE, expect(not names, wrong, actual, before))] if names else []

    def _compared(
        self, cause: str, evidence: tuple[Exchange, ...], item: KnownItem, body: Mapping[str, Any]
    ) -> Iterator[Judgement]:
        names = differing(item.expected, body, self.volatile)
        wrong = f"{', '.join(names) or 'the members'} as sent or read before"
        actual = f"{shown(body, names)}; before {shown(item.expected, names)}"
        # A service may normalise a value, such as an e-mail address to lower case.
        is_rewritten = all(_is_alike(item.expected.get(n), body.get(n)) for n in names)
        result = expect(not names, wrong, actual, *evidence)
        yield cause, result._replace(is_choice=bool(names) and is_rewritten)
        if cause == rules.READ_REPEATABLE:
            self.volatile.update(names)
        if item.response is None:
            return
        own = {n: v for n, v in item.response.items() if n in self.compared or n == self.identifier}
        left_out = {*self.volatile, *names}
        # A document may declare different types of the identifier in the two responses: 4 and "4".
        if self.identifier in own and str(own[self.identifier]) == str(body.get(self.identifier)):
            left_out.add(self.identifier)
        others = differing(own, body, left_out)
        wrong = f"{', '.join(others) or 'the members'} as in the response to the write"
        actual = f"{shown(body, others)}; in that response {shown(own, others)}"
        yield rules.CREATE_RESPONSE, expect(not others, wrong, actual, *evidence)

    def _cause(self, item: KnownItem) -> tuple[str, tuple[Exchange, ...]]:
        """Returns the rule that a read of an item tests, and the exchanges that it is based on."""
        if item.cause:
            return item.cause, item.evidence
        since = [(it, write) for it, write in self._changes[item.changes :] if it is not item]
        if not since:
            return rules.READ_REPEATABLE, item.evidence
        others = [exchange for it, write in since for exchange in (it.writes[0], write)]
        return rules.CHANGE_ISOLATED, (*item.evidence, *others)

    def listed(
        self, pages: Sequence[Exchange], identifiers: Sequence[str], *, is_whole: bool
    ) -> list[Judgement]:
        """Judges whether a list has each item once, no deleted items, and all created ones.

        Args:
            pages: The exchanges that read its pages.
            identifiers: The identifiers on the pages, in order.
            is_whole: Whether the list is complete and unfiltered.
        """
        names = set(filter(None, identifiers))
        twice = sorted({it for it in names if identifiers.count(it) > 1})
        judgements = [
            self._of_list(rules.LIST_ONCE, "each item once", "twice", twice, pages),
        ]
        gone = [it.identifier for it in self.items.values() if it.is_gone]
        if gone:
            still = [it for it in gone if it in names]
            expected = "no item that was deleted"
            judgements.append(self._of_list(rules.DELETE_GONE, expected, "still", still, pages))
        if is_whole and self.present and all(identifiers):
            missing = [it.identifier for it in self.present if it.identifier not in names]
            expected = "the items that were created"
            judgements.append(
                self._of_list(rules.CREATE_LISTED, expected, "missing", missing, pages)
            )
        return judgements

    def _of_list(
        self, rule: str, expected: str, word: str, wrong: Sequence[str], pages: Sequence[Exchange]
    ) -> Judgement:
        own = [self.items[it].writes for it in wrong if it in self.items][:1]
        evidence = (*(exchange for writes in own for exchange in writes), *pages)
        return rule, expect(not wrong, expected, f"{word}: {', '.join(wrong)}", *evidence)


def _is_alike(expected: Any, actual: Any) -> bool:
    """Tells whether two texts differ only in case and punctuation, or two numbers by rounding."""
    if isinstance(expected, str) and isinstance(actual, str):
        letters = {"".join(filter(str.isalnum, it)).lower() for it in (expected, actual)}
        return len(letters) == 1 and letters != {""}
    return (
        isinstance(expected, float)
        and isinstance(actual, int | float)
        and round(expected) == round(actual)
    )
