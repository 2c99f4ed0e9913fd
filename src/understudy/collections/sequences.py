"""Makes sequences of requests: an item is created, read, listed, changed, deleted, and read again.

The first sequence of a collection is the plain life cycle of an item. In each further one, one step
is an edge case, which is sent to an existing item that way.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle
from pathlib import Path
from typing import Any, Final, NamedTuple

from understudy.cases.drafts import Draft
from understudy.cases.model import (
    Assertion,
    Capture,
    Case,
    CaseKind,
    CaseRequest,
    ExpectedResponse,
    SequenceStep,
)
from understudy.cases.mutations import OPEN
from understudy.cases.plans import OperationPlan, Planner
from understudy.cases.selection import cases, plans
from understudy.collections.creations import (
    Creation,
    ItemBodies,
    NoSequence,
    StepBody,
    creations,
    parsed,
)
from understudy.collections.inference import infer_resources
from understudy.collections.model import (
    RENEWED,
    ResourceCollection,
    ResourceModel,
    ResourceOperation,
)
from understudy.collections.names import PAGING, canonical
from understudy.errors import StartupError

_MISSING: Final = ("404", "410")
"""Statuses for an item that was deleted (RFC 9110, 15.5.5 and 15.5.11)."""


class Step(NamedTuple):
    """One request of a sequence that has no identifier yet.

    Attributes:
        operation: The operationId.
        description: Description in words.
        request: The request.
        expected: The expected response.
        kind: Whether the contract accepts it, refuses it, or leaves it open.
        captures: Values of the response for later steps.
        assertions: Conditions on the response.
    """

    operation: str
    description: str
    request: CaseRequest
    expected: ExpectedResponse
    kind: CaseKind = "valid"
    captures: tuple[Capture, ...] = ()
    assertions: tuple[Assertion, ...] = ()


@dataclass
class ItemSteps:
    """Makes the steps for one item.

    Attributes:
        planner: Makes the plans of the document's operations.
        creation: The creation of the item.
        is_alone: Whether the item is the only one below its parents, which the sequence creates.
    """

    planner: Planner
    creation: Creation
    is_alone: bool
    _plans: dict[tuple[str, str], tuple[OperationPlan, StepBody]] = field(default_factory=dict)

    @property
    def collection(self) -> ResourceCollection:
        """The collection of the item."""
        return self.creation.collection

    @cached_property
    def bodies(self) -> ItemBodies:
        """The reader of the bodies of its operations."""
        return ItemBodies(self.planner.document, self.collection, self.creation)

    def plan(self, role: ResourceOperation) -> tuple[OperationPlan, StepBody]:
        """Returns the plan of an operation on the item, and the links in its bodies.

        Raises:
            NoSequence: Plain requests of the operation may fail.
        """
        known = self._plans.get(role.key)
        if known is None:
            plain = self.planner.plan(role.operation)
            draft, body = self.bodies.adapted(role, self._placed(role, plain), plain.accepts_body)
            known = self.planner.plan(role.operation, lambda _: draft), body
            self._plans[role.key] = known
        if known[0].doubt:
            msg = f"{known[0].name} is not certain: {known[0].doubt}"
            raise NoSequence(msg)
        return known

    def _placed(self, role: ResourceOperation, plan: OperationPlan) -> Draft:
        draft = plan.context.plain
        for name, text in self.creation.places(role).items():
            put = draft.with_query if name == role.by_query else draft.with_place
            draft = put(name, text)
        for parameter in role.operation.parameters:
            if parameter.location == "header" and parameter.name.lower() == "if-match":
                # matches any state (RFC 9110, 13.1.1)
                draft = draft.with_headers(parameter.name, "*")
        return draft

    def create(self, case: Case | None = None) -> Step:
        """Returns the step that creates the item, with the request of a case if one is given.

        Raises:
            NoSequence: The response does not contain the identifier of the item.
        """
        role = self.creation.by
        plan, body = self.plan(role)
        request = body.linked(plan.plain_request if case is None else case.request)
        what = f"creates an item of {self.collection.path}"
        return Step(
            plan.name,
            what if case is None else f"{what}: {case.description}",
            request,
            plan.context.success if case is None else case.expected,
            captures=self._captures(role),
        )

    def _captures(self, role: ResourceOperation) -> tuple[Capture, ...]:
        variable, identifier = self.creation.item.variable, self.collection.identifier
        if not variable:
            return ()
        if role.takes_list:
            msg = f"{' '.join(role.key)} creates a list of items at once"
            raise NoSequence(msg)
        place = self.bodies.place(role)
        shown = self.bodies.shown_members(role)
        if place is not None and identifier is not None and identifier in (shown or {identifier}):
            return (Capture(variable, (*place, identifier)),)
        around = self.bodies.place_around(role, identifier)
        if around is not None:
            return (Capture(variable, around),)
        headers = (header for it in role.operation.responses.values() for header in it.headers)
        if any(header.name.lower() == "location" for header in headers):
            return (Capture(variable, None),)
        msg = f"the response to {' '.join(role.key)} has no identifier of the new item"
        raise NoSequence(msg)

    def sent(self, step: Step, role: ResourceOperation) -> dict[str, Any] | None:
        """Returns the members that a step sends and that must be read back; None without an item."""
        item = self.plan(role)[1].item(parsed(step.request))
        return None if item is None else self.bodies.comparable(role, item)

    def sent_names(self, step: Step, role: ResourceOperation) -> set[str]:
        """Returns the names of all members of the item in a step's request."""
        return set(self.plan(role)[1].item(parsed(step.request)) or ())

    def case(self, role: ResourceOperation, case: Case) -> Step:
        """Returns a step with the request of a case."""
        body = self.plan(role)[1]
        description = f"{case.operation}: {case.description}"
        return Step(
            case.operation, description, body.linked(case.request), case.expected, case.kind
        )

    def plain(self, role: ResourceOperation, *, is_changing: bool = False) -> Step:
        """Returns the step with the plain request of an operation.

        Args:
            role: The operation.
            is_changing: Whether the body changes a comparable member.
        """
        plan, body = self.plan(role)
        draft = plan.context.plain
        if is_changing:
            draft = self.bodies.changed(role, draft, plan.accepts_body)
        return Step(
            plan.name,
            f"{_VERBS[role.role]} the item",
            body.linked(draft.request()),
            plan.context.success,
        )

    def read(self, expected: Mapping[str, Any]) -> list[Step]:
        """Returns the step that reads the item and compares its members, if it can be read."""
        role = self.collection.operation("read")
        if role is None:
            return []
        place, identifier = self.bodies.place(role), self.collection.identifier
        assertions: list[Assertion] = []
        if place is not None:
            if identifier is not None and identifier in self.bodies.item_members():
                assertions.append(self._identified("equals", (*place, identifier)))
            assertions += [
                Assertion("equals", (*place, name), value) for name, value in expected.items()
            ]
        return [self.plain(role)._replace(assertions=tuple(assertions))]

    def _identified(self, kind: Any, place: tuple[str, ...], member: str = "") -> Assertion:
        item = self.creation.item
        return Assertion(kind, place, item.value, item.variable, member)

    def listed(self, *, is_there: bool) -> list[Step]:
        """Returns the step that checks the list for the item, if the list is complete."""
        role = self.collection.operation("list")
        identifier = self.collection.identifier
        if role is None or role.response_path is None or identifier is None or role.within:
            return []
        if not self._lists_all(role):
            return []
        members = self.bodies.shown_members(role)
        if members and identifier not in members:  # the list does not show identifiers
            return []
        kind = "contains" if is_there else "lacks"
        assertion = self._identified(kind, role.response_path, identifier)
        return [self.plain(role)._replace(assertions=(assertion,))]

    def _lists_all(self, role: ResourceOperation) -> bool:
        """Tells whether a plain list has all items: not filtered, and paged only if the item is alone."""
        queries = [it for it in role.operation.parameters if it.location == "query"]
        is_paged = any(canonical(it.name) in PAGING for it in queries)
        is_filtered = (
            any(it.required for it in queries) or role.operation.path != self.collection.path
        )
        return not is_filtered and (self.is_alone or not is_paged)

    def delete(self, *, is_sure: bool = True) -> list[Step]:
        """Returns the step that deletes the item, if it can be deleted.

        Args:
            is_sure: Whether the item certainly exists.
        """
        role = self.collection.operation("delete")
        if role is None:
            return []
        step = self.plain(role)
        if is_sure:
            return [step]
        expected = ExpectedResponse(OPEN, step.expected.because)
        return [step._replace(kind="open", expected=expected)]

    def gone(self) -> list[Step]:
        """Returns the steps that check that the item was deleted."""
        role = self.collection.operation("read")
        if role is None:
            return self.listed(is_there=False)
        step = self.plain(role)
        declared = tuple(status for status in _MISSING if status in role.operation.responses)
        expected = ExpectedResponse(declared or ("4XX",), step.expected.because)
        what = "reads the item, which exists no longer"
        return [
            step._replace(description=what, kind="invalid", expected=expected),
            *self.listed(is_there=False),
        ]


_VERBS: Final = {
    "list": "lists what there is beside",
    "create": "creates",
    "read": "reads",
    "replace": "replaces",
    "update": "changes",
    "delete": "deletes",
    "action": "acts on",
}


MOST_PASSED_OVER = 100
"""Consecutive unusable cases after which an operation is taken to have no more for a sequence."""


@dataclass(frozen=True)
class CollectionSequences:
    """Makes the sequences of one collection.

    Attributes:
        planner: Makes the plans of the document's operations.
        order: The creations of all items that an item needs, and of the item itself as the last.
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
            count: Largest number of sequences.
            seed: The same seed and document give the same sequences.
            kinds: The kinds of the edge cases; the plain life cycle counts as valid.

        Raises:
            NoSequence: The collection cannot be tested by a sequence.
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
            yield "the life of an item", self.plain_life()
        for role, case in self._edge_cases(seed, kinds):
            yield f"{case.operation}: {case.description}", self._life_with(role, case)

    def plain_life(self) -> list[Step]:
        """Returns the steps of an item's plain life cycle.

        Raises:
            NoSequence: It cannot be made.
        """
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
            return {**known, **{n: it for n, it in role.changes.items() if it != RENEWED}}
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
        """Yields edge cases for the item, one per operation in turn."""
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
        """Returns the operations whose edge cases are used: all on one item, and one list."""
        listing = self.collection.operation("list")
        each = (it for it in self.collection.operations if not it.takes_list)
        return [it for it in each if it.role != "list" or it is listing]

    def _cases(
        self, role: ResourceOperation, seed: int, kinds: frozenset[CaseKind]
    ) -> Iterator[Case]:
        plan, _ = self._steps.plan(role)
        is_creating = role is self.order[-1].by
        plain, passed_over = plan.plain_request, 0
        needed = set(plain.variables)
        creation = self.order[-1]
        is_chosen = not creation.item.variable or None in creation.parents
        for case in cases(plan, seed, kinds & {"valid"} if is_creating else kinds):
            is_plain = case.category == "plain" and role.role != "action"
            is_about_item = needed <= set(case.request.variables)
            if is_chosen:  # the path contains no variable, so another path means another item
                is_about_item = is_about_item and case.request.path == plain.path
            if not is_plain and is_about_item:
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
    """Returns the maker of a collection's sequences.

    Raises:
        NoSequence: The collection cannot be tested by a sequence.
    """
    order = creations(collection, model, planner.document)
    sequences = CollectionSequences(planner, order)
    sequences.plain_life()  # raises if it cannot be made
    return sequences


class SequenceSource(NamedTuple):
    """The collections from which sequences are made.

    Attributes:
        collections: The collections that can be tested by a sequence.
        omitted: A sentence for each other collection on why it cannot.
    """

    collections: tuple[CollectionSequences, ...]
    omitted: tuple[str, ...]


def sequence_source(
    planners: Sequence[Planner], names: Sequence[str] = (), state_model: Path | None = None
) -> SequenceSource:
    """Returns the collections with any of the named operations, or all.

    Args:
        planners: The planners of the documents.
        names: Names of operations; empty: all collections.
        state_model: A state-model file that corrects the inference.

    Raises:
        StartupError: There is no such operation, or no collection can be tested by a sequence.
    """
    wanted = {plan.context.operation.pointer for plan in plans(planners, names)} if names else None
    collections, omitted = [], []
    for planner in planners:
        model = infer_resources(planner.document, state_model)
        for collection in model.collections:
            pointers = {it.operation.pointer for it in collection.operations}
            if wanted is not None and not wanted & pointers:
                continue
            try:
                collections.append(collection_sequences(planner, collection, model))
            except NoSequence as error:
                omitted.append(f"{collection.path}: no sequence, as {error}.")
    if not collections:
        why = " ".join(omitted) or "The document has no collection that is sure enough."
        msg = f"{why} `understudy infer FILE` shows the collections, and --state-model states them."
        raise StartupError(msg)
    return SequenceSource(tuple(collections), tuple(omitted))


def generate_sequences(
    collections: Sequence[CollectionSequences], count: int, seed: int, kinds: frozenset[CaseKind]
) -> Iterator[Case]:
    """Yields the steps of ``count`` sequences of each collection, or fewer if it has fewer."""
    for collection in collections:
        for sequence in collection.sequences(count, seed, kinds):
            yield from sequence
