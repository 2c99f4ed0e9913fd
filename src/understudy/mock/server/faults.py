"""Describes injected faults as values: which requests one fits, and how often it is injected.

That is decided by the world's seed, the fault's id and the number of requests that fitted before, so
the same requests get the same faults in every run.
"""

import math
from collections.abc import Mapping
from random import Random  # noqa: TID251 - drawn from the world's seed
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace


class Delay(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Added latency, in WireMock's words; milliseconds.

    Attributes:
        type: ``fixed``, ``uniform`` or, with a long tail, ``lognormal``.
        milliseconds: Of a fixed one.
        lower: Of a uniform one.
        upper: Of a uniform one.
        median: Of a long-tailed one.
        sigma: The standard deviation of the logarithm of a ``lognormal`` delay.
    """

    type: Literal["fixed", "uniform", "lognormal"] = "fixed"
    milliseconds: float = 0
    lower: float = 0
    upper: float = 0
    median: float = 0
    sigma: float = 1

    def seconds(self, chance: Random) -> float:
        """Draws one delay, in seconds; at most a minute."""
        drawn = {
            "fixed": lambda: self.milliseconds,
            "uniform": lambda: chance.uniform(self.lower, self.upper),
            "lognormal": lambda: self.median * math.exp(min(self.sigma * chance.gauss(0, 1), 50)),
        }[self.type]()
        return min(max(drawn, 0) / 1000, 60)


class Fault(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One fault in force.

    Attributes:
        id: Names it in ``X-Mock-Fault`` and in the admin API.
        operation: The operationId of the requests that get it; None: every operation.
        person: Slug of the authenticated person; None: any client.
        header: Headers that a request must carry, by name in any case.
        share: Share of the fitting requests that get it, from 0 to 1.
        times: How many more requests get it; None: until it is removed.
        delay: Latency added before the response.
        status: The status of the response, with a body that keeps to the document.
        effect: What is done to the response: a key of EFFECTS.
        field: The member that the effect changes, or a path such as ``verified_accounts.0.url``.
        seconds: How long a slow body takes to send.
        met: Requests that fitted so far.
        struck: Requests that got the fault.
    """

    id: str
    operation: str | None = None
    person: str | None = None
    header: dict[str, str] = {}
    share: float = 1.0
    times: int | None = None
    delay: Delay | None = None
    status: int | None = None
    effect: str | None = None
    field: str | None = None
    seconds: float = 5.0
    met: int = 0
    struck: int = 0

    def fits(self, operation: str | None, person: str | None, headers: Mapping[str, str]) -> bool:
        """Tells whether a request may get this fault."""
        return (
            self.operation in {None, operation}
            and self.person in {None, person}
            and all(headers.get(name.lower()) == text for name, text in self.header.items())
        )

    def draw(self, seed: int) -> tuple["Fault", "InjectedFault | None"]:
        """Draws whether the next fitting request gets the fault.

        Args:
            seed: The world's.

        Returns:
            The fault with its counts brought up to date, and what is done to this request; None: nothing.
        """
        chance = Random(f"{seed} {self.id} {self.met}")
        met = replace(self, met=self.met + 1)
        if self.times == 0 or chance.random() >= self.share:
            return met, None
        left = None if self.times is None else self.times - 1
        delay = self.delay.seconds(chance) if self.delay else 0.0
        strike = InjectedFault(self.id, delay, self.status, self.effect, self.field, self.seconds)
        return replace(met, times=left, struck=self.struck + 1), strike


class InjectedFault(Struct, frozen=True):
    """The effect of a fault on one request.

    Attributes:
        fault: The fault's id.
        delay: Seconds to wait before the response.
        status: The status of the response; None: the handler's.
        effect: A key of EFFECTS; None: nothing else.
        field: The member that the effect changes.
        seconds: How long a slow body takes to send.
    """

    fault: str
    delay: float = 0.0
    status: int | None = None
    effect: str | None = None
    field: str | None = None
    seconds: float = 5.0
