"""Runs verify, and Schemathesis beside it, on many mutants in several processes.

A process has a mock of its own, and what comes back is in the order of what was asked.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory
from typing import TypeVar

from tests.proofs.mutants.curve import Trial
from tests.proofs.mutants.edge import MUTANTS, Mutant
from tests.proofs.mutants.generated import sighting
from tests.proofs.mutants.reproduction import recording
from tests.proofs.mutants.verifying import reproduced, verified

from understudy.verify.findings import Finding, Outcome

Asked = TypeVar("Asked")
Found = TypeVar("Found")

BEYOND = 1001
"""Counts for whatever the hour's budget was not enough for: where the limit itself is broken."""


@dataclass(frozen=True)
class Wish:
    """What is wanted of each mutant.

    Attributes:
        seeds: Runs of verify.
        peer_seeds: Runs of Schemathesis.
        requests: What Schemathesis may send to each of the two addresses.
    """

    seeds: int
    peer_seeds: int = 0
    requests: int = 0


def chosen(only: str, every: int) -> list[Mutant]:
    """Returns the mutants whose name holds a text, and of those the first of so many."""
    return [mutant for mutant in MUTANTS if only in mutant.name][::every]


def side_by_side(
    work: Callable[[Asked], Found], asked: Sequence[Asked], jobs: int
) -> Iterator[Found]:
    """Yields what comes of each piece of work, in their order; a single one needs no other process."""
    if len(asked) == 1:
        yield work(asked[0])
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, asked)


def tried(asked: tuple[str, Wish]) -> Trial:
    """Runs what is wanted on the mutant of this name."""
    name, wish = asked
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    try:
        return _tried(mutant, wish)
    except Exception as crash:  # one of four hundred; the others are to be heard
        text = f"{type(crash).__name__}: {crash}"
        return Trial(name, mutant.is_mechanical, mutant.rules, crashed=text)


def _tried(mutant: Mutant, wish: Wish) -> Trial:
    runs = [_judged(mutant, seed) for seed in range(wish.seeds)]
    peers = [
        sighting(mutant, (wish.requests, wish.requests), seed) for seed in range(wish.peer_seeds)
    ]
    return Trial(
        mutant.name,
        mutant.is_mechanical,
        mutant.rules,
        sightings=tuple(number for number, _ in runs),
        found=_numbered(runs[0][1].findings),
        noted=_first(mutant, runs[0][1].notes),
        peers=tuple(peers),
    )


def _judged(mutant: Mutant, seed: int) -> tuple[int | None, Outcome]:
    """Returns after how many requests a mutant was caught by a rule that it breaks.

    It is judged as somebody else's deployment, where what is assumed is noted and no finding.
    The first seed's run goes on to its end, for the matrix; of the others the number is all that counts.
    """
    is_short = seed > 0
    outcome = verified(mutant, seed=seed, is_hour=True, is_short=is_short, is_mock=False)
    number = first_sighting(mutant, outcome)
    if number is not None:
        return number, outcome
    outcome = verified(mutant, seed=seed, is_short=is_short, is_mock=False)
    number = first_sighting(mutant, outcome)
    return None if number is None else max(number, BEYOND), outcome


def first_sighting(mutant: Mutant, outcome: Outcome) -> int | None:
    """Returns the number of the first request that showed a rule broken which the mutant breaks."""
    return _first(mutant, outcome.findings)


def _first(mutant: Mutant, findings: Sequence[Finding]) -> int | None:
    found = _numbered(findings)
    return min((found[rule] for rule in mutant.rules if rule in found), default=None)


def _numbered(findings: Sequence[Finding]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for finding in findings:
        number = finding.exchange.number
        numbers[finding.rule.id] = min(number, numbers.get(finding.rule.id, number))
    return dict(sorted(numbers.items()))


def reproductions(name: str) -> list[tuple[str, str]]:
    """Runs the printed commands of every finding at a mutant, and returns what did not show again.

    Returns:
        Each finding, with the reason why its commands did not show it; empty where they did.
    """
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    found = []
    with recording() as recorder:
        for finding in verified(mutant, is_hour=True, is_mock=False).findings:
            with TemporaryDirectory() as folder:
                try:
                    is_shown = bool(reproduced(mutant, finding, recorder, Path(folder)))
                    reason = "" if is_shown else finding.again or "not shown"
                except (AssertionError, TimeoutExpired) as error:
                    reason = f"the commands failed: {error}"
            found.append((f"{name}: {finding.summary}", reason))
    return found


def control(seed: int) -> list[str]:
    """Returns the rules that a whole run finds broken on the unbroken mock, which is none."""
    return [finding.rule.id for finding in verified(None, seed=seed, is_whole=True).findings]


def hours_requests() -> int:
    """Returns how many requests verify sends within the published budget of an hour."""
    return verified(None, is_hour=True).requests
