"""Registers probes, tells what each needs of a target, and selects and orders those of a run.

A probe is a well-chosen request, or a short sequence, and only sends. Checks judge its exchanges,
so that a generated case or a recording can settle the same rules. A probe of several parts is a
generator: at each ``yield`` another probe may go on, so that requests which settle much come first.
"""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Final

from msgspec import json

from understudy.openapi.loader import Document
from understudy.verify.catalogue import catalogue, rules_of
from understudy.verify.checks import CHECKS
from understudy.verify.clock import Time
from understudy.verify.deployment import Deployment
from understudy.verify.probe_client import ProbeClient
from understudy.verify.target import CREDENTIALS, Target

# ``make schedule`` measures on the bundled mock what each part of each probe sends and settles, and a
# test holds the file to that, so that no probe has to say by hand what its parts are worth.

SCHEDULE: Final = Path(__file__).with_name("schedule.json")


@dataclass(frozen=True, slots=True)
class ProbePart:
    """The requests that a probe sends before another probe may go on.

    Attributes:
        checks: Names of the checks that it settles, of the rules that the probe is for.
        cost: The number of requests that it sends.
        by: The credentials that it sends with, and whether it writes.
        tokens: The number of access tokens that are issued to it.
    """

    checks: tuple[str, ...]
    cost: int = 1
    by: str = ""
    tokens: int = 0

    @property
    def questions(self) -> list[tuple[str, str]]:
        """The checks, each with the credentials that it is settled by."""
        return [(check, self.by) for check in self.checks]


@cache  # the file is a part of the package
def measured() -> Mapping[str, tuple[ProbePart, ...]]:
    """Returns the parts of each probe, by the probe's name."""
    if not SCHEDULE.exists():  # during the first measurement
        return {}
    return json.decode(SCHEDULE.read_bytes(), type=dict[str, tuple[ProbePart, ...]])


Parts = Iterator[object]
"""The parts of a probe; only the end of a part matters: after it another probe may go on."""

ProbeFunction = Callable[[ProbeClient], Parts | None]


@dataclass(frozen=True, slots=True)
class Probe:
    """A sequence of requests and the rules that it is for.

    Attributes:
        name: Its name in reports.
        rules: Ids of the rules that it is for.
        parts: Its parts, in order, as measured; if it turns out to have more, they are sent after
            those of all other probes.
        needs: What the target must give or permit, as named in ``needs``.
        run: The function.
    """

    name: str
    rules: tuple[str, ...]
    parts: tuple[ProbePart, ...]
    needs: tuple[str, ...]
    run: ProbeFunction

    @property
    def cost(self) -> int:
        """The approximate number of requests."""
        return sum(part.cost for part in self.parts)

    @property
    def tokens(self) -> int:
        """The approximate number of access tokens that are issued to it."""
        return sum(part.tokens for part in self.parts)

    @property
    def is_exhausting(self) -> bool:
        """True if it uses up a limit, and so may be sent once, after undoing."""
        return "exhaust" in self.needs

    @property
    def is_last(self) -> bool:
        """True if it moves time or uses up a limit, and so comes after all others."""
        return self.is_exhausting or "clock" in self.needs

    def steps(self, client: ProbeClient) -> Parts:
        """Yields after each of its parts; a plain function is a single step."""
        parts = self.run(client)
        if parts is not None:
            yield from parts


PROBES: Final[list[Probe]] = []


def probe(*rules: str, needs: tuple[str, ...] = ()) -> Callable[[ProbeFunction], ProbeFunction]:
    """Registers a probe; ``make schedule`` measures what its parts settle and cost.

    Args:
        rules: Ids of ``rules.yaml`` that it is for; each must be settled by one of its parts.
        needs: What the target must give or permit.
    """

    def register(run: ProbeFunction) -> ProbeFunction:
        parts = measured().get(run.__name__, (ProbePart(()),))
        PROBES.append(Probe(run.__name__, rules, parts, needs, run))
        return run

    return register


def _app(target: Target) -> bool:
    app = target.application
    return None not in (app.client_id, app.client_secret, app.redirect_uri)


def _decision(command: str | None, target: Target) -> bool:
    return command is not None or None not in (
        target.application.username,
        target.application.password,
    )


_TARGET_NEEDS: Final[Mapping[str, tuple[Callable[[Target], object], str]]] = {
    "slug": (lambda t: t.known.slug, "[known] slug is not given"),
    "emails": (lambda t: t.known.emails, "[known] emails are not given"),
    "hashes": (lambda t: t.known.own_hashes, "[known] emails or hashes are not given"),
    "two_emails": (lambda t: t.known.own_hashes[1:], "[known] gives fewer than two e-mails"),
    "other_slug": (lambda t: t.known.other_slug, "[known] other_slug is not given"),
    "other_hashes": (lambda t: t.known.others_hashes, "[known] other_emails are not given"),
    "other_emails": (lambda t: t.known.other_emails, "[known] other_emails are not given"),
    "people": (lambda t: t.known.people, "[known] people are not given"),
    "private_slug": (lambda t: t.known.private_slug, "[known] private_slug is not given"),
    "hidden_contact_slug": (
        lambda t: t.known.hidden_contact_slug,
        "[known] hidden_contact_slug is not given",
    ),
    "writes": (lambda t: t.writes != "observe", "writing is not permitted: the mode is observe"),
    "uploads": (lambda t: t.permit.uploads, "not permitted: [permit] uploads = true"),
    "tokens": (lambda t: t.permit.tokens, "not permitted: [permit] tokens = true"),
    "exhaust": (
        lambda t: t.permit.exhaust_rate_limit,
        "not permitted: [permit] exhaust_rate_limit = true",
    ),
    "auth_url": (lambda t: t.auth_url, "auth_url is not given"),
    "app": (_app, "[application] client_id, client_secret and redirect_uri are not given"),
    "approval": (
        lambda t: _decision(t.application.approve, t),
        "no approval is possible: [application] username and password, or approve, are not given",
    ),
    "denial": (
        lambda t: _decision(t.application.deny, t),
        "no denial is possible: [application] username and password, or deny, are not given",
    ),
    "password": (
        lambda t: t.application.username and t.application.password,
        "[application] username and password are not given",
    ),
    "other_app": (
        lambda t: t.other_application.client_id and t.other_application.client_secret,
        "[other_application] is not given",
    ),
    "other_person": (
        lambda t: t.other_application.username and t.other_application.password,
        "[other_application] username and password are not given",
    ),
    "two_step": (lambda t: t.two_step.application_password, "[two_step] is not given"),
}


def lacking(needs: tuple[str, ...], target: Target, time: Time) -> str | None:
    """Returns the first reason why a probe cannot run, or None."""
    for need in needs:
        if need == "clock":
            if time.advance is None:
                return "the deployment's time cannot be moved"
        elif need in CREDENTIALS:
            if need not in target.identities():
                return f"[credentials] {CREDENTIALS[need]} is not given"
        else:
            is_set, reason = _TARGET_NEEDS[need]
            if not is_set(target):
                return reason
    return None


# Parts that settle much are sent before those that repeat it. The order follows from the measured
# schedule, what each part settles and what it costs, and from the catalogue: which checks can make a
# finding at any deployment.

AGAIN = 0.25
"""The worth of settling a check once more, as a share of settling it the time before."""

OTHERWISE = 0.1
"""The worth of settling a check for the first time with another credential, or for a write."""

RARITY = 0.2
"""The exponent by which a check loses worth with the number of parts that settle it."""

NOTED = 0.35
"""The worth of a check that can only note, as a share of one that can make a finding."""

Settled = Counter[str | tuple[str, str]]
"""The number of times that checks were settled, in all and with the credential of a part."""

Weights = Mapping[str, float]
"""The worth of settling each check for the first time."""


def order_of_parts(probes: Sequence[Probe], ended: Container[str]) -> Iterator[Probe]:
    """Yields the probe whose next parts settle most for each request, again and again.

    A check that was settled before is worth less and less; what moves time or uses up a limit comes
    last.

    Args:
        probes: The probes that may run.
        ended: Names of the probes that have ended; read after each part.
    """
    settled_before: Settled = Counter()
    for is_last in (False, True):
        staged = [probe for probe in probes if probe.is_last == is_last]
        weights = _weights(staged)
        waiting = [
            (-_worth(probe, 0, settled_before, weights), place, 0)
            for place, probe in enumerate(staged)
        ]
        heapify(waiting)
        while waiting:
            _, place, done = heappop(waiting)
            now = (-_worth(staged[place], done, settled_before, weights), place, done)
            if waiting and now > waiting[0]:  # its worth has fallen since it was pushed
                heappush(waiting, now)
                continue
            yield staged[place]
            for part in staged[place].parts[done : done + 1]:
                _add(settled_before, part)
            if staged[place].name not in ended:
                heappush(
                    waiting,
                    (-_worth(staged[place], done + 1, settled_before, weights), place, done + 1),
                )


def in_order(probes: Sequence[Probe]) -> list[Probe]:
    """Returns the probes in the order in which they begin, if each has the parts it declares."""
    ended: set[str] = set()
    begun: dict[str, int] = {}
    for probe in order_of_parts(probes, ended):
        begun[probe.name] = begun.get(probe.name, 0) + 1
        if begun[probe.name] >= len(probe.parts):  # one that only recalls responses has none
            ended.add(probe.name)
    return sorted(probes, key=lambda probe: list(begun).index(probe.name))


def _weights(probes: Sequence[Probe]) -> Weights:
    """Returns the worth of each check: more if few parts settle it, and if it can make findings."""
    parts = Counter(check for probe in probes for part in probe.parts for check in part.checks)
    noted = _checks_that_only_note()
    return {
        check: count**-RARITY * (NOTED if check in noted else 1) for check, count in parts.items()
    }


def _checks_that_only_note() -> set[str]:
    """Returns the names of the checks of assumptions, which bind no other deployment."""
    rules = catalogue()
    return {
        check.name
        for check in CHECKS
        if check.is_choice or all(rules[rule].status == "assumed" for rule in check.rules)
    }


def _worth(probe: Probe, done: int, settled_before: Settled, weights: Weights) -> float:
    """Returns the highest worth per request of the next part, the next two, and so on."""
    best = settled = cost = 0.0
    settled_by_then = settled_before.copy()
    for part in probe.parts[done:]:
        settled += sum(
            weights[check] * _novelty((check, by), settled_by_then) for check, by in part.questions
        )
        _add(settled_by_then, part)
        cost += part.cost
        best = max(best, settled / cost)
    return best


def _novelty(question: tuple[str, str], settled_before: Settled) -> float:
    """Returns the worth of a question as a share, which falls the more often it was settled."""
    check, _ = question
    if question not in settled_before and check in settled_before:
        return OTHERWISE
    return AGAIN ** settled_before[question]


def _add(settled_before: Settled, part: ProbePart) -> None:
    settled_before.update(part.questions)
    settled_before.update(part.checks)


def chosen(
    deployment: Deployment, document: Document, rules: Sequence[str] = ()
) -> list[tuple[Probe, str | None]]:
    """Returns the probes of the rules to judge, each with the reason why it cannot run or None.

    They are in the order in which they begin; those that cannot run come last. There are none for
    another service.

    Raises:
        StartupError: A rule does not exist, or does not apply to the service.
    """
    probes = candidates(deployment, rules_of(document, rules))
    ready = in_order([probe for probe, reason in probes if reason is None])
    excluded = [(probe, reason) for probe, reason in probes if reason is not None]
    return [*((probe, None) for probe in ready), *excluded]


def candidates(deployment: Deployment, wanted: Collection[str]) -> list[tuple[Probe, str | None]]:
    """Returns the probes of the wanted rules, each with the reason why it cannot run or None."""
    return [
        (probe, lacking(probe.needs, deployment.target, deployment.time))
        for probe in PROBES
        if any(rule in wanted for rule in probe.rules)
    ]


def needs_of(candidates: Iterable[tuple[Probe, str | None]]) -> set[str]:
    """Returns the needs of the probes that can run."""
    return {need for probe, reason in candidates if reason is None for need in probe.needs}
