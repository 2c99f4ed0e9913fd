"""Compares deployments with the mock: a sound one that is never the same, and every mutant.

``python -m tests.proofs.drifting`` prints how often the sound one differs, which is never; and of
the mutants how many differ, and whether by a rule that they break.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from itertools import count
from typing import Any, Final, Literal

import httpx
import msgspec
import orjson
from tests.proofs.controls import at_random
from tests.proofs.learning import learnt, reference
from tests.proofs.mutants.edge import Edge, Mutant, Send
from tests.proofs.mutants.runner import chosen

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.drift import mock_beside
from understudy.drift.causes import DriftCause
from understudy.drift.comparing import Drift
from understudy.drift.documents.sources import documents_of_run
from understudy.errors import StartupError
from understudy.mock.settings import Settings
from understudy.verify.deployment import Deployment
from understudy.verify.probing import PROBES
from understudy.verify.run import RunOptions
from understudy.verify.scenarios import walks
from understudy.verify.target import Target

PERMISSIVE = msgspec.structs.replace(TARGET, is_mock=False)
ELSEWHERE = msgspec.structs.replace(
    PERMISSIVE, permit=msgspec.structs.replace(TARGET.permit, exhaust_rate_limit=False)
)

WALKS: Final = 3
"""Walks through each scenario, where all rules are probed."""

AFTER_A_LIMIT: Final = frozenset(
    rule for probe in PROBES if "exhaust" in probe.needs for rule in probe.rules
)
"""Rules that a deployment can break once a limit is used up."""

MOST_DELAY: Final = timedelta(seconds=3)


def ignore_wait(_span: timedelta) -> None:
    """Lets no time pass."""


class Unsettled:
    """Sends members, headers and items of JSON objects in another order each time, and later.

    Args:
        seed: Of what is random.

    Attributes:
        wait: Lets time pass at the deployment.
    """

    def __init__(self, seed: int) -> None:
        self._seeds = (f"{seed} {number}" for number in count())
        self.wait: Callable[[timedelta], object] = ignore_wait

    def __call__(self, request: httpx.Request, send: Send) -> httpx.Response:
        """Returns a response that means the same."""
        self.wait(MOST_DELAY * (sha256(next(self._seeds).encode()).digest()[0] / 255))
        response = send(request)
        headers = response.headers.multi_items()
        headers = self._ordered(headers)
        headers.append(("x-request-id", next(self._seeds)))
        content = response.content
        if response.headers.get("content-type", "").startswith("application/json"):
            content = orjson.dumps(self._shuffled(orjson.loads(content)))
        kept = [(name, text) for name, text in headers if name != "content-length"]
        return httpx.Response(response.status_code, headers=kept, content=content, request=request)

    def _shuffled(self, value: object) -> object:
        if isinstance(value, list):
            return [self._shuffled(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        return {name: self._shuffled(member) for name, member in self._ordered(value.items())}

    def _ordered(self, pairs: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Returns pairs in an order that is another each time."""
        seed = next(self._seeds)
        return sorted(pairs, key=lambda pair: sha256(f"{seed} {pair}".encode()).digest())


def deployment(
    change: object = None,
    *,
    seed: int = 0,
    choices: Mapping[str, str] | None = None,
    target: Target = ELSEWHERE,
) -> Deployment:
    """Returns a new mock as another's deployment, with a deviation before it if there is one."""
    mock = in_process.mock(Settings(seed=seed, choices=choices or {}))
    wire: httpx.BaseTransport = in_process.InProcess(mock)
    time = in_process.time_of(mock)
    if isinstance(change, Unsettled):
        change.wait = time.wait
    if change is not None:
        wire = Edge(wire, change)  # type: ignore[arg-type]  # a deviation, of whatever kind
    return Deployment(target, wire, time)


def drift(ours: Deployment, *rules: str) -> Drift:
    """Returns the differences between a deployment and the mock."""
    options = RunOptions(rules=rules, phases=() if rules else (("walks", walks(WALKS)),))
    return mock_beside.drift(ours, mock_beside.mock_beside(ours), options, is_minimised=False)


def caught(name: str, *rules: str) -> set[str]:
    """Returns the causes of what differs at a mutant; empty if nothing does."""
    mutant = next(each for each in chosen(name, 1) if each.name == name)
    return {cause.rule for cause in drift(deployment(mutant.make()), *rules).causes}


Score = Literal["named", "named as silent", "unsteady", "otherwise", "unexplained", "missed"]
SCORES: Final[Mapping[Score, str]] = {
    "named": "differs by a rule that it breaks, as the deployment's fault",
    "named as silent": "differs by such a rule, where the contract leaves it open",
    "unsteady": "breaks such a rule in one of the two runs",
    "otherwise": "differs by other rules, or by its document",
    "unexplained": "differs, and nothing explains it",
    "missed": "does not differ",
}
"""How a mutant can end, best first."""


def score(mutant: Mutant, causes: Iterable[DriftCause]) -> Score:
    """Returns how a mutant was found, by the best of its causes."""
    rules = set(mutant.rules)
    faults = {(cause.fault, cause.rule in rules) for cause in causes}
    if ("deployment", True) in faults:
        return "named"
    if ("silent", True) in faults:
        return "named as silent"
    if ("unsteady", True) in faults:
        return "unsteady"
    if faults & {("deployment", False), ("other", False), ("silent", False), ("other", True)}:
        return "otherwise"
    return "unexplained" if faults else "missed"


def differing_although_learnt(seed: int) -> set[str]:
    """Returns the rules that drift reports although they were learnt; none as it ought to be.

    Args:
        seed: Of the choices of the reference, which is learnt from and then compared.
    """
    choices = at_random(seed)
    facts = learnt(choices)
    ours = reference(choices)
    mock = mock_beside.mock_beside(ours, [facts])
    result = mock_beside.drift(ours, mock, RunOptions(), facts=[facts], is_minimised=False)
    reported = [cause.rule for cause in result.causes if cause.fault != "learnt"]
    reported += [changed.rule.id for changed in result.changed_facts]
    return set(reported) & facts.by_rule().keys()


TALLY: Counter[str] = Counter()
"""What the reports of all mutants have, for the lines after their scores."""


def tally(result: Drift) -> None:
    """Counts the causes of a report, what is folded under them, its noise and its third runs."""
    faults = Counter(cause.fault for cause in result.causes)
    named = {cause.rule for cause in result.causes}
    broken = {it.rule.id for it in result.first.findings if not it.is_note}
    TALLY["causes that are the deployment's fault"] += faults["deployment"]
    TALLY["broken rules that follow from them, and are folded"] += len(broken - named)
    TALLY["causes seen in one of two runs alone"] += faults["unsteady"]
    TALLY["reports with a third run"] += result.third is not None


def judged(mutant: Mutant, rules: Sequence[str]) -> tuple[Score, list[str]]:
    """Returns how a mutant was found, and its causes.

    Limits are used up where the mutant breaks a rule that shows no earlier.

    Args:
        mutant: The mutant.
        rules: The rules whose probes are sent; empty for all, and walks.
    """
    is_of_limits = not AFTER_A_LIMIT.isdisjoint(mutant.rules)
    ours = deployment(mutant.make(), target=PERMISSIVE if is_of_limits else ELSEWHERE)
    documents = documents_of_run(ours, None, None)
    try:
        compared = drift(ours, *rules)
    except StartupError:  # such as a document that is none
        return "missed", ["the comparison refuses to begin"]
    tally(compared)
    causes = compared.causes
    names = sorted({f"{cause.fault} {cause.rule}" for cause in causes})
    names += [f"documents {it.summary}" for pair in documents.pairs for it in pair.changes]
    reached = score(mutant, causes)
    return "otherwise" if reached == "missed" and names else reached, names


def judged_at_length(mutant: Mutant) -> tuple[Score, list[str]]:
    """Returns how a mutant was found by the probes of its rules, or by all where those do not."""
    result = judged(mutant, mutant.rules)
    if result[0] in {"named", "named as silent"}:
        return result
    return min(result, judged(mutant, ()), key=lambda each: list(SCORES).index(each[0]))


def main() -> int:
    """Prints the scores, and returns 1 where a sound deployment or a learnt one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.drifting", description=__doc__)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth mutant")
    parser.add_argument("--sound", type=int, default=50, metavar="N", help="runs of a sound one")
    parser.add_argument("--facts", type=int, default=30, metavar="N", help="references learnt from")
    parser.add_argument("--whole", action="store_true", help="send all probes and walks to each")
    parser.add_argument("--verbose", action="store_true", help="print the score of each mutant")
    wanted = parser.parse_args()
    false = sum(
        bool(drift(deployment(Unsettled(seed), seed=seed)).causes) for seed in range(wanted.sound)
    )
    print(f"{false} of {wanted.sound} sound deployments differ", flush=True)  # noqa: T201 - a command
    untrue = [rules for seed in range(wanted.facts) if (rules := differing_although_learnt(seed))]
    print(f"{len(untrue)} of {wanted.facts} learnt references differ: {untrue}", flush=True)  # noqa: T201 - a command
    scores: Counter[Score] = Counter()
    for mutant in chosen("", wanted.every) if wanted.every else ():
        result, causes = judged(mutant, ()) if wanted.whole else judged_at_length(mutant)
        scores[result] += 1
        if wanted.verbose:
            print(f"{mutant.name}: {result}: {causes}", flush=True)  # noqa: T201 - a command
    for name, meaning in SCORES.items():
        print(f"{scores[name]} of {scores.total()} mutants: {meaning}")  # noqa: T201 - a command
    for meaning, number in TALLY.items():
        print(f"{number} {meaning}")  # noqa: T201 - a command
    return int(false > 0 or bool(untrue))


if __name__ == "__main__":
    raise SystemExit(main())
