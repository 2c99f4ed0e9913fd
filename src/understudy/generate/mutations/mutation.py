"""A mutation: one deviation of a request, and its expected outcome.

Cases combine mutations: one alone, valid options in pairs, and then a few valid mutations around at
most one invalid one, so that whatever refuses a case can only be what its description names.
"""

from collections.abc import Callable
from random import Random  # noqa: TID251 - seeded by the caller
from typing import NamedTuple

from understudy.generate.cases import CaseKind, Location
from understudy.generate.drafts import Draft

BODY = "body"

WRITING = "writing"
"""The part for how a body is written; such mutations are applied after all others."""

REFUSED = ("4XX",)
OPEN = ("2XX", "3XX", "4XX")


class Mutation(NamedTuple):
    """One deviation of a request, and its expected outcome.

    Attributes:
        part: The part of the request: ``query size``, ``body display_name``, ``method``.
        category: The kind of deviation, such as ``boundary``.
        description: What the mutation does, in plain words.
        source: The schema keyword or rule that the mutation tests.
        because: The rule, JSON pointer or RFC paragraph that determines the outcome.
        kind: Whether the request is accepted, refused, or left open.
        apply: Applies the deviation to a draft.
        statuses: The expected statuses; empty for those of the kind.
        location: What the address of a redirect must contain.
        is_option: Whether this is one of a few valid options, which cases combine in pairs.
        is_alone: Whether this mutation cannot be combined with another.
    """

    part: str
    category: str
    description: str
    source: str
    because: str
    kind: CaseKind
    apply: Callable[[Draft], Draft]
    statuses: tuple[str, ...] = ()
    location: Location = ""
    is_option: bool = False
    is_alone: bool = False

    def fits(self, other: "Mutation") -> bool:
        """Tells whether one request can have both: they change different, not nested, parts."""
        if self.is_alone or other.is_alone or self.part == other.part:
            return False
        short, long = sorted((self.part, other.part), key=len)
        return not long.startswith((f"{short} ", f"{short}."))


Generator = Callable[[Random], Mutation]
"""Draws a further mutation from a random source."""


def rule(rule_id: str) -> str:
    """Returns how a case cites a rule of ``rules.yaml``."""
    return f"rule {rule_id}"
