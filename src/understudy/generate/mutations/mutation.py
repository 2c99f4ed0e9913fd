"""A turn: one thing that a request does otherwise, and what the contract says to it.

Cases are turns put together: one alone, valid ones in pairs, and in the end a few valid ones around
at most one invalid one, so that whatever refuses a case can only be what its description says.
"""

from collections.abc import Callable, Iterator
from random import Random  # noqa: TID251 - seeded by whoever asks
from typing import NamedTuple

from understudy.generate.cases import CaseKind, Location
from understudy.generate.drafts import Draft

REFUSED = ("4XX",)
OPEN = ("2XX", "3XX", "4XX")


class Mutation(NamedTuple):
    """One deviation.

    Attributes:
        slot: The part of the request: ``query size``, ``body display_name``, ``method``.
        category: Such as ``boundary``.
        what: What is done, in plain words.
        source: The keyword or rule in question.
        because: The rule, pointer or paragraph that says what must follow.
        kind: What must follow.
        apply: Does it.
        statuses: What is expected; empty for what the kind says.
        location: What a redirect must hold; only of refusals.
        is_option: Whether it is one of a few valid options, to be tried with each other pair by pair.
        is_alone: Whether it goes with no other turn.
    """

    slot: str
    category: str
    what: str
    source: str
    because: str
    kind: CaseKind
    apply: Callable[[Draft], Draft]
    statuses: tuple[str, ...] = ()
    location: Location = ""
    is_option: bool = False
    is_alone: bool = False

    def fits(self, other: "Mutation") -> bool:
        """Tells whether two can be in one request: they touch neither one part nor a part of it."""
        if self.is_alone or other.is_alone or self.slot == other.slot:
            return False
        short, long = sorted((self.slot, other.slot), key=len)
        return not long.startswith((f"{short} ", f"{short}."))


Generator = Callable[[Random], Mutation]
"""Makes up a turn."""

Mutations = Iterator[Mutation]


def rule(rule_id: str) -> str:
    """Returns how a rule of ``rules.yaml`` is named as a reason."""
    return f"rule {rule_id}"
