"""Registers probes: a well-chosen request, or a short sequence, for the rules it settles.

A probe only sends. What its exchanges mean is for the checks to say, so that a generated case or a
recording can settle the same rules. A probe of several parts is a generator: at each ``yield``
another probe may go on, so that what reveals much is sent before what repeats it in other words.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

from understudy.deployments.clock import Time
from understudy.deployments.target import Target
from understudy.verify.probe_client import ProbeClient

Parts = Iterator[object]
"""What each part sent, for nobody to look at: after it another probe may go on."""

Run = Callable[[ProbeClient], Parts | None]

AGAIN = 0.25
"""What asking a rule once more is worth, beside asking it the time before."""

OTHERWISE = 0.5
"""What it is worth to ask a rule for the first time with another credential, or of a write."""

WRITING = 0.5
"""What a part of a probe that writes is worth beside one that reads: what it changes is put back at
a cost, and what was read before has to be read again."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a probe sends before another may go on.

    Attributes:
        rules: Ids of the rules that it settles.
        cost: How many requests it sends, about.
        by: With which credential, and whether it writes, where that is what it varies.
    """

    rules: tuple[str, ...]
    cost: int
    by: str = ""

    @property
    def questions(self) -> list[tuple[str, str]]:
        """Its rules, each as it asks them."""
        return [(rule, self.by) for rule in self.rules]


@dataclass(frozen=True, slots=True)
class Probe:
    """A sequence of requests and the rules that it settles.

    Attributes:
        name: What reports call it.
        parts: What it sends, in order; it may turn out to be more, which then comes at the end.
        needs: What the target must give or permit, as named in ``NEEDS``.
        run: The function.
    """

    name: str
    parts: tuple[Part, ...]
    needs: tuple[str, ...]
    run: Run

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules that it settles."""
        return tuple(dict.fromkeys(rule for part in self.parts for rule in part.rules))

    @property
    def cost(self) -> int:
        """How many requests it sends, about."""
        return sum(part.cost for part in self.parts)

    @property
    def is_last(self) -> bool:
        """Tells whether it moves time or uses up a limit, and so comes after all others."""
        return bool({"clock", "exhaust"} & set(self.needs))


PROBES: Final[list[Probe]] = []

Asked = Counter[str | tuple[str, str]]
"""How often rules were asked, and how often as a part asks them."""


def part(*rules: str, cost: int = 1, by: str = "") -> Part:
    """Returns a part of a probe.

    Args:
        rules: Ids of ``rules.yaml``.
        cost: How many requests it sends, about.
        by: With which credential, and whether it writes, where that is what it varies.
    """
    return Part(rules, cost, by)


def probe(
    *rules: str,
    needs: tuple[str, ...] = (),
    cost: int = 1,
    by: str = "",
    then: Sequence[Part] = (),
) -> Callable[[Run], Run]:
    """Registers a probe.

    Args:
        rules: Ids of ``rules.yaml`` that it settles; where it has parts, that its first one does.
        needs: What the target must give or permit.
        cost: How many requests that takes, about.
        by: As of a part.
        then: Its further parts, one for each ``yield``.
    """

    def register(run: Run) -> Run:
        PROBES.append(Probe(run.__name__, (Part(rules, cost, by), *then), needs, run))
        return run

    return register


def turns(probes: Sequence[Probe], over: Container[str]) -> Iterator[Probe]:
    """Yields whose turn it is: of whom the next parts settle most for a request.

    A rule that was asked before counts less and less; what writes gives way to what reads; what
    moves time or uses up a limit comes last.

    Args:
        probes: All that may run.
        over: Names of those that came to their end; looked at after each turn.
    """
    asked: Asked = Counter()
    for is_last in (False, True):
        staged = [probe for probe in probes if probe.is_last == is_last]
        waiting = [(-_worth(probe, 0, asked), place, 0) for place, probe in enumerate(staged)]
        heapify(waiting)
        while waiting:
            _, place, done = heappop(waiting)
            now = (-_worth(staged[place], done, asked), place, done)
            if waiting and now > waiting[0]:  # worth only ever falls, so nothing else need be asked
                heappush(waiting, now)
                continue
            yield staged[place]
            for ahead in staged[place].parts[done : done + 1]:
                _ask(asked, ahead)
            if staged[place].name not in over:
                heappush(waiting, (-_worth(staged[place], done + 1, asked), place, done + 1))


def in_order(probes: Sequence[Probe]) -> list[Probe]:
    """Returns the probes in the order in which they begin, if each has the parts it declares."""
    over: set[str] = set()
    begun: dict[str, int] = {}
    for whose in turns(probes, over):
        begun[whose.name] = begun.get(whose.name, 0) + 1
        if begun[whose.name] == len(whose.parts):
            over.add(whose.name)
    return sorted(probes, key=lambda whose: list(begun).index(whose.name))


def _worth(probe: Probe, done: int, asked: Asked) -> float:
    """Returns the most that the next parts settle for a request, however far one looks ahead."""
    best = settled = cost = 0.0
    here = asked.copy()
    for ahead in probe.parts[done:]:
        settled += sum(_news(question, here) for question in ahead.questions)
        _ask(here, ahead)
        cost += ahead.cost
        best = max(best, settled / cost)
    return best * (WRITING if "writes" in probe.needs else 1)


def _news(question: tuple[str, str], asked: Asked) -> float:
    """Returns what a question is worth after those that were asked."""
    rule, _ = question
    if question not in asked and rule in asked:
        return OTHERWISE
    return AGAIN ** asked[question]


def _ask(asked: Asked, ahead: Part) -> None:
    asked.update(ahead.questions)
    asked.update(ahead.rules)


def _app(target: Target) -> bool:
    app = target.application
    return None not in (app.client_id, app.client_secret, app.redirect_uri)


def _decision(wish: str | None, target: Target) -> bool:
    return wish is not None or None not in (
        target.application.username,
        target.application.password,
    )


_GIVEN: Final[Mapping[str, tuple[Callable[[Target], object], str]]] = {
    "slug": (lambda t: t.known.slug, "[known] slug is not given"),
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
        "nobody can approve: [application] username and password, or approve",
    ),
    "denial": (
        lambda t: _decision(t.application.deny, t),
        "nobody can deny: [application] username and password, or deny",
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

_CREDENTIALS: Final = {
    "owner": "access_token",
    "reader": "read_only_token",
    "auth_only": "auth_only_token",
    "expired": "expired_token",
    "other": "other_access_token",
    "private": "private_access_token",
    "disabled": "disabled_access_token",
    "api_key": "api_key",
}
"""The credentials that a probe can need, and their keys in the file."""


def lacking(needs: tuple[str, ...], target: Target, time: Time) -> str | None:
    """Returns the first reason why a probe cannot run, or None."""
    for need in needs:
        if need == "clock":
            if time.advance is None:
                return "the deployment's time cannot be moved"
        elif need in _CREDENTIALS:
            if need not in target.identities():
                return f"[credentials] {_CREDENTIALS[need]} is not given"
        else:
            is_given, reason = _GIVEN[need]
            if not is_given(target):
                return reason
    return None
