"""Measures what each part of each probe sends and settles: ``python -m tests.tools.schedule``.

Every probe first runs alone, on a mock that is as good as new. What it costs beside the others,
where it need not ask again what they asked, is measured in a run in the order that follows.
``make schedule`` writes the result to the packaged file.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import timedelta
from typing import NamedTuple

from msgspec import json

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import Exchange
from understudy.verify import rules  # noqa: F401 - registers every check and probe
from understudy.verify.checks import CheckResult, checks_for, judged
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.findings import ANSWERS
from understudy.verify.history import issued_tokens
from understudy.verify.permits import SAFE
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import PROBES, SCHEDULE, Parts, Probe, ProbePart, order_of_parts
from understudy.verify.run import Run, RunOptions, start

PATIENT = Allowance(pause=timedelta(hours=2))

Schedule = dict[str, tuple[ProbePart, ...]]


def main() -> None:
    """Writes the schedule."""
    SCHEDULE.write_bytes(as_file(measured().together))
    print(f"{SCHEDULE.name}: {len(PROBES)} probes")  # noqa: T201 - a command's output


def as_file(parts: Mapping[str, Sequence[ProbePart]]) -> bytes:
    """Returns the file's content: one probe after another, one part a line."""
    probes = []
    for name, sent in parts.items():
        lines = ",\n".join(f"    {json.encode(_members(part)).decode()}" for part in sent)
        probes.append(f'  "{name}": [\n{lines}\n  ]')
    return ("{\n" + ",\n".join(probes) + "\n}\n").encode()


def _members(part: ProbePart) -> dict[str, object]:
    """Returns what the file says of a part; most have no token issued."""
    return {name: value for name, value in asdict(part).items() if name != "tokens" or value}


class Measured(NamedTuple):
    """The parts of every probe.

    Attributes:
        alone: As each probe sends them alone, on a mock as good as new.
        together: As they are sent in one run; those that come last as they are alone.
    """

    alone: Schedule
    together: Schedule


def measured() -> Measured:
    """Returns the parts of every probe, measured on the bundled mock."""
    mock = in_process.mock()
    mock.world.clock.put(rate=0)  # so that no check depends on how fast the machine is
    beginning = mock.world.snapshot()
    with in_process.InProcess(mock) as wire:
        deployment = Deployment(TARGET, wire, in_process.time_of(mock), allowance=PATIENT)
        alone: Schedule = {}
        for probe in PROBES:
            mock.world.become(beginning)
            alone |= _measured([probe], deployment)
        mock.world.become(beginning)
        ordered = [replace(probe, parts=alone[probe.name]) for probe in PROBES]
        earlier = [probe for probe in ordered if not probe.is_last]
        return Measured(alone, alone | _measured(earlier, deployment))


class Measurement:
    """Measures the parts of probes in one run.

    Args:
        run: What the probes send by.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rules: frozenset[str] = frozenset()
        self._settled: list[str] = []
        run.gateway.listeners.insert(0, self._note)  # before the exchange becomes history

    def part(self, probe: Probe, steps: Parts) -> ProbePart | None:
        """Returns what the next part of a probe sends and settles; None where there is none."""
        self._settled.clear()
        self._rules = frozenset(probe.rules)
        sent = len(self._run.exchanges)
        with suppress(StopIteration):
            next(steps)
        own = [each for each in self._run.exchanges[sent:] if each.source == source(probe)]
        names = tuple(sorted(set(self._settled)))
        tokens = len(issued_tokens(own))
        return ProbePart(names, len(own), _by(own), tokens) if own else None

    def _note(self, exchange: Exchange) -> None:
        if not exchange.source.startswith("probe "):
            return
        history = self._run.evaluator.history
        own = (check for check in checks_for(exchange) if self._rules.intersection(check.rules))
        self._settled += [
            check.name for check in own if isinstance(judged(check, exchange, history), CheckResult)
        ]


def source(probe: Probe) -> str:
    """Returns what reports call the sender."""
    return f"probe {probe.name}"


def _measured(probes: Sequence[Probe], deployment: Deployment) -> Schedule:
    """Returns the parts of probes that share a run, in the order that follows from theirs."""
    run = start(
        deployment, RunOptions(rules=(ANSWERS.id,))
    )  # what is settled, the measurement asks
    measurement = Measurement(run)
    client = {p.name: ProbeClient(run.gateway, source(p), run.exchanges) for p in probes}
    steps = {probe.name: probe.steps(client[probe.name]) for probe in probes}
    parts: dict[str, list[ProbePart]] = {probe.name: [] for probe in probes}
    over: set[str] = set()
    for probe in order_of_parts(probes, over):
        part = measurement.part(probe, steps[probe.name])
        if part is None:
            over.add(probe.name)
        else:
            parts[probe.name].append(part)
    return {name: tuple(sent) for name, sent in parts.items()}


def _by(exchanges: Sequence[Exchange]) -> str:
    """Returns the credentials that requests were sent with, and whether one of them writes."""
    names = sorted({exchange.identity.name for exchange in exchanges})
    is_writing = any(
        exchange.site == "resource" and exchange.request.method not in SAFE
        for exchange in exchanges
    )
    return " and ".join(names) + (", to write" if is_writing else "")


if __name__ == "__main__":
    main()
