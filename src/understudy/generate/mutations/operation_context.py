"""What the makers of turns are told about an operation: its document, and what values mean there.

A schema says which texts are well-formed; only the interface's prose says that a well-formed slug
nobody has is a 404. A ``ValueSemantics`` carries that over to every value that a schema suggests.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from understudy.generate.cases import CaseKind, Expected, Location
from understudy.generate.drafts import Draft
from understudy.generate.edges import Choice
from understudy.generate.mutations.changes import Apply
from understudy.generate.mutations.mutation import OPEN, REFUSED, Mutation, rule
from understudy.generate.values import Values
from understudy.openapi.operations import Operation

LARGEST = 2**63 - 1
"""Of the integers that every reader can be expected to keep."""


class ValueSemantics(NamedTuple):
    """What the interface says to a value that the schema takes, and that is not a known one.

    Attributes:
        kind: What must follow.
        because: The rule that says so.
        statuses: Which statuses; empty for those of the kind.
        known: Values that mean what they should, and so are accepted.
        unclear: Values that may be taken for a known one, or not.
        longest: Bytes beyond which it is open what follows; None for no such bound.
    """

    kind: CaseKind
    because: str
    statuses: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    unclear: frozenset[str] = frozenset()
    longest: int | None = None


class ExpectedRefusal(NamedTuple):
    """How a slot's faults are told.

    Attributes:
        statuses: Any of these.
        location: What a redirect must hold.
    """

    statuses: tuple[str, ...] = REFUSED
    location: Location = ""


@dataclass(frozen=True)
class OperationContext:
    """An operation, and what is known of it.

    Attributes:
        operation: What the document says.
        values: Makes values for its schemas.
        base: The plain request that everything deviates from.
        accepted: What follows from a request that is accepted.
        meanings: Slot to what its values mean; of the slots that mean something.
        refusals: Slot to how its faults are told, where that is unusual.
        unread: Slots that other makers take care of.
        needed: Slots that must have a value, whatever the document says.
        empty: The rule by which an empty value counts as left out; nothing where it does not.
        repeated: The rule that refuses what is given twice; nothing where it is left open.
        is_ours: Whether the interface's prose is about it.
    """

    operation: Operation
    values: Values
    base: Draft
    accepted: Expected
    meanings: Mapping[str, ValueSemantics] = field(default_factory=dict)
    refusals: Mapping[str, ExpectedRefusal] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    empty: str = ""
    repeated: str = ""
    is_ours: bool = False

    def turn(self, slot: str, choice: Choice, apply: Apply, pointer: str) -> Mutation:
        """Returns the turn that gives a slot a value at the edge of its schema."""
        what = f"{name_of(slot)}: {choice.what}"
        because = f"{pointer}/{choice.keyword}"
        if self.empty and choice.value == "":
            make = self.refused if slot in self.needed else self.accepted_turn
            return make(slot, "empty", what, self.empty, rule(self.empty), apply)
        if not choice.is_valid:
            return self.refused(slot, choice.category, what, choice.keyword, because, apply)
        turn = self.accepted_turn(slot, choice.category, what, choice.keyword, because, apply)
        held = choice.value if isinstance(choice.value, list) else [choice.value]
        if any(isinstance(value, int) and abs(value) > LARGEST for value in held):
            return turn._replace(kind="open", statuses=OPEN, because="RFC 8259, 6")
        turn = turn._replace(is_option=choice.is_option)
        meaning = self.meanings.get(slot)
        return turn if meaning is None else _meant(turn, meaning, str(choice.value))

    def twice(self, slot: str, what: str, pointer: str, apply: Apply) -> Mutation:
        """Returns the turn that gives a slot two values."""
        if self.repeated:
            source = self.repeated
            return self.refused(slot, "repetition", what, source, rule(source), apply)
        return self.left_open(slot, "repetition", what, "repetition", pointer, apply)

    def accepted_turn(
        self, slot: str, category: str, what: str, source: str, because: str, apply: Apply
    ) -> Mutation:
        """Returns a turn that changes nothing about the answer."""
        return Mutation(slot, category, what, source, because, "valid", apply)

    def refused(
        self, slot: str, category: str, what: str, source: str, because: str, apply: Apply
    ) -> Mutation:
        """Returns a turn that must be refused, in the way of its slot."""
        statuses, location = self.refusals.get(slot, ExpectedRefusal())
        return Mutation(slot, category, what, source, because, "invalid", apply, statuses, location)

    def left_open(
        self, slot: str, category: str, what: str, source: str, because: str, apply: Apply
    ) -> Mutation:
        """Returns a turn to which the contract says nothing but that no answer is a failure."""
        return Mutation(slot, category, what, source, because, "open", apply, OPEN)


def name_of(slot: str) -> str:
    """Returns how a description calls a part: ``size`` for ``query size``."""
    where, _, name = slot.partition(" ")
    return name if name and where in {"query", "path", "body"} else slot


def _meant(turn: Mutation, meaning: ValueSemantics, value: str) -> Mutation:
    if value in meaning.known:
        return turn
    source = meaning.because.removeprefix("rule ")
    turn = turn._replace(because=meaning.because, source=source)
    size = len(value.encode("utf-8", "replace"))
    is_too_long = meaning.longest is not None and size > meaning.longest
    # a known value in another case or with spaces may be taken for it
    likely = {text.lower() for text in meaning.known | meaning.unclear}
    is_similar = value.strip().lower() in likely
    if meaning.kind == "open" or is_too_long or (is_similar and meaning.kind == "invalid"):
        return turn._replace(kind="open", statuses=OPEN, is_option=False)
    if meaning.kind == "invalid":
        return turn._replace(kind="invalid", statuses=meaning.statuses or REFUSED, is_option=False)
    return turn._replace(statuses=meaning.statuses)
