"""Says whose fault a difference is, by the rules that the two deployments break with it.

No text is compared: a rule is about a difference if the response keeps the rule once that aspect is
as at the other deployment.
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
    guess_of,
)
from understudy.drift.learnt_facts import NO_FACTS, LearntFacts
from understudy.exchange.messages import Exchange
from understudy.interface.facts import AS_ASSUMED, OTHERWISE
from understudy.interface.operations import AVATARS, OWN_PROFILE, QR_CODE, UPDATE_PROFILE
from understudy.interface.rules import Rule
from understudy.verify.findings import ANSWERS, DOCUMENT
from understudy.verify.rate_limit_history import UNAUTHORIZED
from understudy.verify.reports import KNOWN_CAUSES

# Names what the interface leaves open and no assumption is about: codes, headers, optional
# members. An assumption of ``rules.yaml`` says what understudy chose where a client notices. Here
# is what deployments choose freely, with the sentence of the interface that leaves it to them.

Applies = Callable[[Difference], bool]


@dataclass(frozen=True, slots=True)
class Silence:
    """Something that the interface leaves open.

    Attributes:
        id: What reports call it.
        statement: What is open, with the section of the interface.
        applies: Tells whether a difference is of this kind.
    """

    id: str
    statement: str
    applies: Applies


def _is_refused(difference: Difference) -> bool:
    return not (difference.exchange.response.is_success or difference.other.response.is_success)


def _is_status_not_shown(difference: Difference) -> bool:
    """Tells whether the status is open; not that a token works which the other one refuses."""
    operations = {*AVATARS, OWN_PROFILE, UPDATE_PROFILE}
    both = difference.exchange, difference.other
    is_of_token = any(it.status == UNAUTHORIZED for it in both) and not _is_refused(difference)
    is_open = difference.exchange.operation in operations and not is_of_token
    return difference.aspect == "status" and is_open


def _is_picture_size(difference: Difference) -> bool:
    """Tells whether QR codes are of another size, or one was drawn where the other was refused."""
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
"""The first that applies is named."""


# Finds the rules that a deployment broke where there is no response to compare. Rules can be
# broken in one of two runs alone, or by a response to a request that another run did not send,
# such as one that undoes a change.

BROKEN_ONCE: Final = "broken in one of two runs"
BROKEN_TWICE: Final = "broken in two of three runs"


def unpaired(
    of: Judgements, named: Container[str], rows: Iterable[Compared] = ()
) -> Iterator[tuple[Rule, Difference]]:
    """Yields the rules that the deployment broke in one run or in both, and the other one never.

    Args:
        of: The judgements of the three runs.
        named: Ids of the rules that are causes already.
        rows: All requests that were compared: a rule that does not apply to the other one's response
            is not a cause of its own there.
    """
    others = [({row.first.number: row.other for row in rows}, of.first)]
    others += [({row.second.number: row.other for row in rows}, of.second)]
    own, again = (_first_breaches(run, of.other, beside) for beside, run in others)
    for name in dict.fromkeys((*own, *again)):
        if name in named or any(name in broken for broken in of.other.broken.values()):
            continue
        breach, exchange = own[name] if name in own else again[name]
        other = _like(exchange, of.other)
        if other is not None:
            value = BROKEN if name in own and name in again else BROKEN_ONCE
            is_second = name not in own
            yield (
                breach.rule,
                Difference(f"rule {name}", value, KEPT, exchange, other, is_second),
            )


def _first_breaches(
    run: RunJudgement, other: RunJudgement, beside: Mapping[int, Exchange]
) -> dict[str, tuple[BrokenRule, Exchange]]:
    """Returns the rules of the contract that a run broke, with the first exchange that did."""
    first: dict[str, tuple[BrokenRule, Exchange]] = {}
    for exchange in run.exchanges:
        pair = beside.get(exchange.number)
        for name, breach in run.broken.get(exchange.number, {}).items():
            if not breach.is_open and (pair is None or _can_be_kept(name, other, pair)):
                first.setdefault(name, (breach, exchange))
    return first


def _like(exchange: Exchange, run: RunJudgement) -> Exchange | None:
    """Returns the last exchange of another run with the same operation and caller."""
    wanted = exchange.operation, exchange.identity.name
    alike = [it for it in run.exchanges if (it.operation, it.identity.name) == wanted]
    return alike[-1] if alike else None


Readings = tuple[str, str]
"""The behaviour of the deployment, and that of the other one, each in a few words."""

_SEEN_IN_REPEATED: Final[frozenset[Fault]] = frozenset(
    {"deployment", "silent", "unexplained", "unsteady"}
)
"""Faults that a repeated response can look like."""

FEWEST_CAUSES: Final = 3
"""Causes that repeated responses explain; what fewer see is better named by them."""

_LAST: Final = frozenset({ANSWERS.id, DOCUMENT.id})
"""Rules that name less than any other: they come last where several are about a difference."""


@dataclass(frozen=True, slots=True)
class DriftCause:
    """The differences that have one cause.

    Attributes:
        fault: The deployment breaks a rule (``deployment``), the other one does (``other``), their
            documents differ there (``documents``), the contract leaves it open (``silent``),
            nothing in the contract is about it (``unexplained``), the deployment breaks a rule in
            one of its two runs alone (``unsteady``), or it does as was learnt, and the mock has no
            switch for that (``learnt``).
        rule: Id of the rule, or of the place where the interface is silent; of what is unexplained
            the aspect with both values.
        statement: The rule, or what the interface leaves open, in one sentence; empty without one.
        differences: The differences, in the order of the requests.
        readings: What each of the two does, where the contract is silent.
    """

    fault: Fault
    rule: str
    statement: str
    differences: tuple[Difference, ...]
    readings: Readings = ("", "")


class _Key(NamedTuple):
    fault: Fault
    rule: str
    statement: str


def causes(
    found: Iterable[Difference],
    rows: Iterable[Compared],
    judgements: Judgements,
    explained_by: ExplainedBy | None = None,
    learnt: LearntFacts = NO_FACTS,
) -> list[DriftCause]:
    """Returns differences by their causes, the deployment's faults first.

    Args:
        found: The differences of aspects.
        rows: All requests that were compared.
        judgements: How the exchanges of the three runs were judged.
        explained_by: Finds what differs in the documents of the two; None without documents.
        learnt: The facts that the other one follows; a difference by one that has changed is left
            out, as the fact names it.
    """
    rows = tuple(rows)
    groups: dict[_Key, list[Difference]] = {}
    named: set[tuple[int, str]] = set()
    for difference, breaches in _about(found, judgements, learnt):
        named |= {(difference.exchange.number, it.rule.id) for _, it in breaches}
        entry = explained_by(difference) if explained_by is not None else None
        key = _learnt(_key(difference, breaches, entry, judgements), learnt)
        groups.setdefault(key, []).append(difference)
    for breach, difference in _unnamed(rows, judgements, named):
        is_settled = breach.is_open and _is_settled(breach.rule.id, difference, judgements, learnt)
        if not is_settled:
            key = _of_rule(_fault_of(breach, difference), breach.rule)
            groups.setdefault(_learnt(key, learnt), []).append(difference)
    groups = _with_consequences(groups)
    for rule, difference in unpaired(judgements, {key.rule for key in groups}, rows):
        fault: Fault = "unsteady" if difference.ours == BROKEN_ONCE else "deployment"
        groups.setdefault(_of_rule(fault, rule), []).append(difference)
    groups = _with_repeated(_folded(_rooted(groups, judgements), judgements), rows, judgements)
    changed = learnt.changed_rules
    keys = sorted(
        (key for key in groups if key.fault != "silent" or key.rule not in changed),
        key=lambda key: FAULTS.index(key.fault),
    )
    return [_cause(key, groups[key], judgements) for key in keys]


def confirmed(found: Iterable[DriftCause], broken: Container[str]) -> list[DriftCause]:
    """Returns causes after a third run, which makes what one of two runs showed the deployment's fault.

    Args:
        found: The causes.
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
    return sorted(causes, key=lambda cause: FAULTS.index(cause.fault))


def _is_settled(rule: str, difference: Difference, of: Judgements, learnt: LearntFacts) -> bool:
    """Tells whether both do the same as to a rule that is left open, which so explains nothing."""
    own = of.first.options.get(difference.exchange.number, {}).get(rule)
    other = of.other.options.get(difference.other.number, {}).get(rule)
    return learnt.is_followed(rule) or (own is not None and own == other)


def _learnt(key: _Key, learnt: LearntFacts) -> _Key:
    """Returns the key of a cause, where a fact that still holds is about it as one of that."""
    is_learnt = key.fault == "silent" and learnt.explains(key.rule)
    return key._replace(fault="learnt") if is_learnt else key


def _cause(key: _Key, differences: Sequence[Difference], judgements: Judgements) -> DriftCause:
    is_open = key.fault in {"silent", "learnt"}
    readings = _readings(key, differences[0], judgements) if is_open else ("", "")
    return DriftCause(*key, tuple(differences), readings)


def _breaches(difference: Difference, of: Judgements) -> list[tuple[Fault, BrokenRule]]:
    """Returns the rules that a difference is about, by whose fault it is."""
    own = of.first.about(difference, difference.exchange.number, of.other)
    other = of.other.about(difference, difference.other.number, of.first)
    sides: tuple[tuple[Fault, Sequence[BrokenRule]], ...] = (("deployment", own), ("other", other))
    return [("silent" if it.is_open else fault, it) for fault, side in sides for it in side]


def _about(
    found: Iterable[Difference], of: Judgements, learnt: LearntFacts
) -> Iterator[tuple[Difference, list[tuple[Fault, BrokenRule]]]]:
    """Yields each difference with the rules that it is about, first of equal ones the widest.

    Many rules see one fault where their requests meet it. The rule on what is at fault is broken wherever
    one of theirs is, so most differences are about it.
    """
    about = [
        (
            each,
            [
                (fault, it)
                for fault, it in _breaches(each, of)
                if not (it.is_open and _is_settled(it.rule.id, each, of, learnt))
            ],
        )
        for each in found
    ]
    counts = Counter((fault, it.rule.id) for _, breaches in about for fault, it in breaches)

    def order(breach: tuple[Fault, BrokenRule]) -> tuple[int, bool, int]:
        fault, rule = breach[0], breach[1].rule.id
        return FAULTS.index(fault), rule in _LAST, -counts[fault, rule]

    yield from ((each, sorted(breaches, key=order)) for each, breaches in about)


def _key(
    difference: Difference,
    breaches: Sequence[tuple[Fault, BrokenRule]],
    entry: DocumentEntry | None,
    of: Judgements,
) -> _Key:
    by_rule = [_of_rule(fault, it.rule) for fault, it in breaches]
    if by_rule and by_rule[0].fault != "silent":
        return by_rule[0]
    if entry is not None:
        return _Key("documents", *entry)
    if by_rule:
        return by_rule[0]
    switch = _switch_of(difference, of)
    if switch is not None:
        return _of_rule("silent", switch)
    silence = next((each for each in SILENCES if each.applies(difference)), None)
    if silence is not None:
        return _Key("silent", silence.id, silence.statement)
    what = f"{difference.aspect}: {difference.ours}, not {difference.theirs}"
    return _Key("unexplained", what, "")


def _of_rule(fault: Fault, rule: Rule) -> _Key:
    return _Key(fault, rule.id, rule.statement.strip())


def _unnamed(
    rows: Iterable[Compared], of: Judgements, named: set[tuple[int, str]]
) -> Iterator[tuple[BrokenRule, Difference]]:
    """Yields the rules that one side broke in every run, and the other kept, with no aspect of it."""
    for row in rows:
        own = of.first.broken.get(row.first.number, {})
        again = of.second.broken.get(row.second.number, {})
        other = of.other.broken.get(row.other.number, {})
        for name in dict.fromkeys((*own, *other)):
            is_noise = (name in own) != (name in again)
            is_same = (name in own) == (name in other)
            if is_noise or is_same or (row.first.number, name) in named:
                continue
            kept_by = (of.other, row.other) if name in own else (of.first, row.first)
            if not _can_be_kept(name, *kept_by):
                continue
            values = (BROKEN, KEPT) if name in own else (KEPT, BROKEN)
            breach = own[name] if name in own else other[name]
            yield breach, Difference(f"rule {name}", *values, row.first, row.other)


def _can_be_kept(rule: str, run: RunJudgement, exchange: Exchange) -> bool:
    """Tells whether an exchange keeps a rule, or no check is about it; else the two do not differ in it."""
    return rule in run.kept.get(exchange.number, ()) or rule not in run.checked


def _fault_of(breach: BrokenRule, difference: Difference) -> Fault:
    if breach.is_open:
        return "silent"
    return "deployment" if difference.ours == BROKEN else "other"


def _rooted(
    groups: Mapping[_Key, list[Difference]], of: Judgements
) -> dict[_Key, list[Difference]]:
    """Returns differences under the root that a rule found by changing one thing alone.

    Verify knows these roots, of a request and of its responses: one patched line at the deployment ends
    all that is under one.
    """
    rooted: dict[_Key, list[Difference]] = {}
    for key, members in groups.items():
        for each in members:
            shown = each.other if key.fault == "other" else each.exchange
            explains = {it.rule for it in KNOWN_CAUSES if it.explains(shown)}
            explains |= {of.first.roots.get(key.rule, "")} if key.fault == "deployment" else set()
            root = next((it for it in groups if it.fault == key.fault and it.rule in explains), key)
            rooted.setdefault(root, []).append(each)
    return rooted


def _folded(
    groups: Mapping[_Key, list[Difference]], of: Judgements
) -> dict[_Key, list[Difference]]:
    """Returns differences with the rules that no aspect shows under one that the same responses break.

    So has verify it. What breaks the rule of a response alone counts as well, if it breaks it no
    longer where the responses that break the other rule were not seen. The rule that most responses
    break comes first; whatever a response of 500 breaks, that it is one is its cause.
    """
    breaking = {key: _breaking(key.rule, of) for key in groups if key.fault == "deployment"}
    ranked = sorted(breaking, key=lambda key: (-len(breaking[key]), key.rule in _LAST))
    folded: dict[_Key, list[Difference]] = {}
    for key, members in groups.items():
        is_shown = any(not each.aspect.startswith("rule ") for each in members)
        before = [] if is_shown or key not in breaking else ranked[: ranked.index(key)]
        roots = (
            root
            for root in before
            if root.rule != DOCUMENT.id and _follows(key.rule, breaking[key], breaking[root], of)
        )
        folded.setdefault(next(roots, key), []).extend(members)
    return folded


_Places = frozenset[tuple[int, int]]
"""Exchanges of two runs, each as which run it is of and its number."""


def _breaking(rule: str, of: Judgements) -> _Places:
    """Returns the exchanges of both runs that break a rule; ``answers`` names no kind of them twice."""
    return frozenset(
        (place, it.number)
        for place, run in enumerate((of.first, of.second))
        for it in run.exchanges
        if rule in run.broken.get(it.number, ())
        or (rule == ANSWERS.id and it.status >= HTTPStatus.INTERNAL_SERVER_ERROR)
    )


def _follows(rule: str, own: _Places, root: _Places, of: Judgements) -> bool:
    """Tells whether responses break a rule as, or after, those that break another one."""
    if own.isdisjoint(root):
        return False
    for place, run in enumerate((of.first, of.second)):
        numbers, hidden = ({it for at, it in each if at == place} for each in (own - root, root))
        if numbers and any(rule in rules for rules in run.unseen(numbers, hidden).values()):
            return False
    return True


def _with_repeated(
    groups: Mapping[_Key, list[Difference]], rows: Sequence[Compared], of: Judgements
) -> dict[_Key, list[Difference]]:
    """Returns differences with those under one root that several rules see in repeated responses."""
    guess = guess_of(rows)
    if guess is None:
        return dict(groups)
    others = (
        {row.first.number: row.other for row in rows},
        {row.second.number: row.other for row in rows},
    )
    runs = [
        RepeatedRun(guess, run, other)
        for run, other in zip((of.first, of.second), others, strict=True)
    ]
    explained: list[Difference] = []
    left: dict[_Key, list[Difference]] = {}
    seen_by = set[_Key]()
    for key, members in groups.items():
        for each in members:
            run = runs[each.is_of_second_run]
            found = run.explained(key.rule, each) if key.fault in _SEEN_IN_REPEATED else None
            if found is None:
                left.setdefault(key, []).append(each)
            else:
                explained.append(found)
                seen_by.add(key)
    if len(seen_by) < FEWEST_CAUSES:
        return dict(groups)
    explained.sort(key=lambda each: (not each.after, each.exchange.number))
    return {_Key("deployment", guess.id, guess.statement): explained, **left}


def _with_consequences(groups: Mapping[_Key, list[Difference]]) -> dict[_Key, list[Difference]]:
    """Returns differences with those that nothing explains under the rule that was broken before.

    After a rule was broken the state of both sides differs, and so does what the same sender reads
    of it. A relation can show before the check of the rule does.
    """
    blamed: dict[str, list[tuple[int, _Key]]] = {}
    for key, members in groups.items():
        if key.fault in {"deployment", "other"}:
            for each in members:
                number = each.exchange.number
                blamed.setdefault(each.exchange.source, []).append((number, key))
    explained: dict[_Key, list[Difference]] = {
        key: list(members) for key, members in groups.items() if key.fault != "unexplained"
    }
    for key, members in groups.items():
        for each in members if key.fault == "unexplained" else ():
            cause = _cause_before(each, blamed.get(each.exchange.source, ()))
            explained.setdefault(cause or key, []).append(each)
    return explained


def _cause_before(difference: Difference, blamed: Iterable[tuple[int, _Key]]) -> _Key | None:
    """Returns the rule that was broken last before a difference; of a relation, nearest to it."""
    number = difference.exchange.number
    nearest = [
        (abs(number - at), key)
        for at, key in blamed
        if at <= number or is_relation(difference.aspect)
    ]
    return min(nearest, key=lambda each: each[0])[1] if nearest else None


def _switch_of(difference: Difference, of: Judgements) -> Rule | None:
    """Returns the rule of a switch of which the two exchanges show different options."""
    own = of.first.options.get(difference.exchange.number, {})
    other = of.other.options.get(difference.other.number, {})
    names = [name for name in own if name in other and own[name] != other[name]]
    return of.first.rules[names[0]] if names else None


def _readings(key: _Key, difference: Difference, of: Judgements) -> Readings:
    """Returns the two readings of what the contract leaves open: options, or what was seen."""
    own = of.first.options.get(difference.exchange.number, {}).get(key.rule)
    other = of.other.options.get(difference.other.number, {}).get(key.rule)
    if difference.aspect.startswith("rule "):
        breaches = (
            of.first.broken.get(difference.exchange.number, {}).get(key.rule),
            of.other.broken.get(difference.other.number, {}).get(key.rule),
        )
        seen = [AS_ASSUMED if it is None else it.actual or OTHERWISE for it in breaches]
    else:
        seen = [f"{difference.aspect} {value}" for value in (difference.ours, difference.theirs)]
    return own or seen[0], other or seen[1]
