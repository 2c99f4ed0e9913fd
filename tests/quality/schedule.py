"""Measures what each part of each probe sends and settles: ``python -m tests.quality.schedule``.

Each probe runs alone, on a mock that is as good as new, so that no part's worth depends on the
order that follows from it. ``make schedule`` writes what is measured to the packaged file.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from msgspec import json

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.deployments.allowance import Allowance
from understudy.deployments.deployment import Deployment
from understudy.deployments.exchange import Exchange
from understudy.deployments.permits import SAFE
from understudy.deployments.refusals import Refusal
from understudy.verify import rules
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import PROBES, Probe
from understudy.verify.run import Run, RunOptions, start
from understudy.verify.schedule import SCHEDULE, Part

_OVER = object()

LOADED = rules.SECTIONS
"""Named, so that importing this registers every probe."""

PATIENT = Allowance(pause=timedelta(hours=2))


def main() -> None:
    """Writes the schedule."""
    SCHEDULE.write_bytes(as_file(schedule()))
    print(f"{SCHEDULE.name}: {len(PROBES)} probes")  # noqa: T201 - a command's output


def as_file(parts: Mapping[str, Sequence[Part]]) -> bytes:
    """Returns the file's content: one probe after another, one part a line."""
    probes = []
    for name, measured in parts.items():
        lines = ",\n".join(f"    {json.encode(part).decode()}" for part in measured)
        probes.append(f'  "{name}": [\n{lines}\n  ]')
    return ("{\n" + ",\n".join(probes) + "\n}\n").encode()


def schedule() -> dict[str, tuple[Part, ...]]:
    """Returns the parts of every probe, measured on the bundled mock."""
    mock = in_process.mock()
    beginning = mock.world.snapshot()
    wire = in_process.InProcess(mock)
    found = {}
    for probe in PROBES:
        mock.world.become(beginning)
        deployment = Deployment(TARGET, wire, in_process.time_of(mock), allowance=PATIENT)
        found[probe.name] = tuple(_parts(probe, start(deployment, RunOptions())))
    wire.close()
    return found


def _parts(probe: Probe, run: Run) -> Iterator[Part]:
    """Yields what each part of a probe sends and settles."""
    steps = probe.steps(ProbeClient(run.gateway, f"probe {probe.name}", run.exchanges))
    is_over = False
    while not is_over:
        checks, sent = _settled(run), len(run.exchanges)
        try:
            is_over = next(steps, _OVER) is _OVER
        except Refusal as refusal:
            msg = f"{probe.name} was cut short on the mock: {refusal}"
            raise AssertionError(msg) from refusal
        own = [each for each in run.exchanges[sent:] if each.source == f"probe {probe.name}"]
        if own:
            now = _settled(run)
            rules = (rule for rule in probe.rules if now.get(rule, 0) > checks.get(rule, 0))
            yield Part(tuple(rules), len(own), _by(own))


def _settled(run: Run) -> dict[str, int]:
    return {rule: said.checks for rule, said in run.evaluator.said.items()}


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
