"""Finds which findings are consequences of another one, by intervention.

The defect behind a finding is repaired in the stored responses, and all exchanges are judged again:
findings that disappear are its consequences. A repair replaces the status, the media type, members
that the document does not allow, or members that differ from a compared response. If no repair
works, its consequences are the findings that rest on the response and disappear without it.
"""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import getitem
from typing import Any, Final, NamedTuple

import orjson

from understudy.exchange.messages import NO_JSON, Exchange, Response
from understudy.openapi.media_types import declared_for, is_json
from understudy.openapi.pointers import objects_in
from understudy.verify.account_history import changes_in
from understudy.verify.evaluator import Evaluator, is_shown
from understudy.verify.findings import GENERAL, Finding
from understudy.verify.history import AGAIN, WRITES
from understudy.verify.repetitions import GUESSES, Guess, alike_of, content_of, neighbours

Repair = Callable[[Exchange], Exchange]
"""Returns an exchange with its response repaired, or unchanged if it does not have the defect."""

Place = tuple[str, int]
"""A rule that is broken, and the number of the exchange that breaks it."""

MOST_EXCHANGES: Final = 3000
"""Most exchanges that are judged again; more would take longer than the run did."""

MOST_ROOTS: Final = 12
"""Most rules that are tried as causes."""

MOST_COMPARED: Final = 2
"""Most steps of a finding whose members are tried as a repair."""

FEWEST_PAIRS: Final = 4
"""Fewest repeated responses for a guess to be right."""

SHARE: Final = 0.5
"""Least share of repeated responses among those to other requests, or after a change: many expire."""

FEWEST_RULES: Final = 3
"""Fewest rules whose findings repeated responses must explain to be named as their cause."""

_WANTED: Final = re.compile(r"status (\d{3})")
_CLASSES: Final = {"success": 200, "a refusal": 403}
_MISSING: Final = re.compile(r'"([^"]+)" is a required property')
_ABSENT: Final = object()


def roots(evaluator: Evaluator, exchanges: Sequence[Exchange]) -> dict[Place, str]:
    """Returns the rule or the guess that explains each finding, if known; its own rule if a cause.

    Args:
        evaluator: The evaluator of the run, with its findings.
        exchanges: All exchanges, in order.
    """
    findings = [it for it in evaluator.findings if not it.is_note]
    rules = {it.rule.id for it in findings}
    if len(rules) == 1 or not rules or len(exchanges) > MOST_EXCHANGES:
        return {}
    trial = _Trial(evaluator, exchanges, rules)
    repeated = trial.repeated(findings)
    findings = [it for it in findings if _place(it) not in repeated]
    first: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda it: it.exchange.number):
        first.setdefault(finding.rule.id, finding)
    tried = sorted(first, key=lambda it: (it in GENERAL, first[it].exchange.number))[:MOST_ROOTS]
    explained: dict[Place, str] = {}
    for rule in tried:
        causes = {root for (name, _), root in explained.items() if root != name}
        if any(name == rule != root for (name, _), root in explained.items()):
            continue  # a consequence is not tried as a cause, and a cause not as a consequence
        left = [
            it
            for it in findings
            if it.rule.id not in {rule, *causes}
            and explained.get(_place(it), it.rule.id) == it.rule.id
        ]
        explained |= trial.following(first[rule], findings, left)
    return explained | repeated


def _place(finding: Finding) -> Place:
    return finding.rule.id, finding.exchange.number


class _InvalidMember(NamedTuple):
    """A member that a response lacks, or has with a value that the schema does not allow.

    Attributes:
        holder: The path to the object that has it, or lacks it.
        name: Its name.
        is_missing: True if the object lacks it.
    """

    holder: tuple[str | int, ...]
    name: str
    is_missing: bool

    @property
    def kind(self) -> object:
        """A key that is equal for the same member of several items and responses."""
        return self.name, self.is_missing, [it for it in self.holder if isinstance(it, str)][-1:]


@dataclass
class _Trial:
    """Judges the exchanges of a run again, with repaired responses."""

    evaluator: Evaluator
    exchanges: Sequence[Exchange]
    rules: Collection[str]

    @cached_property
    def broken(self) -> set[Place]:
        """The rules that the original responses break, each with its exchange's number."""
        return self._judged(self.rules)

    def repeated(self, findings: Sequence[Finding]) -> dict[Place, str]:
        """Returns the findings that repeated responses explain, each with the name of the guess.

        A repeated response explains a finding if it was right where it was first sent, or if the
        finding vanishes once the repeated ones are left out of the history.
        """
        best, most = dict[Place, str](), (FEWEST_RULES, 0)
        for guess in reversed(GUESSES.values()):  # the narrowest first, as it explains the least
            operations = self._repeating(guess)
            reads = [it for it in self.exchanges if it.operation in operations]
            alike = alike_of(reads, guess)
            origins = {number: same[0].number for number, same in alike.items()}
            again = {number for number, origin in origins.items() if origin < number}
            if not again:
                continue
            left = self.broken & self._judged(self.rules, unseen=again)
            explained = {
                (rule, number): guess.id
                for rule, number in {*map(_place, findings), *self.broken}
                if (rule, origins.get(number, number)) not in left
                and (number in again or (rule, number) in self.broken)
            }
            much = len({rule for rule, _ in explained}), len(explained)
            if much > most:
                best, most = explained, much
        return best

    def _repeating(self, guess: Guess) -> set[str]:
        """Returns the operations whose responses depend on a part of the request alone."""
        repeats = defaultdict[str, list[bool]](list)
        wrong = set[str]()
        for before, now in neighbours(self.exchanges, guess):
            changes = bisect(self._changes, before.number), bisect(self._changes, now.number)
            sent = [(it.request.url, it.identity) for it in (before, now)]
            if sent[0] == sent[1] and changes[0] == changes[1]:
                continue  # no cache is needed for the same response
            repeats[now.operation].append(content_of(before) == content_of(now))
            if repeats[now.operation][-1] and self._breaks(now) - self._breaks(before):
                wrong.add(now.operation)
        return {
            it for it in wrong if sum(repeats[it]) >= max(FEWEST_PAIRS, SHARE * len(repeats[it]))
        }

    def _breaks(self, exchange: Exchange) -> set[str]:
        return {rule for rule in self.rules if (rule, exchange.number) in self.broken}

    @cached_property
    def _changes(self) -> list[int]:
        """The numbers of the exchanges that may have changed a resource, in order."""
        writes = (it for it in self.exchanges if it.request.method in WRITES)
        return [it.number for it in writes if it.site == "resource" and it.response.is_success]

    def following(
        self, lead: Finding, findings: Sequence[Finding], left: Sequence[Finding]
    ) -> dict[Place, str]:
        """Returns the consequences of a finding, each with its rule as the explanation.

        Args:
            lead: The first finding of the rule.
            findings: All findings.
            left: The findings that are not explained yet.
        """
        candidates = [_place(it) for it in left if _place(it) in self.broken]
        own = [it for it in findings if it.rule == lead.rule]
        places, rules = {*map(_place, own)}, {lead.rule.id, *(rule for rule, _ in candidates)}
        for repair in self._repairs(lead) if candidates else ():
            now = self._after(repair, own, rules)
            if now is not None and now.isdisjoint(places):
                # only after a complete repair are the findings that remain independent of the rule
                is_whole = all(rule != lead.rule.id for rule, _ in now)
                stay = {it: it[0] for it in candidates if it in now and is_whole}
                return dict.fromkeys({*candidates} - now, lead.rule.id) | stay
        breaking = self._breaking(lead)
        resting = {
            _place(it)
            for it in left
            if it.exchange.number not in breaking
            and any(step.number in breaking for step in it.steps[:-1])
        }.intersection(candidates)
        now = self._judged(rules, unseen=breaking) if resting else set()
        return dict.fromkeys(resting - now, lead.rule.id)

    def _breaking(self, lead: Finding) -> set[int]:
        return {number for rule, number in self.broken if rule == lead.rule.id}

    def _after(
        self, repair: Repair, own: Sequence[Finding], rules: Collection[str]
    ) -> set[Place] | None:
        """Returns what is broken after a repair; None if a finding's own steps still show it."""
        try:
            for finding in own:  # a cheap test, before all exchanges are judged
                steps = [*map(repair, finding.steps)]
                if is_shown(finding.rule.id, steps, self.evaluator.history):
                    return None
            return self._judged(rules, repair)
        except (ValueError, TypeError):  # a body is too deep to be serialized again
            return None

    def _judged(
        self, rules: Collection[str], repair: Repair = lambda it: it, unseen: Collection[int] = ()
    ) -> set[Place]:
        """Returns what repaired responses break, with a history that lacks the unseen exchanges."""
        history, found = self.evaluator.history.emptied(), set[Place]()
        for exchange in map(repair, self.exchanges):
            if exchange.source != AGAIN:
                results = self.evaluator.results(exchange, history, rules)
                found |= {(it.id, exchange.number) for it, result in results if not result.holds}
            if exchange.number not in unseen:
                history.add(exchange)
        return found

    def _repairs(self, lead: Finding) -> Iterator[Repair]:
        exchange = lead.exchange
        breaking = self._breaking(lead)
        wanted = _WANTED.match(lead.expected)
        status = int(wanted[1]) if wanted else _CLASSES.get(lead.expected.partition(",")[0])
        if status is not None:
            yield lambda it: _with(it, status=status) if it.number in breaking else it
        kind = exchange.response.media_type
        if self._media_type(exchange) != kind:
            yield lambda it: self._retyped(it) if self._is_alike(it, exchange, kind) else it
        invalid = next(self._invalid_members(exchange), None)
        if invalid is not None:
            yield lambda it: self._mended(it, invalid)
        for step in lead.steps[:-1][-MOST_COMPARED:]:
            if step.json_object and exchange.json_object:
                yield _as_in(exchange, step)

    def _is_alike(self, it: Exchange, exchange: Exchange, kind: str) -> bool:
        return it.operation == exchange.operation and it.response.media_type == kind

    def _media_type(self, exchange: Exchange) -> str:
        """Returns the media type that the document declares for a response; its own if allowed."""
        operation = self.evaluator.routes.operation(exchange.operation)
        response = operation.response(exchange.status) if operation is not None else None
        own = exchange.response.media_type
        if response is None or not response.content or declared_for(own, response.content):
            return own
        return next(iter(response.content))

    def _retyped(self, exchange: Exchange) -> Exchange:
        """Returns an exchange with the declared media type, and a similar body if that is JSON."""
        kind = self._media_type(exchange)
        if is_json(kind) and exchange.body is NO_JSON and exchange.response.body:
            likes = (it for it in reversed(self.exchanges) if it.number < exchange.number)
            key = exchange.operation, exchange.identity, exchange.status
            same = (it for it in likes if (it.operation, it.identity, it.status) == key)
            like = next((it for it in same if it.body is not NO_JSON), exchange)
            exchange = _with(exchange, body=like.response.body)
        return _with(exchange, headers=(("content-type", kind),))

    def _invalid_members(self, exchange: Exchange) -> Iterator[_InvalidMember]:
        """Yields the members that a response lacks, or has with values that its schema forbids."""
        operation = self.evaluator.routes.operation(exchange.operation)
        validator = self.evaluator.documents.get(exchange.site)
        if operation is None or validator is None:
            return
        for error in validator.body_errors(exchange, operation):
            path: list[str | int] = list(error.instance_path)
            if missing := _MISSING.fullmatch(error.message):
                path.append(missing[1])
            if path and isinstance(path[-1], str):
                yield _InvalidMember(tuple(path[:-1]), path[-1], is_missing=bool(missing))

    def _mended(self, exchange: Exchange, invalid: _InvalidMember) -> Exchange:
        """Returns an exchange with such members replaced by the request's or similar objects'."""
        members = [it for it in self._invalid_members(exchange) if it.kind == invalid.kind]
        if not members:
            return exchange
        body = orjson.loads(exchange.response.body)
        for member in members:
            holder = reduce(getitem, member.holder, body)
            like = self._most_alike(holder, member.name)
            holder[member.name] = {**holder, **like, **changes_in(exchange)}.get(member.name)
        return _with(exchange, body=orjson.dumps(body))

    def _most_alike(self, value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        wrong = type(value.get(name, _ABSENT))
        alike = [it for it in self._members if name in it and type(it[name]) is not wrong]

        def shared(it: Mapping[str, Any]) -> int:
            return sum(it.get(member, _ABSENT) == value[member] for member in value)

        return max(alike, key=shared, default={})

    @cached_property
    def _members(self) -> list[dict[str, Any]]:
        """All JSON objects in the responses."""
        successes = (it for it in self.exchanges if it.response.is_success)
        return [it for each in successes for it in objects_in(each.body)]


def _as_in(exchange: Exchange, other: Exchange) -> Repair:
    """Returns a repair that replaces the members of one response by another's, where they occur."""
    names = {*exchange.json_object, *other.json_object}
    values = {
        it: (exchange.json_object.get(it, _ABSENT), other.json_object.get(it, _ABSENT))
        for it in names
    }
    differing = {name: pair for name, pair in values.items() if pair[0] != pair[1]}

    def repaired(it: Exchange) -> Exchange:
        if it.operation != exchange.operation or not it.json_object:
            return it
        body = dict(it.json_object)
        for name, (wrong, right) in differing.items():
            if body.get(name, _ABSENT) == wrong:
                body[name] = right
        body = {name: value for name, value in body.items() if value is not _ABSENT}
        return it if body == it.json_object else _with(it, body=orjson.dumps(body))

    return repaired


def _with(
    exchange: Exchange,
    status: int | None = None,
    headers: Sequence[tuple[str, str]] = (),
    body: bytes | None = None,
) -> Exchange:
    """Returns an exchange with parts of its response replaced, and ``Content-Length`` updated."""
    response = exchange.response
    if body is not None and response.header("content-length"):
        headers = (*headers, ("content-length", str(len(body))))
    names = {name for name, _ in headers}
    kept = [it for it in response.headers if it[0] not in names]
    content = response.body if body is None else body
    return replace(
        exchange, response=Response(status or response.status, (*kept, *headers), content)
    )
