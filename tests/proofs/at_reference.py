"""Runs verify on the reference in this process, as on somebody else's deployment.

``python -m tests.proofs.at_reference`` runs it on the reference with each of its faults, and prints
which rules were found broken, and by which request.
"""

import argparse
import logging
from datetime import timedelta

from tests.proofs.reference.customer import told
from tests.proofs.reference.faults.every import EVERY
from tests.proofs.reference.faults.fault import Fault
from tests.proofs.reference.in_process import ADDRESSES, InProcess
from tests.proofs.reference.parts import SOUND, Parts
from tests.proofs.reference.service import Options
from tests.proofs.reference.serving import DEFAULTS

from understudy.api.judging import phases_of
from understudy.verify.clock import Time
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.findings import Outcome
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.target import Target, target_of


def target(accept: tuple[str, ...] = (), *, exhausts: bool = False) -> Target:
    """Returns what a customer of the reference would write about it.

    Args:
        accept: Rules that are accepted to be broken.
        exhausts: Whether limits may be used up.
    """
    permit = {"uploads": True, "fill_account": True, "tokens": True, "exhaust_rate_limit": exhausts}
    more = {"mode": "full", "document": "published", "accept": list(accept), "permit": permit}
    return target_of({**told(ADDRESSES), **more}, {}, "the reference's target")


def judged(
    options: Options = DEFAULTS,
    parts: Parts = SOUND,
    *,
    accept: tuple[str, ...] = (),
    exhausts: bool = False,
    cases: int = 0,
    rules: tuple[str, ...] = (),
) -> Outcome:
    """Returns what verify finds on a reference as good as new.

    Args:
        options: What its operator decides.
        parts: What it is built of.
        accept: Rules that are accepted to be broken.
        exhausts: Whether limits may be used up, which takes more than the budget of an hour.
        cases: Generated cases of each operation.
        rules: The rules to judge; empty for all.
    """
    wire = InProcess(options, parts)
    time = Time(now=wire.clock, wait=wire.clock.move, advance=wire.clock.move)
    allowance = Allowance(pause=timedelta(hours=2)) if exhausts else Allowance()
    deployment = Deployment(target(accept, exhausts=exhausts), wire, time, allowance)
    return carry_out(deployment, RunOptions(rules, phases=phases_of(cases, is_mock=False)))


def caught(fault: Fault, rules: tuple[str, ...] = ()) -> dict[str, int]:
    """Returns the rules of a fault that were found broken, each with its first request's number.

    Args:
        fault: The fault.
        rules: The rules to judge; empty for all.
    """
    numbers: dict[str, int] = {}
    for finding in judged(parts=fault.parts, rules=rules).findings:
        if finding.rule.id in fault.rules:
            number = finding.exchange.number
            numbers[finding.rule.id] = min(number, numbers.get(finding.rule.id, number))
    return numbers


def main() -> int:
    """Judges every fault; returns 1 where one is not caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.at_reference")
    parser.add_argument("--only", default="", metavar="TEXT", help="faults whose name holds it")
    text = parser.parse_args().only
    logging.disable(logging.CRITICAL)  # some faults crash, and their tracebacks are not the point
    missed = 0
    faults = [fault for name, fault in EVERY.items() if text in name]
    for fault in faults:
        numbers = caught(fault)
        missed += not numbers
        shown = [f"request {number}: {rule}" for rule, number in numbers.items()]
        print(f"{fault.name}: {', '.join(shown) or 'NOT CAUGHT'}", flush=True)  # noqa: T201 - a command
    print(f"caught at the reference: {len(faults) - missed} of {len(faults)}")  # noqa: T201 - a command
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
