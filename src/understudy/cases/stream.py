"""Cases as a stream: each mutation alone, then options in pairs, then as many mixtures as requested.

A case is drawn from the seed, the operation and its number in the stream, so that the same seed and
document give the same bytes under every Python. Of earlier cases only a short digest each is kept.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, zip_longest
from random import Random  # noqa: TID251 - seeded by whoever asks

from understudy.cases.model import LARGE, Case, CaseKind, CaseRequest, ExpectedResponse
from understudy.cases.mutations import OPEN, WRITING, Mutation
from understudy.cases.plans import OperationPlan

CANDIDATES = 12
"""Rows to choose the best of: more take longer and hardly cover more."""


def covering(options: Sequence[Mutation], chance: Random) -> Iterator[Sequence[Mutation]]:
    """Yields rows of options, at most one per part, until every possible pair was in a row.

    Args:
        options: The options of all parts.
        chance: Decides between rows that cover the same number of pairs.
    """
    uncovered = {
        (a, b) for a, b in combinations(range(len(options)), 2) if options[a].fits(options[b])
    }
    order = sorted(uncovered)
    for start in order:
        if start not in uncovered:
            continue
        rows = [_row(options, start, chance) for _ in range(CANDIDATES)]
        best = max(rows, key=lambda row: len(_pairs_of(row) & uncovered))
        uncovered -= _pairs_of(best)
        yield [options[place] for place in best]


def _row(options: Sequence[Mutation], start: tuple[int, int], chance: Random) -> list[int]:
    row = list(start)
    others = list(range(len(options)))
    chance.shuffle(others)
    for place in others:
        if all(options[place].fits(options[other]) for other in row):
            row.append(place)
    return sorted(row)


def _pairs_of(row: Sequence[int]) -> set[tuple[int, int]]:
    return set(combinations(row, 2))


KINDS: frozenset[CaseKind] = frozenset({"valid", "invalid", "open"})

MOST_MUTATIONS = 3
"""Mutations in one mixture: a description of more would no longer be read."""

_UNSAFE_IN_FILE_NAMES = re.compile(r"[^\w.]+", re.ASCII)
"""Operations without an operationId are named by method and path; a case's id is a file name."""

MOST_REPEATS = 500
"""Consecutive duplicates before giving up: then the operation has no more cases."""


def cases(plan: OperationPlan, seed: int, kinds: frozenset[CaseKind]) -> Iterator[Case]:
    """Yields the cases of an operation; for most operations the stream never ends.

    Args:
        plan: What the cases are made of.
        seed: The same seed and plan give the same cases.
        kinds: The kinds of cases to yield.
    """
    seen: set[bytes] = set()
    repeated = 0
    for mutations in _mixtures(plan, seed):
        case = _case(plan, mutations)
        if case is None or case.kind not in kinds or _is_seen(case, seen):
            repeated += 1
            if repeated > MOST_REPEATS:
                return
            continue
        repeated = 0
        yield case


def _is_seen(case: Case, seen: set[bytes]) -> bool:
    digest = case.id.rpartition("-")[2].encode()
    if digest in seen:
        return True
    seen.add(digest)
    return False


def _mixtures(plan: OperationPlan, seed: int) -> Iterator[Sequence[Mutation]]:
    yield ()  # before any mutation is made, which takes long for a large body
    for mutation in _alternating(plan.mutations, Random(f"{seed} {plan.name}")):
        yield (mutation,)
    options = [m for m in plan.mutations if m.is_option and m.kind == "valid"]
    yield from covering(options, Random(f"{seed} {plan.name} pairs"))
    yield from _endless(plan, seed)


def _alternating(mutations: Sequence[Mutation], chance: Random) -> list[Mutation]:
    """Returns the mutations so that the first few are of as many categories as there are.

    Otherwise the many texts of one part would hide the one mutation of a rule. So the categories
    alternate, and within a category its parts, keywords and rules. Texts of every category count as
    one, and mutations with an open outcome come after those whose outcome the contract determines.
    """
    groups: dict[str, dict[tuple[str, str], list[Mutation]]] = {}
    mixed = chance.sample(mutations, len(mutations))
    for mutation in sorted(mixed, key=lambda mutation: mutation.kind == "open"):
        category = "text" if mutation.category == "unicode" else mutation.category
        group = groups.setdefault(category, {})
        group.setdefault((mutation.part, mutation.source), []).append(mutation)
    return _interleaved([_interleaved(list(group.values())) for group in groups.values()])


def _interleaved(lists: Sequence[Sequence[Mutation]]) -> list[Mutation]:
    return [mutation for row in zip_longest(*lists) for mutation in row if mutation is not None]


def _endless(plan: OperationPlan, seed: int) -> Iterator[Sequence[Mutation]]:
    valid = [m for m in plan.mutations if m.kind == "valid" and not m.is_alone]
    invalid = [m for m in plan.mutations if m.kind == "invalid" and not m.is_alone]
    number = 0
    while True:
        number += 1
        chance = Random(f"{seed} {plan.name} {number}")
        chosen = [chance.choice(plan.generators)(chance)]
        # At most one mutation may be invalid, and one with an open outcome stays alone.
        pool = valid if chosen[0].kind == "invalid" or chance.random() < 0.6 else invalid  # noqa: PLR2004 - most
        for _ in range(chance.randrange(MOST_MUTATIONS) if chosen[0].kind != "open" else 0):
            mutation = chance.choice(pool) if pool else chosen[0]
            if all(mutation.fits(other) for other in chosen):
                chosen.append(mutation)
                pool = valid if mutation.kind == "invalid" else pool
        yield chosen


def _case(plan: OperationPlan, mutations: Sequence[Mutation]) -> Case | None:
    """Returns the case that mutations make together, or None where they undo one another."""
    draft = plan.context.plain
    for mutation in sorted(mutations, key=lambda mutation: mutation.part == WRITING):
        draft = mutation.apply(draft)
    decisive = _decisive(mutations)
    kind: CaseKind = "valid" if decisive is None else decisive.kind
    if plan.uncertain_part:
        kind = "open"
    if kind == "valid" and not plan.accepts_body(draft):
        return None
    request = draft.request()
    if not request.is_sendable:
        return None
    ordered = sorted(mutations, key=lambda mutation: mutation is not decisive)
    first = ordered[0] if ordered else None
    return Case(
        id=f"{_UNSAFE_IN_FILE_NAMES.sub('-', plan.name).strip('-')}-{_digest(request)}",
        operation=plan.name,
        description="; ".join(m.description for m in ordered) or "a plain request",
        category=first.category if first else "plain",
        part=first.part if first else "all",
        source=first.source if first else "responses",
        kind=kind,
        request=request,
        expected=_expected(plan, decisive, ordered),
        touched=tuple((mutation.part, mutation.source) for mutation in ordered),
        set_up=plan.set_up
        if plan.set_up is not None and plan.set_up.variable in request.variables
        else None,
        plain=plan.plain_request,
    )


def _decisive(mutations: Iterable[Mutation]) -> Mutation | None:
    """Returns the mutation that determines the outcome: the one that is not simply accepted."""
    return next((mutation for mutation in mutations if mutation.kind != "valid"), None)


def _expected(
    plan: OperationPlan, decisive: Mutation | None, ordered: Sequence[Mutation]
) -> ExpectedResponse:
    if plan.uncertain_part:
        because = f"no value was found that the schema of {plan.uncertain_part} takes"
        return ExpectedResponse(OPEN, because)
    if decisive is not None:
        because = plan.existing_pointer(decisive.because)
        return ExpectedResponse(decisive.statuses or OPEN, because, decisive.location)
    success = plan.context.success
    because = ordered[0].because if ordered else success.because
    return ExpectedResponse(
        next((m.statuses for m in ordered if m.statuses), success.statuses),
        plan.existing_pointer(because),
        next((m.location for m in ordered if m.location), success.location),
    )


def _digest(request: CaseRequest) -> str:
    if len(request.body or b"") > LARGE:  # the repr of ten megabytes would take forty
        request = request._replace(body=hashlib.sha256(request.body or b"").digest())
    return hashlib.sha256(repr(tuple(request)).encode("utf-8", "replace")).hexdigest()[:12]
