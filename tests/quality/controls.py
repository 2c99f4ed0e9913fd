"""Control runs: conforming deployments that chose otherwise than the mock's defaults do.

``python -m tests.quality.controls`` judges the mock as somebody else's deployment with every
switch of ``rules.yaml`` at its other options, one by one and then many at random. Nothing may be
found, but the very rule that a switch lifts, which a target can accept.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

from msgspec.structs import replace

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.deployments.allowance import Allowance
from understudy.deployments.deployment import Deployment
from understudy.interface.rules import switches
from understudy.verify.outcome import Outcome
from understudy.verify.run import RunOptions, catalogue
from understudy.verify.runner import carry_out

ELSEWHERE = replace(TARGET, is_mock=False, permit=replace(TARGET.permit, exhaust_rate_limit=False))
RULES = catalogue()
SWITCHES = switches(RULES.values())


def others() -> list[tuple[str, str]]:
    """Returns every switch with every option that is not its default."""
    return [
        (switch.name, option)
        for switch in SWITCHES.values()
        for option in switch.options
        if option != switch.default
    ]


def at_random(seed: int) -> dict[str, str]:
    """Returns an option for each switch, chosen at random."""
    return {
        switch.name: _drawn(tuple(switch.options), f"{seed} {switch.name}")
        for switch in SWITCHES.values()
    }


def _drawn(options: Sequence[str], seed: str) -> str:
    return options[crc32(seed.encode()) % len(options)]


def lifted(choices: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the rules that choices lift although they bind every deployment."""
    chosen = (
        SWITCHES[name] for name, option in choices.items() if option != SWITCHES[name].default
    )
    return tuple(switch.rule for switch in chosen if RULES[switch.rule].status != "assumed")


def judged(choices: Mapping[str, str], accept: tuple[str, ...] = ()) -> Outcome:
    """Returns what verify finds on the mock with these choices, as on another's deployment."""
    mock = in_process.mock()
    mock.world.choices = dict(choices)
    with in_process.InProcess(mock) as wire:
        target = replace(ELSEWHERE, accept=accept)
        deployment = Deployment(target, wire, in_process.time_of(mock), Allowance())
        return carry_out(deployment, RunOptions())


def main() -> int:
    """Runs the controls, and returns 1 where something is found."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.controls", description=__doc__)
    parser.add_argument("--random", type=int, default=50, metavar="N", help="runs at random")
    count = parser.parse_args().random
    results = list(_results(count))
    print(f"{len(results)} control runs, {sum(results)} with findings")  # noqa: T201 - a command
    return int(any(results))


def _results(count: int) -> Iterator[bool]:
    single = [{name: option} for name, option in others()]
    for choices in (*single, *map(at_random, range(count))):
        outcome = judged(choices, lifted(choices))
        for finding in outcome.findings:
            print(f"{choices}: {finding.summary}")  # noqa: T201 - a command's output
        yield bool(outcome.findings)


if __name__ == "__main__":
    raise SystemExit(main())
