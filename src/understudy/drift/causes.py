"""Assigns each difference to its cause: the rule that one of the two deployments breaks there.

No texts are compared. A broken rule is the cause of a difference if the response keeps the rule
once the aspect that differs is replaced by the other deployment's.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final, NamedTuple

from understudy.drift.differences import (
    ABSENT,
    COUNTED_REQUESTS,
    FAULTS,
    Compared,
    Difference,
    DocumentEntry,
    ExplainedBy,
    Fault,
    is_relation,
)
from understudy.drift.judging import (
    BROKEN,
    KEPT,
    BrokenRule,
    Judgements,
    RepeatedRun,
    RunJudgement,
    last_similar,
)
from understudy.drift.learnt_facts import NO_FACTS, LearntFacts
from understudy.exchange.messages import Exchange
from understudy.interface.facts import AS_ASSUMED, OTHERWISE
from understudy.interface.operations import AVATARS, OWN_PROFILE, QR_CODE, UPDATE_PROFILE
from understudy.interface.rules import Rule
from understudy.reports.content import Severity
from understudy.verify.findings import ANSWERS, DOCUMENT
from understudy.verify.repetitions import GUESSES
from understudy.verify.reports import BEARER, GRAVEST_FIRST, is_in_lower_case, severity_of

# The silences: codes, headers and optional members that the interface leaves to each deployment,
# with its sentence that says so. Open questions that a client notices are not here: for them
# ``rules.yaml`` has an assumption, which says what understudy chose.


@dataclass(frozen=True, slots=True)
class Silence:
    """A choice that the interface leaves to each deployment.

    Attributes:
        id: Name in reports.
        statement: One sentence on the choice, with the section of the interface.
        applies: Tells whether a difference comes from this choice.
    """

    id: str
    statement: str
    applies: Callable[[Difference], bool]


def _is_refused(difference: Difference) -> bool:
    return not (difference.exchange.response.is_success or difference.other.response.is_success)


def _is_status_not_shown(difference: Difference) -> bool:
    """Tells whether only an open status differs, and not whether a token is accepted at all."""
    operations = {*AVATARS, OWN_PROFILE, UPDATE_PROFILE}
    both = difference.exchange, difference.other
    is_of_token = any(it.status == HTTPStatus.UNAUTHORIZED for it in both) and not _is_refused(
        difference
    )
    is_open = difference.exchange.operation in operations and not is_of_token
    return difference.aspect == "status" and is_open


def _is_picture_size(difference: Difference) -> bool:
    """Tells whether two QR codes differ in size, or a size is accepted on one side alone."""
    exchange, other = difference.exchange, difference.other
    is_drawn_or_not = {exchange.response.is_success, other.response.is_success} == {True, False}
    is_refused = exchange.response.is_refusal or other.response.is_refusal
    is_of_size = "size" in exchange.request.query and is_drawn_or_not and is_refused
    is_other = difference.aspect == "picture" or (difference.aspect == "status" and is_of_size)
    return is_other and exchange.operation == QR_CODE


SILENCES: Final[Sequence[Silence]] = (
    Silence(
        "open-error-codes",
        "Values of an error's code field are not shown (interface, Errors).",
        lambda it: it.aspect in {"error code", "member code"} and _is_refused(it),
    ),
    Silence(
        "open-headers",
        "The interface names no response headers beside those of its rules.",
        lambda it: it.aspect.startswith("header "),
    ),
    Silence(
        "open-sign-in-pages",
        "The pages of the authorization server's sign-in are not described (interface, Authentication).",
        lambda it: it.exchange.site == "authorization" and not it.exchange.operation,
    ),
    Silence(
        "open-other-requests",
        "Requests to no operation of the interface, such as those that its URLs lead to, are not "
        "described.",
        lambda it: not it.exchange.operation,
    ),
    Silence(
        "open-optional-members",
        "A member that is not required can be left out (interface, Resources and their fields).",
        lambda it: it.aspect.startswith("member ") and ABSENT in {it.ours, it.theirs},
    ),
    Silence(
        "rate-limit-counted-operations",
        "Which requests a limit counts, and how often, is not shown (interface, Limits, 4).",
        lambda it: it.aspect == COUNTED_REQUESTS,
    ),
    Silence(
        "open-qr-bounds",
        "QR size bounds are not shown (interface, Limits, 4).",
        _is_picture_size,
    ),
    Silence(
        "open-statuses",
        "Status codes of the avatar and own-profile endpoints are not shown (interface, Endpoints).",
        _is_status_not_shown,
    ),
    Silence(
        "open-refusal-statuses",
        "The status of a refusal is only shown for an unknown profile and a used-up limit (interface, "
        "Errors).",
        lambda it: (
            it.aspect == "status"
            and it.exchange.response.is_refusal
            and it.other.response.is_refusal
        ),
    ),
)
"""The silences; a difference is assigned to the first that applies."""


# Broken rules without a response to compare: a rule can be broken in only one of the two runs, or
# by the response to a request that another run did not send, such as one that undoes a change.

BROKEN_ONCE: Final = "broken in one of two runs"
BROKEN_IN_ONE: Final = "broken in one run, and not checked in the other"
BROKEN_TWICE: Final = "broken in two of three runs"


def unpaired(
    judgements: Judgements, named: Container[str], rows: Iterable[Compared]
) -> Iterator[tuple[Rule, Difference]]:
    """Yields the rules that the deployment broke in at least one run and the other one in none.

    Args:
        judgements: The judgements of the three runs.
        named: Ids of the rules that are causes already.
        rows: All requests that were compared: a rule that does not apply to the other deployment's
            response to the same request is left out.
    """
    others = [({row.first.number: row.other for row in rows}, judgements.first)]
    others += [({row.second.number: row.other for row in rows}, judgements.second)]
    own, again = (_first_breaches(run, judgements.other, pairs) for pairs, run in others)
    for name in dict.fromkeys((*own, *again)):
        if name in named or any(name in broken for broken in judgements.other.broken.values()):
            continue
        breach, exchange = own[name] if name in own else again[name]
        other = last_similar(exchange, judgements.other.exchanges)
        if other is not None:
            is_twice = name in own and name in again
            run = judgements.second if name in own else judgements.first
            seen = BROKEN_ONCE if run.judges(name) else BROKEN_IN_ONE
            value = BROKEN if is_twice else seen
            is_second = name not in own
            yield (
                breach.rule,
                Difference(f"rule {name}", value, KEPT, exchange, other, is_second),
            )


def _first_breaches(
    run: RunJudgement, other: RunJudgement, pairs: Mapping[int, Exchange]
) -> dict[str, tuple[BrokenRule, Exchange]]:
    """Returns the rules that a run broke, open ones left out, each with its first breach."""
    first: dict[str, tuple[BrokenRule, Exchange]] = {}
    for exchange in run.exchanges:
        pair = pairs.get(exchange.number)
        for name, breach in run.broken.get(exchange.number, {}).items():
            if not breach.is_open and (pair is None or _can_be_kept(name, other, pair)):
                first.setdefault(name, (breach, exchange))
    return first


Readings = tuple[str, str]
"""The behaviour of the deployment, and that of the other one, each in a few words."""

_SEEN_IN_REPEATED: Final[frozenset[Fault]] = frozenset(
    {"deployment", "silent", "unexplained", "unsteady"}
)
"""Faults under which the effects of a repeated response can appear."""

_LAST: Final = frozenset({ANSWERS.id, DOCUMENT.id})
"""The least specific rules: they come last where several explain a difference."""


@dataclass(frozen=True, slots=True)
class DriftCause:
    """The differences that have one cause.

    Attributes:
        fault: The deployment breaks a rule (``deployment``), the other one does (``other``), their
            documents differ there (``documents``), the contract leaves it open (``silent``), no
            part of the contract covers it (``unexplained``), the deployment breaks a rule in only
            one of its two runs (``unsteady``), or it behaves as was learnt, and the mock has no
            switch for that (``learnt``).
        rule: Id of the rule or of the silence; for an unexplained difference its aspect with both
            values.
        statement: The rule or the silence in one sentence; empty for an unexplained difference.
        differences: The differences, in the order of the requests.
        readings: The behaviour of each of the two where the contract is silent; else empty.
        severity: The severity of a broken rule, as in verify.
    """

    fault: Fault
    rule: str
    statement: str
    differences: tuple[Difference, ...]
    readings: Readings = ("", "")
    severity: Severity = "major"

    @property
    def rank(self) -> tuple[int, int]:
        """The place in reports: the deployment's faults first, of these the most severe."""
        return FAULTS.index(self.fault), GRAVEST_FIRST.index(self.severity)


class _Key(NamedTuple):
    fault: Fault
    rule: str
    statement: str


_Groups = dict[_Key, list[Difference]]
"""The differences by their causes."""


def causes(
    found: Iterable[Difference],
    rows: Iterable[Compared],
    judgements: Judgements,
    explained_by: ExplainedBy | None = None,
    learnt: LearntFacts = NO_FACTS,
) -> list[DriftCause]:
    """Groups differences by their causes, the deployment's faults first.

    Args:
        found: The aspects that differ.
        rows: All requests that were compared.
        judgements: The judgements of the three runs.
        explained_by: Finds the change of the documents behind a difference; None without documents.
        learnt: The facts that the mock follows; a difference that a changed fact explains is left
            out, as the report lists the fact.
    """
    rows = tuple(rows)
    groups: _Groups = {}
    named: set[tuple[int, str]] = set()
    for difference, breaches in _with_broken_rules(found, judgements, learnt):
        named |= {(difference.exchange.number, it.rule.id) for _, it in breaches}
        entry = explained_by(difference) if explained_by is not None else None
        key = _learnt(_key(difference, breaches, entry, judgements), learnt)
        # rules that the end of the hour's requests leaves unchecked are listed as such
        is_limited = HTTPStatus.TOO_MANY_REQUESTS in {
            difference.exchange.status,
            difference.other.status,
        }
        if key.fault != "unexplained" or not is_limited:
            groups.setdefault(key, []).append(difference)
    for breach, difference in _broken_without_aspect(rows, judgements, named):
        is_settled = breach.is_open and _is_settled(breach.rule.id, difference, judgements, learnt)
        if not is_settled:
            key = _of_rule(_fault_of(breach, difference), breach.rule)
            groups.setdefault(_learnt(key, learnt), []).append(difference)
    groups = _moved_under_earlier_breaches(groups)
    for rule, difference in unpaired(judgements, {key.rule for key in groups}, rows):
        fault: Fault = "deployment" if difference.ours == BROKEN else "unsteady"
        groups.setdefault(_of_rule(fault, rule), []).append(difference)
    groups = _moved_under_repetition(groups, rows, judgements)
    groups = _moved_under_rules(_moved_under_roots(groups, judgements), judgements)
    changed = learnt.changed_rules
    keys = [key for key in groups if key.fault != "silent" or key.rule not in changed]
    found_causes = [_cause(key, groups[key], judgements) for key in keys]
    return sorted(found_causes, key=lambda cause: cause.rank)


def confirmed(found: Iterable[DriftCause], broken: Container[str]) -> list[DriftCause]:
    """Returns causes in which an unsteady one that a third run confirms is the deployment's fault.

    Args:
        found: The causes of the first two runs.
        broken: Ids of the rules that the third run found broken.
    """
    causes = [
        replace(
            cause,
            fault="deployment",
            differences=tuple(replace(it, ours=BROKEN_TWICE) for it in cause.differences),
        )
        if cause.fault == "unsteady" and cause.rule in broken
        else cause
        for cause in found
    ]
    return sorted(causes, key=lambda cause: cause.rank)


def _is_settled(
    rule: str, difference: Difference, judgements: Judgements, learnt: LearntFacts
) -> bool:
    """Tells whether both chose the same option of an open rule, so that it explains no difference."""
    own = judgements.first.options.get(difference.exchange.number, {}).get(rule)
    other = judgements.other.options.get(difference.other.number, {}).get(rule)
    return learnt.is_followed(rule) or (own is not None and own == other)


def _learnt(key: _Key, learnt: LearntFacts) -> _Key:
    """Returns a key, its fault changed to ``learnt`` if a fact that still holds explains it."""
    is_learnt = key.fault == "silent" and learnt.explains(key.rule)
    return key._replace(fault="learnt") if is_learnt else key


def _cause(key: _Key, differences: Sequence[Difference], judgements: Judgements) -> DriftCause:
    is_open = key.fault in {"silent", "learnt"}
    readings = _readings(key, differences[0], judgements) if is_open else ("", "")
    rule = judgements.first.rules.get(key.rule)
    severity = "major" if rule is None else severity_of(rule)
    return DriftCause(*key, tuple(differences), readings, severity)


def _breaches(difference: Difference, judgements: Judgements) -> list[tuple[Fault, BrokenRule]]:
    """Returns the broken rules that explain a difference, each with whose fault it is."""
    own = judgements.first.about(difference, difference.exchange.number, judgements.other)
    other = judgements.other.about(difference, difference.other.number, judgements.first)
    sides: tuple[tuple[Fault, Sequence[BrokenRule]], ...] = (("deployment", own), ("other", other))
    return [("silent" if it.is_open else fault, it) for fault, side in sides for it in side]


def _with_broken_rules(
    found: Iterable[Difference], judgements: Judgements, learnt: LearntFacts
) -> Iterator[tuple[Difference, list[tuple[Fault, BrokenRule]]]]:
    """Yields each difference with the rules that explain it, the most likely cause first.

    One fault breaks many rules. The rule on the faulty part itself is broken wherever any of them is,
    so of rules with equal rank the one that explains most differences comes first.
    """
    about = [
        (
            difference,
            [
                (fault, it)
                for fault, it in _breaches(difference, judgements)
                if not (it.is_open and _is_settled(it.rule.id, difference, judgements, learnt))
            ],
        )
        for difference in found
    ]
    counts = Counter((fault, it.rule.id) for _, breaches in about for fault, it in breaches)

    def order(breach: tuple[Fault, BrokenRule]) -> tuple[int, bool, int]:
        fault, rule = breach[0], breach[1].rule.id
        return FAULTS.index(fault), rule in _LAST, -counts[fault, rule]

    yield from ((difference, sorted(breaches, key=order)) for difference, breaches in about)


def _key(
    difference: Difference,
    breaches: Sequence[tuple[Fault, BrokenRule]],
    entry: DocumentEntry | None,
    judgements: Judgements,
) -> _Key:
    by_rule = [_of_rule(fault, it.rule) for fault, it in breaches]
    if by_rule and by_rule[0].fault != "silent":
        return by_rule[0]
    if entry is not None:
        return _Key("documents", *entry)
    if by_rule:
        return by_rule[0]
    switch = _switch_of(difference, judgements)
    if switch is not None:
        return _of_rule("silent", switch)
    silence = next((it for it in SILENCES if it.applies(difference)), None)
    if silence is not None:
        return _Key("silent", silence.id, silence.statement)
    what = f"{difference.aspect}: {difference.ours}, not {difference.theirs}"
    return _Key("unexplained", what, "")


def _of_rule(fault: Fault, rule: Rule) -> _Key:
    return _Key(fault, rule.id, rule.statement.strip())


def _broken_without_aspect(
    rows: Iterable[Compared], judgements: Judgements, named: set[tuple[int, str]]
) -> Iterator[tuple[BrokenRule, Difference]]:
    """Yields the rules that one side always broke and the other kept, though no aspect differs."""
    for row in rows:
        own = judgements.first.broken.get(row.first.number, {})
        again = judgements.second.broken.get(row.second.number, {})
        other = judgements.other.broken.get(row.other.number, {})
        for name in dict.fromkeys((*own, *other)):
            is_noise = (name in own) != (name in again)
            is_same = (name in own) == (name in other)
            if is_noise or is_same or (row.first.number, name) in named:
                continue
            kept_by = (
                (judgements.other, row.other) if name in own else (judgements.first, row.first)
            )
            if not _can_be_kept(name, *kept_by):
                continue
            values = (BROKEN, KEPT) if name in own else (KEPT, BROKEN)
            breach = own[name] if name in own else other[name]
            yield breach, Difference(f"rule {name}", *values, row.first, row.other)


def _can_be_kept(rule: str, run: RunJudgement, exchange: Exchange) -> bool:
    """Tells whether an exchange keeps a rule, or the rule is not judged by exchange at all."""
    return rule in run.kept.get(exchange.number, ()) or rule not in run.checked


def _fault_of(breach: BrokenRule, difference: Difference) -> Fault:
    if breach.is_open:
        return "silent"
    return "deployment" if difference.ours == BROKEN else "other"


def _moved_under_roots(groups: _Groups, judgements: Judgements) -> _Groups:
    """Moves differences under their known root cause, where that is among the causes.

    Verify knows root causes of requests and responses: mending one at the deployment ends all
    differences below it.
    """
    rooted: _Groups = {}
    for key, members in groups.items():
        for difference in members:
            shown = difference.other if key.fault == "other" else difference.exchange
            known = {BEARER} if is_in_lower_case(shown) else set()
            found = judgements.first.roots.get(key.rule, "") if key.fault == "deployment" else ""
            root = next(
                (
                    it
                    for explains in (known, {found})  # a rule may be its own root
                    for it in groups
                    if it.fault == key.fault and it.rule in explains
                ),
                key,
            )
            rooted.setdefault(root, []).append(difference)
    return rooted


def _moved_under_rules(groups: _Groups, judgements: Judgements) -> _Groups:
    """Moves broken rules that no aspect shows under a rule that the same responses break.

    Verify folds its findings in the same way. A response that breaks the first rule alone is moved
    too, if it keeps that rule once the responses that break the second are left out of the history.
    The rule that most responses break is tried first; a status of 500 explains all else it breaks.
    """
    breaking = {key: _breaking(key.rule, judgements) for key in groups if key.fault == "deployment"}
    ranked = sorted(breaking, key=lambda key: (-len(breaking[key]), key.rule in _LAST))
    folded: _Groups = {}
    for key, members in groups.items():
        is_shown = any(not difference.aspect.startswith("rule ") for difference in members)
        before = [] if is_shown or key not in breaking else ranked[: ranked.index(key)]
        roots = (
            root
            for root in before
            if root.rule != DOCUMENT.id
            and _follows(key.rule, breaking[key], breaking[root], judgements)
        )
        folded.setdefault(next(roots, key), []).extend(members)
    return folded


_Places = frozenset[tuple[int, int]]
"""Exchanges, each as the index of its run (0 or 1) and its number there."""


def _breaking(rule: str, judgements: Judgements) -> _Places:
    """Returns the exchanges of both runs that break a rule; every status of 500 breaks ``answers``."""
    return frozenset(
        (place, it.number)
        for place, run in enumerate((judgements.first, judgements.second))
        for it in run.exchanges
        if rule in run.broken.get(it.number, ())
        or (rule == ANSWERS.id and it.status >= HTTPStatus.INTERNAL_SERVER_ERROR)
    )


def _follows(rule: str, own: _Places, root: _Places, judgements: Judgements) -> bool:
    """Tells whether a rule is broken only by, or in consequence of, responses that break another."""
    if own.isdisjoint(root):
        return False
    for place, run in enumerate((judgements.first, judgements.second)):
        numbers, hidden = ({it for at, it in side if at == place} for side in (own - root, root))
        if numbers and any(rule in rules for rules in run.unseen(numbers, hidden).values()):
            return False
    return True


def _moved_under_repetition(
    groups: _Groups, rows: Sequence[Compared], judgements: Judgements
) -> _Groups:
    """Moves the differences that come from repeated responses under one common cause."""
    guess = next((GUESSES[it] for it in judgements.first.roots.values() if it in GUESSES), None)
    if guess is None:
        return dict(groups)
    runs = [
        RepeatedRun(guess, judgements.first, {row.first.number: row.other for row in rows}),
        RepeatedRun(guess, judgements.second, {row.second.number: row.other for row in rows}),
    ]
    explained: list[Difference] = []
    left: _Groups = {}
    for key, members in groups.items():
        for difference in members:
            run = runs[difference.is_of_second_run]
            found = run.explained(key.rule, difference) if key.fault in _SEEN_IN_REPEATED else None
            if found is None:
                left.setdefault(key, []).append(difference)
            else:
                explained.append(found)
    if not explained:
        return dict(groups)
    explained.sort(key=lambda difference: (not difference.after, difference.exchange.number))
    return {_Key("deployment", guess.id, guess.statement): explained, **left}


def _moved_under_earlier_breaches(groups: _Groups) -> _Groups:
    """Moves unexplained differences under the rule that their sender saw broken before.

    Once a rule was broken, the state of the two sides differs, and so do the sender's later reads.
    A relation can differ before the check of the rule fails, so it may come first.
    """
    blamed: dict[str, list[tuple[int, _Key]]] = {}
    for key, members in groups.items():
        if key.fault in {"deployment", "other"}:
            for difference in members:
                number = difference.exchange.number
                blamed.setdefault(difference.exchange.source, []).append((number, key))
    explained: _Groups = {
        key: list(members) for key, members in groups.items() if key.fault != "unexplained"
    }
    for key, members in groups.items():
        for difference in members if key.fault == "unexplained" else ():
            cause = _cause_before(difference, blamed.get(difference.exchange.source, ()))
            explained.setdefault(cause or key, []).append(difference)
    return explained


def _cause_before(difference: Difference, blamed: Iterable[tuple[int, _Key]]) -> _Key | None:
    """Returns the nearest rule that was broken before a difference; for a relation, also after."""
    number = difference.exchange.number
    nearest = [
        (abs(number - at), key)
        for at, key in blamed
        if at <= number or is_relation(difference.aspect)
    ]
    return min(nearest, key=lambda each: each[0])[1] if nearest else None


def _switch_of(difference: Difference, judgements: Judgements) -> Rule | None:
    """Returns the first rule whose switch the two have otherwise by the aspect that differs."""
    own = judgements.first.options.get(difference.exchange.number, {})
    other = judgements.other.options.get(difference.other.number, {})
    turned = judgements.first.turned.get(difference.key, frozenset())
    names = [it for it in own if it in turned and it in other and own[it] != other[it]]
    return judgements.first.rules[names[0]] if names else None


def _readings(key: _Key, difference: Difference, judgements: Judgements) -> Readings:
    """Returns what each side does where the contract is silent: its option, or its behaviour."""
    own = judgements.first.options.get(difference.exchange.number, {}).get(key.rule)
    other = judgements.other.options.get(difference.other.number, {}).get(key.rule)
    if difference.aspect.startswith("rule "):
        breaches = (
            judgements.first.broken.get(difference.exchange.number, {}).get(key.rule),
            judgements.other.broken.get(difference.other.number, {}).get(key.rule),
        )
        seen = [AS_ASSUMED if it is None else it.actual or OTHERWISE for it in breaches]
    else:
        seen = [f"{difference.aspect} {value}" for value in (difference.ours, difference.theirs)]
    return own or seen[0], other or seen[1]
