"""Divides the work of a run among shards: runs of several machines that judge one deployment.

Work that uses one account stays in one shard, since its requests change that account or count
towards its limits; which shard has which work follows from the target and the documents alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from understudy.errors import StartupError

LAST: Final = "last"
"""The name of the shard for what moves the clock or uses up a limit, and so disturbs all others."""

MOST_SHARDS: Final = 100

_SHARD: Final = re.compile(rf"(?P<part>[1-9]\d*|{LAST})/(?P<count>[1-9]\d*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """One of the runs that judge a deployment together.

    Attributes:
        part: Its number from 1, or ``last``.
        count: The number of shards, without the last one.
        is_shared: True if all shards send to one deployment; False where each has a mock of its own.
    """

    part: str
    count: int
    is_shared: bool = True

    def __str__(self) -> str:
        return f"{self.part}/{self.count}"

    @property
    def is_last(self) -> bool:
        """True for the shard that runs alone, after the others."""
        return self.part == LAST

    @property
    def numbered(self) -> tuple[str, ...]:
        """The names of the shards that run at the same time."""
        return tuple(str(number) for number in range(1, self.count + 1))

    def share_of(self, total: int) -> int:
        """Returns the part of a total that this shard may use; those of all shards add up to it.

        The last one takes the same part as the first, as it runs after the others.
        """
        place = 0 if self.is_last else int(self.part) - 1
        return total // self.count + (place < total % self.count)


def shard_of(text: str) -> Shard:
    """Returns the shard that a text such as ``2/4`` or ``last/4`` names.

    Raises:
        StartupError: It names none.
    """
    match = _SHARD.fullmatch(text)
    if match is None or int(match["count"]) > MOST_SHARDS:
        msg = f"{text!r} is not a shard; write 1/4 for the first of four (at most {MOST_SHARDS}), or last/4."
        raise StartupError(msg)
    if match["part"] != LAST and int(match["part"]) > int(match["count"]):
        msg = f"{text!r} is not a shard: there are only {match['count']}."
        raise StartupError(msg)
    return Shard(match["part"], int(match["count"]))


@dataclass(frozen=True, slots=True)
class Work:
    """Something that one shard does and the others leave to it.

    Attributes:
        name: Its name, such as ``probe code_sizes``.
        cost: About how many requests it sends.
        accounts: The accounts that it uses; work without any goes to any shard.
        is_last: True if it disturbs all other work at the same deployment.
    """

    name: str
    cost: int
    accounts: frozenset[str] = frozenset()
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Division:
    """The work of every shard, as one of them sees it.

    Attributes:
        shard: The shard; None for a run that does all work itself.
        parts: The name of the shard that does each piece of work.
        accounts: The accounts of each shard, by its name.
    """

    shard: Shard | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    accounts: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Tells whether this shard does a piece of work; what is not divided, every shard does."""
        return self.shard is None or self.parts.get(name, self.shard.part) == self.shard.part

    def reason(self, name: str) -> str:
        """Returns why this shard does not do a piece of work."""
        return f"{LEFT_TO}{self.parts[name]}/{self.shard.count if self.shard else 1}"

    def described(self) -> Iterator[str]:
        """Yields which accounts each shard uses, and what the others leave to it."""
        for name in self.needed:
            works = sum(part == name for part in self.parts.values())
            accounts = ", ".join(sorted(self.accounts.get(name, ()))) or "none"
            is_own = self.shard is not None and name == self.shard.part
            text = "  (this one)" if is_own else ""
            yield f"shard {name}: {works} parts of the work; accounts: {accounts}{text}"
        if LAST in self.needed:
            yield (
                "shard last uses up a limit or moves the clock: start it when the others have ended"
            )

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of all shards that it takes; the last one only where it has work."""
        if self.shard is None:
            return ()
        has_last = LAST in self.parts.values()
        return (*self.shard.numbered, LAST) if has_last else self.shard.numbered


LEFT_TO: Final = "left to shard "
"""The beginning of the reason for a rule that another shard checks."""


def divide(works: Sequence[Work], shard: Shard) -> Division:
    """Divides work among shards, so that no account is used by two of them.

    The group that costs most goes to shard 1, and each further one to the shard with the least work.
    """
    parts: dict[str, str] = {}
    costs = dict.fromkeys(shard.numbered, 0)
    accounts: defaultdict[str, set[str]] = defaultdict(set)
    for group in sorted(_groups(works, shard), key=_rank):
        part = min(costs, key=lambda name: (costs[name], int(name)))
        costs[part] += sum(work.cost for work in group)
        for work in group:
            parts[work.name] = part
            accounts[part] |= work.accounts
    if shard.is_shared:
        parts |= {work.name: LAST for work in works if work.is_last}
    return Division(shard, parts, {part: frozenset(names) for part, names in accounts.items()})


def _rank(group: Sequence[Work]) -> tuple[int, str]:
    return -sum(work.cost for work in group), group[0].name


def _groups(works: Iterable[Work], shard: Shard) -> Iterator[list[Work]]:
    """Yields groups of work of which no two use the same account."""
    groups: list[tuple[set[str], list[Work]]] = []
    for work in works:
        if work.is_last and shard.is_shared:
            continue
        alike = [group for group in groups if group[0] & work.accounts]
        others = [group for group in groups if not group[0] & work.accounts]
        names = set(work.accounts).union(*(accounts for accounts, _ in alike))
        groups = [*others, (names, [*(each for _, group in alike for each in group), work])]
    for _, group in groups:
        yield group
