"""Control runs: conforming deployments that chose otherwise than the mock's defaults do.

``python -m tests.proofs.controls`` judges the mock as somebody else's deployment, and then the
independent reference, with every switch of ``rules.yaml`` at each option, one by one and then many
at random. Nothing may be found, but the very rule that a switch lifts, which a target can accept.
The mock is judged a second time by facts that say what was chosen, which bind it. Both are judged
again with the limits used up and with generated cases, at some of the random choices.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace
from tests.proofs import at_reference
from tests.proofs.reference.service import Options

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.api.judging import phases_of
from understudy.interface.facts import Fact, Facts, facts_text
from understudy.interface.rules import Switch, switches
from understudy.verify.catalogue import catalogue
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.findings import Outcome
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.target import Target

ELSEWHERE = replace(TARGET, is_mock=False, permit=replace(TARGET.permit, exhaust_rate_limit=False))
RULES = catalogue()
SWITCHES = switches(RULES.values())
OWNERS = {rule.switch.name: rule.id for rule in RULES.values() if rule.switch is not None}
DAY = "2026-11-22"
CASES: Final = 2
"""Generated cases of each operation in a run in full."""


def options() -> list[tuple[str, str]]:
    """Returns every switch with every option, of a number its ends, and of an error another one."""
    return [(switch.name, option) for switch in SWITCHES.values() for option in _options(switch)]


def _options(switch: Switch) -> list[str]:
    numbers = switch.range
    ends = [] if numbers is None else [str(numbers.least), str(numbers.most)]
    code = switch.name.replace("-", "_")  # of its own, or precedence could not be told
    errors = [] if switch.error is None else [f"{switch.error.statuses[-1]} {code}"]
    return list(dict.fromkeys([*switch.options, *ends, *errors]))


def others() -> list[tuple[str, str]]:
    """Returns every switch with every option that is not its default."""
    return [(name, option) for name, option in options() if option != SWITCHES[name].default]


def at_random(seed: int) -> dict[str, str]:
    """Returns an option for each switch, chosen at random; every second number is an end or usual."""
    return {switch.name: _drawn(switch, f"{seed} {switch.name}") for switch in SWITCHES.values()}


def _drawn(switch: Switch, seed: str) -> str:
    digest = sha256(seed.encode()).digest()
    options, numbers = _options(switch), switch.range
    if numbers is None or digest[1] % 2:
        return options[digest[0] % len(options)]
    count = (numbers.most - numbers.least) // numbers.step + 1
    return str(numbers.least + int.from_bytes(digest[2:10]) % count * numbers.step)


def lifted(choices: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the rules that choices lift although they bind every deployment."""
    chosen = (
        SWITCHES[name] for name, option in choices.items() if option != SWITCHES[name].default
    )
    return tuple(OWNERS[it.name] for it in chosen if RULES[OWNERS[it.name]].status != "assumed")


def judged(
    choices: Mapping[str, str], accept: tuple[str, ...] = (), facts: str | None = None
) -> Outcome:
    """Returns what verify finds on the mock with these choices, as on another's deployment."""
    return _judged_mock(choices, replace(ELSEWHERE, accept=accept, facts=facts))


def _judged_mock(choices: Mapping[str, str], target: Target, cases: int = 0) -> Outcome:
    mock = in_process.mock()
    mock.world.choices = dict(choices)
    with in_process.InProcess(mock) as wire:
        pause = timedelta(hours=2) if target.permit.exhaust_rate_limit else timedelta(0)
        deployment = Deployment(target, wire, in_process.time_of(mock), Allowance(pause=pause))
        return carry_out(deployment, RunOptions(phases=phases_of(cases, is_mock=False)))


def judged_reference(choices: Mapping[str, str], accept: tuple[str, ...] = ()) -> Outcome:
    """Returns what verify finds on the reference with these choices."""
    return at_reference.judged(Options(choices=choices), accept=accept)


def judged_in_full(choices: Mapping[str, str], accept: tuple[str, ...] = ()) -> Outcome:
    """Returns what verify finds on the mock where it may use up limits, and sends cases."""
    target = replace(ELSEWHERE, accept=_beyond_limits(choices, accept), permit=TARGET.permit)
    return _judged_mock(choices, target, CASES)


def judged_reference_in_full(choices: Mapping[str, str], accept: tuple[str, ...] = ()) -> Outcome:
    """Returns what verify finds on the reference where it may use up limits, and sends cases."""
    accept = _beyond_limits(choices, accept)
    return at_reference.judged(Options(choices=choices), accept=accept, exhausts=True, cases=CASES)


def _beyond_limits(choices: Mapping[str, str], accept: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the rules to accept; a deployment that only warns refuses nothing beyond a limit."""
    return (*accept, "rate-limit-answer-429") if choices.get("rate-limits") == "warn" else accept


def judged_by_facts(choices: Mapping[str, str], accept: tuple[str, ...] = ()) -> Outcome:
    """Returns what verify finds on the mock with these choices, by facts that say so."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "mock.facts.yaml")
        path.write_text(facts_text(facts_of(choices)), encoding="utf-8")
        return judged(choices, accept, str(path))


def facts_of(choices: Mapping[str, str]) -> Facts:
    """Returns facts that say of each switch what was chosen, or its default, where that shows."""
    hidden = {"rate-limit-header-names"} if choices.get("rate-limits") == "off" else set()
    facts = tuple(
        Fact(OWNERS[switch.name], choices.get(switch.name, switch.default), ("as served",), 2, DAY)
        for switch in SWITCHES.values()
        if switch.name not in hidden
    )
    return Facts("the mock", DAY, 0, facts, ())


Judge = Callable[[Mapping[str, str], tuple[str, ...]], Outcome]
DEPLOYMENTS: Mapping[str, Judge] = {
    "mock": judged,
    "facts": judged_by_facts,
    "reference": judged_reference,
    "mock in full": judged_in_full,
    "reference in full": judged_reference_in_full,
}
SHORT: Final = 5
"""One of so many random choices is judged in full, which takes three times as long."""


def main() -> int:
    """Runs the controls, and returns 1 where something is found."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.controls", description=__doc__)
    parser.add_argument("--random", type=int, default=50, metavar="N", help="runs at random")
    parser.add_argument("--only", choices=DEPLOYMENTS, help="judge this deployment alone")
    wanted = parser.parse_args()
    results = [
        result
        for name, judge in DEPLOYMENTS.items()
        if wanted.only in {None, name}
        for result in _results(name, judge, wanted.random)
    ]
    print(f"{len(results)} control runs, {sum(results)} with findings")  # noqa: T201 - a command
    return int(any(results))


def _results(name: str, judge: Judge, count: int) -> Iterator[bool]:
    """Yields whether each run has findings; the reference has defaults of its own."""
    named = options() if name == "reference" else others()
    is_full = name.endswith("in full")
    single = [] if is_full else [{switch: option} for switch, option in named]
    for choices in (*single, *map(at_random, range(0, count, SHORT if is_full else 1))):
        outcome = judge(choices, lifted(choices))
        faults = [*(finding.summary for finding in outcome.findings), *outcome.internal_errors]
        for text in faults:
            print(f"{name} {choices}: {text}")  # noqa: T201 - a command's output
        yield bool(faults)


if __name__ == "__main__":
    raise SystemExit(main())
