"""Runs verify on the reference in this process, as on somebody else's deployment."""

from datetime import timedelta

from tests.quality.reference.__main__ import told
from tests.quality.reference.in_process import ADDRESSES, InProcess
from tests.quality.reference.parts import SOUND, Parts
from tests.quality.reference.service import Options
from tests.quality.reference.serving import DEFAULTS

from understudy.deployments.allowance import Allowance
from understudy.deployments.clock import Time
from understudy.deployments.deployment import Deployment
from understudy.deployments.target import Target
from understudy.deployments.target_files import target_of
from understudy.verify.outcome import Outcome
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out


def target(accept: tuple[str, ...] = (), *, exhausts: bool = False) -> Target:
    """Returns what a customer of the reference would write about it.

    Args:
        accept: Rules that are accepted to be broken.
        exhausts: Whether limits may be used up.
    """
    permit = {"uploads": True, "tokens": True, "exhaust_rate_limit": exhausts}
    more = {"mode": "full", "document": "published", "accept": list(accept), "permit": permit}
    return target_of({**told(ADDRESSES), **more}, {}, "the reference's target")


def judged(
    options: Options = DEFAULTS,
    parts: Parts = SOUND,
    *,
    rules: tuple[str, ...] = (),
    accept: tuple[str, ...] = (),
    exhausts: bool = False,
) -> Outcome:
    """Returns what verify finds on a reference as good as new.

    Args:
        options: What its operator decides.
        parts: What it is built of.
        rules: The rules to judge; all where none is named.
        accept: Rules that are accepted to be broken.
        exhausts: Whether limits may be used up, which takes more than the budget of an hour.
    """
    wire = InProcess(options, parts)
    time = Time(now=wire.clock, wait=wire.clock.move, advance=wire.clock.move)
    allowance = Allowance(pause=timedelta(hours=2)) if exhausts else Allowance()
    deployment = Deployment(target(accept, exhausts=exhausts), wire, time, allowance)
    return carry_out(deployment, RunOptions(rules=rules))
