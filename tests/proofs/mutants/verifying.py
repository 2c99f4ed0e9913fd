"""Runs verify on mutants of one mock, which is as good as new each time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import httpx
from msgspec.structs import replace
from tests.proofs.mutants import (
    authorize,
    avatar_views,
    avatars,
    callers,
    careless,
    dresses,
    edited_profiles,
    equivalents,
    error_codes,
    flows,
    generous,
    implicit,
    limits,
    mechanical,
    mechanical_exchanges,
    own_profile,
    precedence,
    profiles,
    qr_codes,
    relations,
    second_looks,
    sequences,
    tokens,
    uploads,
)
from tests.proofs.mutants.edge import MUTANTS, Edge, Mutant
from tests.proofs.mutants.reproduction import Recorder, seen_again

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.mock.app import Mock
from understudy.mock.server.worlds import Snapshot
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.findings import Event, Finding, Found, Outcome, PhaseStarted, ignore
from understudy.verify.generated_cases import generated
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.scenarios import scenarios

MODULES = (
    mechanical,
    mechanical_exchanges,
    profiles,
    own_profile,
    qr_codes,
    avatars,
    uploads,
    limits,
    authorize,
    generous,
    tokens,
    implicit,
    avatar_views,
    edited_profiles,
    callers,
    flows,
    sequences,
    relations,
    error_codes,
    precedence,
    dresses,
    careless,
    second_looks,
    equivalents,
)
"""Named, so that importing this registers every mutant."""

# Which module a session imports first would else decide which mutants are every hundredth.
MUTANTS.sort(key=lambda mutant: mutant.name)


class Served(NamedTuple):
    """A mock that mutants stand before.

    Attributes:
        mock: The mock.
        wire: Sends requests to it.
        beginning: Its world as it began.
    """

    mock: Mock
    wire: httpx.BaseTransport
    beginning: Snapshot

    @classmethod
    def of(cls, mock: Mock) -> "Served":
        """Returns a mock with what it takes to make it as good as new."""
        return cls(mock, in_process.InProcess(mock), mock.world.snapshot())


ALONE = Served.of(in_process.mock())
MOCK, INNER = ALONE.mock, ALONE.wire
PATIENT = Allowance(pause=timedelta(hours=2))
WHOLE = (("generated cases", generated(5)), ("scenarios", scenarios(5)))


class Crashed(Exception):
    """A mutant's own code failed, so that nothing can be said of it; the text says on what."""


@contextmanager
def deployed(
    mutant: Mutant | None, seed: int = 0, served: Served = ALONE
) -> Iterator[httpx.BaseTransport]:
    """Gives the wire to a mutant of a mock that is as good as new.

    Args:
        mutant: None for the unbroken mock.
        seed: Of the mock's world: its codes, tokens and ids.
        served: The mock.

    Raises:
        Crashed: In the end, where the mutant's own code failed on a request.
    """
    served.mock.world.become(served.beginning._replace(seed=seed))
    if mutant is None:
        yield served.wire
        return
    edge = Edge(served.wire, mutant.make())
    yield edge
    if edge.crashes:
        msg = f"{mutant.name} crashed on {edge.crashes[0]}"
        raise Crashed(msg)


class Impatient:
    """Ends a run as Ctrl-C does when one of these rules is found broken, while anything is asked."""

    def __init__(self, rules: Sequence[str]) -> None:
        self._rules = set(rules)

    def __call__(self, event: Event) -> None:
        if isinstance(event, PhaseStarted) and event.name == "undo":
            self._rules.clear()  # what is undone is undone whole, whatever it shows
        if not isinstance(event, Found) or event.finding.is_note:
            return
        if event.finding.rule.id in self._rules:
            raise KeyboardInterrupt


def verified(
    mutant: Mutant | None,
    rules: Sequence[str] = (),
    *,
    seed: int = 0,
    is_hour: bool = False,
    is_whole: bool = False,
    is_short: bool = False,
    is_mock: bool = True,
    served: Served = ALONE,
) -> Outcome:
    """Returns what verify finds on a mutant, or on the unbroken mock.

    Args:
        mutant: None for the unbroken mock.
        rules: The rules to judge; all where none is named.
        seed: Of the mock and of generated cases.
        is_whole: Whether generated cases and scenarios follow the probes.
        is_hour: Whether the published budget of one hour has to do.
        is_short: Whether to stop at the first rule broken that the mutant is meant to break.
        is_mock: Whether assumptions bind it, as they do the mock; elsewhere they are noted.
        served: The mock.

    Raises:
        Crashed: The mutant's own code failed.
    """
    permit = replace(TARGET.permit, exhaust_rate_limit=not is_hour)
    with deployed(mutant, seed, served) as wire:
        deployment = Deployment(
            target=replace(TARGET, permit=permit, is_mock=is_mock),
            transport=wire,
            time=in_process.time_of(served.mock),
            allowance=Allowance() if is_hour else PATIENT,
        )
        options = RunOptions(
            rules=tuple(rules),
            seed=seed,
            phases=WHOLE if is_whole else (),
            listen=Impatient(mutant.rules if mutant is not None else ()) if is_short else ignore,
        )
        return carry_out(deployment, options)


def first_finding(mutant: Mutant, outcome: Outcome) -> Finding:
    """Returns the first finding of a rule that a mutant is meant to break; there must be one."""
    findings = (each for each in outcome.findings if each.rule.id in mutant.rules)
    return min(findings, key=lambda each: each.exchange.number)


def reproduced(
    mutant: Mutant | None, finding: Finding, recorder: Recorder, folder: Path
) -> list[Finding]:
    """Returns what the printed reproduction of a finding shows at a mutant as good as new.

    Args:
        mutant: None for the unbroken mock.
        finding: The finding.
        recorder: A running recorder.
        folder: The working directory of the commands.
    """
    with deployed(mutant) as wire:
        deployment = Deployment(TARGET, wire, in_process.time_of(MOCK))
        return seen_again(finding, deployment, recorder, folder)


def failed(outcome: Outcome) -> set[str]:
    """Returns the rules that were found broken."""
    return {found.rule.id for found in outcome.rules if found.status == "failed"}
