"""Faults on demand, as values: when one strikes, and what it does to an answer.

What happens is decided by the world's seed, the fault's name and how many requests it has met, so a
run with the same requests meets the same faults.
"""

import math
from collections.abc import Mapping
from random import Random  # noqa: TID251 - drawn from the world's seed
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

EFFECTS: Mapping[str, str] = {
    "reset": "the connection is reset before the answer is whole",
    "truncate": "half of the body, and then the connection ends",
    "slow": "the body drips, over the fault's seconds",
    "malformed-json": "a body that is no JSON, of the right length and type",
    "wrong-content-type": "the same body as text/html",
    "missing-field": "without the field",
    "null-field": "null in the field",
    "wrong-type": "a value of another type in the field",
    "extra-field": "a member more that the document does not know",
    "stale-field": "what the field held in the fixtures, whatever was written since",
    "fail-after": "what was asked is carried out, and then answered 500",
}
"""Name of an effect to what comes of it."""

FIELD_EFFECTS = frozenset({"missing-field", "null-field", "wrong-type", "stale-field"})
"""Effects that need a field."""

Effect = Literal[
    "reset",
    "truncate",
    "slow",
    "malformed-json",
    "wrong-content-type",
    "missing-field",
    "null-field",
    "wrong-type",
    "extra-field",
    "stale-field",
    "fail-after",
]


class Delay(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Added latency, in WireMock's words; milliseconds.

    Attributes:
        type: ``fixed``, ``uniform`` or, with a long tail, ``lognormal``.
        milliseconds: Of a fixed one.
        lower: Of a uniform one.
        upper: Of a uniform one.
        median: Of a long-tailed one.
        sigma: How long its tail is.
    """

    type: Literal["fixed", "uniform", "lognormal"] = "fixed"
    milliseconds: float = 0
    lower: float = 0
    upper: float = 0
    median: float = 0
    sigma: float = 1

    def seconds(self, chance: Random) -> float:
        """Draws one delay; a minute at most."""
        drawn = {
            "fixed": lambda: self.milliseconds,
            "uniform": lambda: chance.uniform(self.lower, self.upper),
            "lognormal": lambda: self.median * math.exp(min(self.sigma * chance.gauss(0, 1), 50)),
        }[self.type]()
        return min(max(drawn, 0) / 1000, 60)


class Fault(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One fault that is in force.

    Attributes:
        id: Names it, for its removal and in ``X-Mock-Fault``.
        operation: The operationId it strikes; any if left out.
        person: Slug of whom the request speaks for; anybody if left out.
        header: Headers that the request carries, by name in any case.
        share: Of the requests that fit, from 0 to 1.
        times: How many requests it still strikes; until removed if left out.
        delay: Added before the answer.
        status: Answered instead, with a body that is true to the document.
        effect: What becomes of the answer.
        field: Where an effect strikes: a member, or a path such as ``verified_accounts.0.url``.
        seconds: How long a slow body takes.
        met: Requests that fitted so far.
        struck: Requests that it struck.
    """

    id: str
    operation: str | None = None
    person: str | None = None
    header: dict[str, str] = {}
    share: float = 1.0
    times: int | None = None
    delay: Delay | None = None
    status: int | None = None
    effect: Effect | None = None
    field: str | None = None
    seconds: float = 5.0
    met: int = 0
    struck: int = 0

    def fits(self, operation: str | None, person: str | None, headers: Mapping[str, str]) -> bool:
        """Tells whether a request is one that this fault may strike."""
        return (
            self.operation in {None, operation}
            and self.person in {None, person}
            and all(headers.get(name.lower()) == text for name, text in self.header.items())
        )

    def draw(self, seed: int) -> tuple["Fault", "Strike | None"]:
        """Meets one more request.

        Args:
            seed: The world's.

        Returns:
            The fault as it is now, and what it does to this request; None for nothing.
        """
        chance = Random(f"{seed} {self.id} {self.met}")
        met = replace(self, met=self.met + 1)
        if self.times == 0 or chance.random() >= self.share:
            return met, None
        left = None if self.times is None else self.times - 1
        delay = self.delay.seconds(chance) if self.delay else 0.0
        strike = Strike(self.id, delay, self.status, self.effect, self.field, self.seconds)
        return replace(met, times=left, struck=self.struck + 1), strike


class Strike(Struct, frozen=True):
    """What a fault does to one request.

    Attributes:
        fault: The fault's id.
        delay: Seconds.
        status: Answered instead.
        effect: What becomes of the answer.
        field: Where.
        seconds: How long a slow body takes.
    """

    fault: str
    delay: float = 0.0
    status: int | None = None
    effect: Effect | None = None
    field: str | None = None
    seconds: float = 5.0
