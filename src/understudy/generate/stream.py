"""Cases as a stream: each turn alone, then options pair by pair, then as many mixtures as are asked for.

A case is drawn from the seed, the operation and its number in the stream, so that the same seed and
document give the same bytes under every Python. Of what was seen only a short mark a case is kept.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from random import Random  # noqa: TID251 - seeded, and never the world's own

from understudy.generate.cases import LARGE, Case, CaseKind, CaseRequest, Expected
from understudy.generate.mutations.bodies import WRITING
from understudy.generate.mutations.mutation import OPEN, Mutation
from understudy.generate.pairs import covering
from understudy.generate.plans import OperationPlan

KINDS: frozenset[CaseKind] = frozenset({"valid", "invalid", "open"})

MOST_TURNS = 3
"""In one mixture: more would no longer be read."""

_IN_NAMES = re.compile(r"[^\w.]+", re.ASCII)
"""What no file's name should hold: documents without operationIds have methods and paths."""

PATIENCE = 500
"""Cases in a row that were there before, after which an operation has no more."""


def cases(plan: OperationPlan, seed: int, kinds: frozenset[CaseKind]) -> Iterator[Case]:
    """Yields the cases of an operation; there is no end to most of them.

    Args:
        plan: What they are made of.
        seed: Same seed and plan, same cases.
        kinds: Which of them.
    """
    seen: set[bytes] = set()
    repeated = 0
    for turns in _mixtures(plan, seed):
        case = _case(plan, turns)
        if case is None or case.kind not in kinds or _is_seen(case, seen):
            repeated += 1
            if repeated > PATIENCE:
                return
            continue
        repeated = 0
        yield case


def _is_seen(case: Case, seen: set[bytes]) -> bool:
    mark = case.id.rpartition("-")[2].encode()
    if mark in seen:
        return True
    seen.add(mark)
    return False


def _mixtures(plan: OperationPlan, seed: int) -> Iterator[Sequence[Mutation]]:
    alone = _by_turns(plan.turns, Random(f"{seed} {plan.name}"))
    options = [turn for turn in plan.turns if turn.is_option and turn.kind == "valid"]
    pairs = covering(options, Random(f"{seed} {plan.name} pairs"))
    return chain([()], ((turn,) for turn in alone), pairs, _endless(plan, seed))


def _by_turns(turns: Sequence[Mutation], chance: Random) -> list[Mutation]:
    """Returns the turns so that the first few are of as many kinds as there are.

    The many texts of one part would otherwise drown its one rule: so the categories take turns, and
    within a category its parts, keywords and rules. Texts of any kind take one turn, and what the
    contract leaves open comes behind what it decides.
    """
    groups: dict[str, dict[tuple[str, str], list[Mutation]]] = {}
    mixed = chance.sample(turns, len(turns))
    for turn in sorted(mixed, key=lambda turn: turn.kind == "open"):
        category = "text" if turn.category == "unicode" else turn.category
        groups.setdefault(category, {}).setdefault((turn.slot, turn.source), []).append(turn)
    return _in_turn([_in_turn(list(parts.values())) for parts in groups.values()])


def _in_turn(lists: Sequence[Sequence[Mutation]]) -> list[Mutation]:
    return [turn for one in zip_longest(*lists) for turn in one if turn is not None]


def _endless(plan: OperationPlan, seed: int) -> Iterator[Sequence[Mutation]]:
    valid = [turn for turn in plan.turns if turn.kind == "valid" and not turn.is_alone]
    invalid = [turn for turn in plan.turns if turn.kind == "invalid" and not turn.is_alone]
    number = 0
    while True:
        number += 1
        chance = Random(f"{seed} {plan.name} {number}")
        chosen = [chance.choice(plan.draws)(chance)]
        # what is refused is one thing; what is open says nothing in company
        pool = valid if chosen[0].kind == "invalid" or chance.random() < 0.6 else invalid  # noqa: PLR2004 - most
        for _ in range(chance.randrange(MOST_TURNS) if chosen[0].kind != "open" else 0):
            turn = chance.choice(pool) if pool else chosen[0]
            if all(turn.fits(other) for other in chosen):
                chosen.append(turn)
                pool = valid if turn.kind == "invalid" else pool
        yield chosen


def _case(plan: OperationPlan, turns: Sequence[Mutation]) -> Case | None:
    """Returns the case that turns make together, or None where they undo one another."""
    draft = plan.scene.base
    for turn in sorted(turns, key=lambda turn: turn.slot == WRITING):
        draft = turn.apply(draft)
    decisive = _decisive(turns)
    kind: CaseKind = "open" if plan.unsure else "valid" if decisive is None else decisive.kind
    if kind == "valid" and not plan.takes(draft):
        return None
    request = draft.request()
    told = _told(turns, decisive)
    first = decisive or (told[0] if told else None)
    return Case(
        id=f"{_IN_NAMES.sub('-', plan.name).strip('-')}-{_digest(request)}",
        operation=plan.name,
        description="; ".join(turn.what for turn in told) or "a plain request",
        category=first.category if first else "plain",
        part=first.slot if first else "all",
        source=first.source if first else "responses",
        kind=kind,
        request=request,
        expected=_expected(plan, decisive, told),
        touched=tuple((turn.slot, turn.source) for turn in told),
    )


def _decisive(turns: Iterable[Mutation]) -> Mutation | None:
    """Returns the turn that decides what must follow: the one that is not simply accepted."""
    return next((turn for turn in turns if turn.kind != "valid"), None)


def _told(turns: Sequence[Mutation], decisive: Mutation | None) -> list[Mutation]:
    return sorted(turns, key=lambda turn: turn is not decisive)


def _expected(plan: OperationPlan, decisive: Mutation | None, told: Sequence[Mutation]) -> Expected:
    if plan.unsure:
        return Expected(OPEN, f"no value was found that the schema of {plan.unsure} takes")
    if decisive is not None:
        because = plan.standing(decisive.because)
        return Expected(decisive.statuses or OPEN, because, decisive.location)
    accepted = plan.scene.accepted
    statuses = next((turn.statuses for turn in told if turn.statuses), accepted.statuses)
    because = told[0].because if told else accepted.because
    location = next((turn.location for turn in told if turn.location), accepted.location)
    return accepted._replace(statuses=statuses, because=plan.standing(because), location=location)


def _digest(request: CaseRequest) -> str:
    if len(request.body or b"") > LARGE:  # written out, ten megabytes would be forty
        request = request._replace(body=hashlib.sha256(request.body or b"").digest())
    return hashlib.sha256(repr(tuple(request)).encode("utf-8", "replace")).hexdigest()[:12]
