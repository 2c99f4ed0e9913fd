"""Puts steps together: an item is created, read, listed, changed, read again, deleted, and gone.

The first sequence of a collection is the plain life of an item. In each further one, one step is an
edge case of the operation, which so finds an item that exists.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle

from understudy.generate.cases import Case, CaseKind
from understudy.generate.plans import Planner
from understudy.generate.sequence_steps import SequenceStep
from understudy.generate.sequences.creations import Creation, creations
from understudy.generate.sequences.steps import ItemSteps, Step
from understudy.generate.stream import cases
from understudy.openapi.resources.model import ResourceCollection, ResourceModel, ResourceOperation
from understudy.openapi.schemas import Schemas

MOST_PASSED_OVER = 100
"""Consecutive cases about another item, or none, before an operation has no more for a sequence."""


@dataclass(frozen=True)
class CollectionSequences:
    """Makes the sequences of one collection.

    Attributes:
        planner: Makes the plans of the document's operations.
        order: The creations of an item and of all that it needs, the item itself last.
    """

    planner: Planner
    order: Sequence[Creation]

    @property
    def collection(self) -> ResourceCollection:
        """The collection."""
        return self.order[-1].collection

    @cached_property
    def _items(self) -> tuple[ItemSteps, ...]:
        """The steps of each item, in the order of creation."""
        made = {it.item for it in self.order}
        return tuple(
            ItemSteps(self.planner, it, bool(made & {*it.parents} - {None})) for it in self.order
        )

    @property
    def _steps(self) -> ItemSteps:
        return self._items[-1]

    def sequences(self, count: int, seed: int, kinds: frozenset[CaseKind]) -> Iterator[list[Case]]:
        """Yields the steps of each sequence.

        Args:
            count: The most sequences.
            seed: The same seed and document give the same sequences.
            kinds: The kinds of the one step that tries something; the plain life is valid.

        Raises:
            NoSequence: The collection cannot be tried by a sequence.
        """
        made: set[str] = set()
        for title, steps in self._lives(seed, kinds):
            if len(made) == count:
                return
            sequence = self._numbered(title, steps)
            if sequence[0].id not in made:
                made.add(sequence[0].id)
                yield sequence

    def _lives(self, seed: int, kinds: frozenset[CaseKind]) -> Iterator[tuple[str, list[Step]]]:
        if "valid" in kinds:
            yield "the life of an item", self._plain_life()
        for role, case in self._edge_cases(seed, kinds):
            yield f"{case.operation}: {case.description}", self._life_with(role, case)

    def check(self) -> None:
        """Makes sure that there is a plain life.

        Raises:
            NoSequence: There is none.
        """
        self._plain_life()

    def _plain_life(self) -> list[Step]:
        steps, before = self._steps, self._before()
        create = steps.create()
        known = steps.sent(create, self.order[-1].by) or {}
        life = [*before, create, *steps.read(known), *steps.listed(is_there=True)]
        for role in self._changing:
            change = steps.plain(role, is_changing=True)
            known = self._known_after(role, change, known)
            life += [change, *steps.read(known)]
        deleted = steps.delete()
        return [*life, *deleted, *(steps.gone() if deleted else []), *self._after()]

    @property
    def _changing(self) -> list[ResourceOperation]:
        return [it for it in self.collection.operations if it.role in {"update", "replace"}]

    def _known_after(
        self, role: ResourceOperation, step: Step, known: dict[str, object]
    ) -> dict[str, object]:
        """Returns the members that an item certainly has after an accepted change."""
        if role.role == "action":
            return {**known, **role.changes}
        sent = self._steps.sent(step, role)
        if sent is None or role.role == "replace":
            return sent or {}
        names = self._steps.sent_names(step, role)
        return {**{name: value for name, value in known.items() if name not in names}, **sent}

    def _before(self) -> list[Step]:
        return [it.create() for it in self._items[:-1]]

    def _after(self) -> list[Step]:
        return [step for it in reversed(self._items[:-1]) for step in it.delete()]

    def _edge_cases(
        self, seed: int, kinds: frozenset[CaseKind]
    ) -> Iterator[tuple[ResourceOperation, Case]]:
        """Yields edge cases that are about the item, the operations in turn."""
        streams = [(role, self._cases(role, seed, kinds)) for role in self._tried()]
        ended: set[int] = set()
        for number, (role, stream) in cycle(enumerate(streams)):
            if len(ended) == len(streams):
                return
            case = next(stream, None)
            if case is None:
                ended.add(number)
            else:
                yield role, case

    def _tried(self) -> list[ResourceOperation]:
        """Returns the operations with edge cases: one of a role, and every action."""
        listing = self.collection.operation("list")
        return [it for it in self.collection.operations if it.role != "list" or it is listing]

    def _cases(
        self, role: ResourceOperation, seed: int, kinds: frozenset[CaseKind]
    ) -> Iterator[Case]:
        plan, _ = self._steps.plan(role)
        is_creating = role is self.order[-1].by
        needed = set(plan.plain_request.variables)
        passed_over = 0
        for case in cases(plan, seed, kinds & {"valid"} if is_creating else kinds):
            is_plain = case.category == "plain" and role.role != "action"
            if not is_plain and needed <= set(case.request.variables):
                passed_over = 0
                yield case
            elif (passed_over := passed_over + 1) == MOST_PASSED_OVER:
                return

    def _life_with(self, role: ResourceOperation, case: Case) -> list[Step]:
        steps, by = self._steps, self.order[-1].by
        is_creating = role is by
        create = steps.create(case if is_creating else None)
        known = steps.sent(create, by) or {}
        life = [*self._before(), create]
        if not is_creating:
            tried = steps.case(role, case)
            life.append(tried)
            if case.kind == "valid" and role.role in {"update", "replace", "action"}:
                known = self._known_after(role, tried, known)
        return [*life, *self._end(role, case.kind, known), *self._after()]

    def _end(self, role: ResourceOperation, kind: CaseKind, known: dict[str, object]) -> list[Step]:
        steps = self._steps
        if kind == "open":
            return steps.delete(is_sure=False)
        if role.role == "delete" and kind == "valid":
            return steps.gone()
        deleted = steps.delete()
        return [*steps.read(known), *deleted, *(steps.gone() if deleted else [])]

    def _numbered(self, title: str, steps: Sequence[Step]) -> list[Case]:
        digest = hashlib.sha256(repr([(it.request, it.expected) for it in steps]).encode())
        name = f"{self.collection.name}-sequence-{digest.hexdigest()[:12]}"
        return [
            Case(
                id=f"{name}-{number:02}",
                operation=step.operation,
                description=f"{self.collection.path}, step {number} of {len(steps)}: {step.description}",
                category="sequence",
                part="all",
                source="sequence",
                kind=step.kind,
                request=step.request,
                expected=step.expected,
                step=SequenceStep(name, title, number, step.captures, step.assertions),
            )
            for number, step in enumerate(steps, 1)
        ]


def collection_sequences(
    planner: Planner, collection: ResourceCollection, model: ResourceModel
) -> CollectionSequences:
    """Returns what makes the sequences of a collection.

    Raises:
        NoSequence: The collection cannot be tried by a sequence.
    """
    order = creations(collection, model, Schemas(planner.document).for_requests)
    sequences = CollectionSequences(planner, order)
    sequences.check()
    return sequences
