"""Streams the cases of operations, and selects among them.

An operation gets each mutation alone, then options in pairs, then as many mixtures as requested. A
case depends only on seed, operation and number, so that the same seed and document give the same
bytes under every Python version. To detect duplicates, only a short digest of each case is kept.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations, islice, zip_longest
from pathlib import Path
from random import Random  # noqa: TID251 - seeded by the caller
from typing import NamedTuple

from understudy.cases.model import LARGE, Case, CaseKind, CaseRequest, ExpectedResponse
from understudy.cases.mutations import OPEN, WRITING, Mutation
from understudy.cases.plans import OperationPlan, Planner
from understudy.cases.test_data import TestData
from understudy.cases.texts import TELLING
from understudy.errors import StartupError, nearest
from understudy.openapi.loader import bundled_document, load
from understudy.openapi.operations import no_operation, operation_named
from understudy.terminal import counted

CANDIDATES = 12
"""Candidate rows of which the best is chosen; more would take longer and hardly cover more."""


def covering(options: Sequence[Mutation], chance: Random) -> Iterator[Sequence[Mutation]]:
    """Yields rows of options, at most one per part, until every combinable pair was in some row.

    Args:
        options: The options of all parts.
        chance: Random source for the candidate rows.
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
"""Most mutations in a mixture, so that its description stays readable."""

_UNSAFE_IN_FILE_NAMES = re.compile(r"[^\w.]+", re.ASCII)
"""Characters to replace in case ids, which serve as file names; an operation's name may be a path."""

MOST_REPEATS = 500
"""Consecutive duplicates after which an operation is taken to have no more cases."""


def cases(plan: OperationPlan, seed: int, kinds: frozenset[CaseKind]) -> Iterator[Case]:
    """Yields the cases of an operation; for most operations the stream never ends.

    Args:
        plan: The plan of the operation.
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
    yield ()  # the plain request comes first, as making the mutations of a large body is slow
    for mutation in _alternating(plan.mutations, Random(f"{seed} {plan.name}")):
        yield (mutation,)
    options = [m for m in plan.mutations if m.is_option and m.kind == "valid"]
    yield from covering(options, Random(f"{seed} {plan.name} pairs"))
    yield from _endless(plan, seed)


def _alternating(mutations: Sequence[Mutation], chance: Random) -> list[Mutation]:
    """Returns the mutations in an order in which the first few cover as many categories as possible.

    Otherwise the many texts of one part would crowd out the single mutation of a rule. So categories
    alternate, and within a category its parts, keywords and rules; unicode counts as text, and
    mutations with an open outcome come later. The list starts with a few exceeded bounds and missing
    required parts; after that, every second mutation has a value that often crashes services.
    """
    groups: dict[str, dict[tuple[str, str], list[Mutation]]] = {}
    mixed = chance.sample(mutations, len(mutations))
    ordered = sorted(mixed, key=_rank)
    size = sum(_rank(mutation) < BARE_REFUSALS for mutation in ordered[:HEAD])
    for mutation in ordered[size:]:
        category = "text" if mutation.category == "unicode" else mutation.category
        category = "telling" if _is_telling(mutation) else category
        group = groups.setdefault(category, {})
        group.setdefault((mutation.part, mutation.source), []).append(mutation)
    telling = _interleaved(list(groups.pop("telling", {}).values()))
    others = _interleaved([_interleaved(list(group.values())) for group in groups.values()])
    return [*ordered[:size], *_interleaved([telling, others])]


HEAD, BARE_REFUSALS = 6, 2
"""Length of the head, and number of telling categories whose mutations stay in front there."""

TELLING_CATEGORIES = ("boundary", "required", "type", "enum")
"""Categories whose invalid requests services most often fail to refuse, the likeliest first."""


def _rank(mutation: Mutation) -> int:
    """Returns the sort key of a mutation: those most likely to reveal a bug come first."""
    if mutation.kind == "invalid" and mutation.category in TELLING_CATEGORIES:
        return TELLING_CATEGORIES.index(mutation.category)
    if _is_telling(mutation):
        return len(TELLING_CATEGORIES)
    return len(TELLING_CATEGORIES) + 1 + (mutation.kind == "open")


def _is_telling(mutation: Mutation) -> bool:
    """Tells whether a mutation has a value that often crashes services."""
    return mutation.description.rpartition(": ")[2] in TELLING


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
        # At most one mutation may be invalid; one with an open outcome is not combined.
        pool = valid if chosen[0].kind == "invalid" or chance.random() < 0.6 else invalid  # noqa: PLR2004 - most
        for _ in range(chance.randrange(MOST_MUTATIONS) if chosen[0].kind != "open" else 0):
            mutation = chance.choice(pool) if pool else chosen[0]
            if all(mutation.fits(other) for other in chosen):
                chosen.append(mutation)
                pool = valid if mutation.kind == "invalid" else pool
        yield chosen


def _case(plan: OperationPlan, mutations: Sequence[Mutation]) -> Case | None:
    """Returns the case of some mutations; None if their combination is invalid or cannot be sent."""
    draft = plan.context.plain
    for mutation in sorted(mutations, key=lambda mutation: mutation.part == WRITING):
        draft = mutation.apply(draft)
    decisive = next((it for it in mutations if it.kind != "valid"), None)
    kind: CaseKind = "valid" if decisive is None else decisive.kind
    if plan.doubt:
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


def _expected(
    plan: OperationPlan, decisive: Mutation | None, ordered: Sequence[Mutation]
) -> ExpectedResponse:
    if plan.doubt:
        return ExpectedResponse(OPEN, plan.doubt)
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
    if len(request.body or b"") > LARGE:  # the repr of a body takes four times its size
        request = request._replace(body=hashlib.sha256(request.body or b"").digest())
    return hashlib.sha256(repr(tuple(request)).encode("utf-8", "replace")).hexdigest()[:12]


WORDS: dict[str, frozenset[CaseKind]] = {
    "valid": frozenset({"valid"}),
    "invalid": frozenset({"invalid"}),
    "all": KINDS,
}
"""Value of ``--kind`` to kinds of cases; cases with an open outcome are only in ``all``."""


def planners(
    document: Path | None, test_data: TestData, overlays: Sequence[Path] = ()
) -> tuple[Planner, ...]:
    """Returns the planner of a document, or those of the two bundled documents.

    Args:
        document: The document; None for the bundled ones.
        test_data: The people, avatars and applications that the cases use.
        overlays: Overlay files that change the document, in their order.

    Raises:
        StartupError: The document cannot be read.
    """
    if document is not None:
        return (Planner(load(document, overlays), "resource", test_data),)
    return (
        Planner(bundled_document("service.yaml"), "resource", test_data),
        Planner(bundled_document("authorization.yaml"), "authorization", test_data),
    )


def plans(planners: Sequence[Planner], names: Sequence[str] = ()) -> list[OperationPlan]:
    """Returns the plans of the named operations, or of all.

    Raises:
        StartupError: There is no such operation; the text names the nearest one.
    """
    by_name = {o.operation_id: (planner, o) for planner in planners for o in planner.operations}
    if not by_name:
        msg = "The document has no operations, so there is nothing to make cases of."
        raise StartupError(msg)
    declared = [operation for _, operation in by_name.values()]
    chosen: dict[str, None] = {}
    for name in names or by_name:
        operation = operation_named(name, declared)
        if operation is None:
            msg = f"There is {no_operation(name, declared)}"
            raise StartupError(msg)
        chosen[operation.operation_id] = None
    return [planner.plan(operation) for planner, operation in map(by_name.__getitem__, chosen)]


def generate(
    plans: Sequence[OperationPlan], count: int, seed: int, kinds: frozenset[CaseKind]
) -> Iterator[Case]:
    """Yields ``count`` cases of each operation, or fewer if it has fewer.

    Operations with throttled attempts get their valid cases first.
    """
    for plan in plans:
        stream = islice(cases(plan, seed, kinds), count)
        if not plan.is_valid_first:
            yield from stream
            continue
        yield from (case for case in stream if case.kind == "valid")
        # generated a second time, since keeping a million cases would exhaust memory
        again = islice(cases(plan, seed, kinds), count)
        yield from (case for case in again if case.kind != "valid")


def in_turn(plans: Sequence[OperationPlan], count: int, seed: int) -> Iterator[Case]:
    """Yields the first ``count`` cases of each operation, one per operation in turn.

    If a budget of requests ends early, every operation has been tried with its most telling cases.
    DELETE operations come last in each turn, as the others may need the items that they delete.
    """
    ordered = sorted(plans, key=lambda plan: plan.context.operation.method == "DELETE")
    streams = [islice(cases(plan, seed, KINDS), count) for plan in ordered]
    for row in zip_longest(*streams):
        yield from (case for case in row if case is not None)


COUNT = 50
"""Default number of cases per operation."""


def edge_cases(
    *operations: str,
    kind: str = "all",
    count: int = COUNT,
    seed: int = 0,
    document: Path | None = None,
    test_data: TestData | None = None,
) -> Iterator[Case]:
    """Yields edge cases, operation by operation.

    Args:
        operations: The operationIds of the document; all operations if none is named.
        kind: ``valid``, ``invalid``, or ``all``, which includes what the contract leaves open.
        count: The number of cases of each operation.
        seed: The same seed and document give the same cases.
        document: The OpenAPI document to use instead of the bundled ones.
        test_data: The people, avatars and applications that the cases use; the mock's by default.

    Examples:
        >>> import understudy
        >>> [case.kind for case in understudy.edge_cases("getProfile", kind="valid", count=2)]
        ['valid', 'valid']

    Raises:
        StartupError: There is no such operation or kind, or the document cannot be read.
    """
    if kind not in WORDS:
        hint = nearest(kind, list(WORDS)) or "."
        msg = f"There is no kind {kind!r}{hint} There are {', '.join(WORDS)}."
        raise StartupError(msg)
    chosen = plans(planners(document, test_data or TestData()), operations)
    return generate(chosen, count, seed, WORDS[kind])


Touch = tuple[str, str, str]
"""A unit of coverage: an operation, a part, and a keyword or rule."""


OPERATION_WEIGHT = 5
"""Weight of an operation's first case, in touches."""


class CoveringSet(NamedTuple):
    """A selection of cases, and its coverage.

    Attributes:
        chosen: Positions of the cases in the stream, ascending.
        touched: Number of touches that the set covers.
        all: Number of touches in the stream.
        operations: Number of operations with a case in the set.
        all_operations: Number of operations in the stream.
    """

    chosen: tuple[int, ...]
    touched: int
    all: int
    operations: int
    all_operations: int

    def summary(self) -> str:
        """Returns the coverage as a sentence."""
        share = self.touched / self.all if self.all else 1
        cover = "covers" if len(self.chosen) == 1 else "cover"
        return (
            f"{counted(len(self.chosen), 'case')} {cover} {self.touched} of {self.all} combinations of operation,"
            f" part and keyword or rule ({share:.0%}), and {self.operations} of"
            f" {counted(self.all_operations, 'operation')}."
        )


def touches(case: Case) -> frozenset[Touch]:
    """Returns the touches of a case."""
    plain: Touch = (case.operation, "all", "responses")
    return frozenset({plain, *((case.operation, part, source) for part, source in case.touched)})


def choose(stream: Iterable[Case], size: int) -> CoveringSet:
    """Chooses cases greedily, each time the one that adds most coverage; the earliest of equals.

    The gain of a case can only shrink, so it is computed again only when the case would be next.

    Args:
        stream: The cases to choose from.
        size: Largest number of cases to choose.
    """
    shared: dict[frozenset[Touch], frozenset[Touch]] = {}
    touched = [shared.setdefault(each, each) for each in map(touches, stream)]
    everything = frozenset[Touch]().union(*shared)
    covered: set[Touch] = set()
    queue = [(-_worth(each), position) for position, each in enumerate(touched)]
    heapify(queue)
    chosen: list[int] = []
    while queue and len(chosen) < size:
        promised, position = heappop(queue)
        adds = _worth(touched[position] - covered)
        if adds < -promised:
            if adds:
                heappush(queue, (-adds, position))
            continue
        covered |= touched[position]
        chosen.append(position)
    return CoveringSet(
        tuple(sorted(chosen)),
        len(covered),
        len(everything),
        len({operation for operation, *_ in covered}),
        len({operation for operation, *_ in everything}),
    )


def _worth(touched: frozenset[Touch]) -> int:
    """Returns the weight of touches; the first case of an operation weighs more than a keyword."""
    return sum(OPERATION_WEIGHT if part == "all" else 1 for _, part, _ in touched)
