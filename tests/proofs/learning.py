"""Learns from the reference with every switch at random, and compares with what was switched.

``python -m tests.proofs.learning`` runs it thirty times, and prints how many questions were
settled, how many of them wrongly, and by how many requests.
"""

import argparse
from collections.abc import Mapping
from itertools import cycle
from typing import NamedTuple

import httpx
import msgspec
from tests.proofs import at_reference
from tests.proofs.controls import ELSEWHERE, SWITCHES, at_random
from tests.proofs.reference.in_process import InProcess
from tests.proofs.reference.service import Options

from understudy.api.in_process import mock_deployment
from understudy.api.judging import learn_from
from understudy.interface.facts import Facts, choices_of
from understudy.verify.catalogue import catalogue
from understudy.verify.clock import Time
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Outcome
from understudy.verify.learner import learn
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out


class Score(NamedTuple):
    """How well a deployment's choices were learnt.

    Attributes:
        wrong: Switches that were settled at another option than the deployment's.
        open: Switches that were not settled.
        requests: What it took.
        once: Rules whose fact was seen only once.
        strays: Switches that the mock, served with the facts, was learnt to have otherwise.
    """

    wrong: dict[str, str]
    open: set[str]
    requests: int
    once: set[str]
    strays: set[str]


class Fickle(httpx.BaseTransport):
    """A deployment that refuses some requests of a kind, as one behind several servers may.

    Args:
        inner: The deployment.
        part: What the URL of such a request contains.
        in_a_row: How many of them it serves, and then refuses, and so on.
    """

    def __init__(self, inner: InProcess, part: str, in_a_row: int = 1) -> None:
        self.clock = inner.clock
        self._inner = inner
        self._part = part
        self._is_refused = cycle([False] * in_a_row + [True] * in_a_row)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, or refuses it."""
        if self._part in str(request.url) and next(self._is_refused):
            return httpx.Response(403, json={"error": "Not this time."})
        return self._inner.handle_request(request)


def reference(
    choices: Mapping[str, str], facts: str | None = None, wire: InProcess | Fickle | None = None
) -> Deployment:
    """Returns the reference with these choices, as a deployment to learn from or to judge.

    Args:
        choices: Switch name to option.
        facts: The facts file to judge by.
        wire: How it is reached; None for the reference in this process.
    """
    wire = wire or InProcess(Options(choices=choices))
    time = Time(now=wire.clock, wait=wire.clock.move, advance=wire.clock.move)
    target = msgspec.structs.replace(at_reference.target(), facts=facts)
    return Deployment(target, wire, time)


def learnt(choices: Mapping[str, str], *rules: str) -> Facts:
    """Returns what is learnt of the reference with these choices."""
    return learn(reference(choices), RunOptions(rules=rules)).facts


def judged(choices: Mapping[str, str], facts: str, *rules: str) -> Outcome:
    """Returns what verify finds at the reference by a facts file."""
    return carry_out(reference(choices, facts), RunOptions(rules=rules))


def score(choices: Mapping[str, str], facts: Facts) -> Score:
    """Returns how well choices were learnt."""
    options = choices_of(facts, catalogue().values())
    wrong = {name: options[name] for name in options if options[name] != choices[name]}
    once = {fact.rule for fact in facts.facts if fact.sure != "seen twice"}
    return Score(wrong, set(SWITCHES) - set(options), facts.requests, once, strays(facts))


def strays(facts: Facts) -> set[str]:
    """Returns the switches that the mock, served with facts, is learnt to have otherwise."""
    rules = catalogue().values()
    options = choices_of(facts, rules)
    again = learn_from(mock_deployment(ELSEWHERE, choices=options), RunOptions()).facts
    return {name for name, option in options.items() if choices_of(again, rules)[name] != option}


def main() -> int:
    """Prints the scores, and returns 1 where something was learnt wrongly."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.learning", description=__doc__)
    parser.add_argument("--runs", type=int, default=30, metavar="N", help="deployments at random")
    runs = parser.parse_args().runs
    choices = [at_random(seed) for seed in range(runs)]
    scores = [score(each, learnt(each)) for each in choices]
    wrong = sum(len(each.wrong) for each in scores)
    unsettled = sum(len(each.open) for each in scores)
    questions = len(SWITCHES) * runs
    followed = sum(not each.strays for each in scores)
    print(  # noqa: T201 - a command's output
        f"{questions - unsettled} of {questions} switches settled, {wrong} wrongly, by "
        f"{sum(each.requests for each in scores) // runs} requests a deployment; the mock, served "
        f"with the facts, was learnt to be the same in {followed} of {runs}"
    )
    return int(wrong > 0 or followed < runs)


if __name__ == "__main__":
    raise SystemExit(main())
