"""Makes the steps of sequences of one collection: each an operation on the item that was created."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from understudy.generate.cases import Case, CaseKind, CaseRequest, ExpectedResponse
from understudy.generate.drafts import Draft
from understudy.generate.mutations.mutation import OPEN
from understudy.generate.plans import OperationPlan, Planner
from understudy.generate.sequence_steps import Assertion, Capture
from understudy.generate.sequences.bodies import ItemBodies, StepBody, parsed
from understudy.generate.sequences.creations import Creation, NoSequence
from understudy.openapi.resources.model import ResourceCollection, ResourceOperation

_MISSING: Final = ("404", "410")
"""RFC 9110, 15.5.5 and 15.5.11: what does not exist, or exists no longer."""

_PAGING: Final = frozenset(
    {
        *("limit", "offset", "page", "cursor", "per_page", "perpage", "pagesize", "page_size"),
        *("after", "before", "skip", "top", "size", "count", "pagetoken", "page_token", "start"),
    }
)
"""Parameters of lists that come in pages, of which any may have the new item."""


class Step(NamedTuple):
    """One request of a sequence, before the sequence has an identifier.

    Attributes:
        operation: The operation's id.
        description: What it does.
        request: The request.
        expected: The expected response.
        kind: Whether it is accepted, refused or left open.
        captures: What its response has for later steps.
        assertions: What its response has to show.
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
    """Makes the steps about one item.

    Attributes:
        planner: Makes the plans of the document's operations.
        creation: The creation of the item.
        is_alone: Whether the item is the only one below its parents, as the sequence creates them.
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
        """Reads and adapts the bodies of its operations."""
        return ItemBodies(self.planner.document, self.collection, self.creation)

    def plan(self, role: ResourceOperation) -> tuple[OperationPlan, StepBody]:
        """Returns the plan of an operation on the item, and how its bodies name other items.

        Raises:
            NoSequence: No value was found that a part of the request takes.
        """
        known = self._plans.get(role.key)
        if known is None:
            plain = self.planner.plan(role.operation)
            draft, body = self.bodies.adapted(role, self._placed(role, plain), plain.accepts_body)
            known = self.planner.plan(role.operation, lambda _: draft), body
            self._plans[role.key] = known
        if known[0].uncertain_part:
            msg = f"no value was found that {known[0].uncertain_part} of {known[0].name} takes"
            raise NoSequence(msg)
        return known

    def _placed(self, role: ResourceOperation, plan: OperationPlan) -> Draft:
        draft = plan.context.plain
        for name, text in self.creation.places(role.operation).items():
            draft = draft.with_place(name, text)
        for parameter in role.operation.parameters:
            if parameter.location == "header" and parameter.name.lower() == "if-match":
                draft = draft.with_headers(parameter.name, "*")  # RFC 9110, 13.1.1: any state
        return draft

    def create(self, case: Case | None = None) -> Step:
        """Returns the step that creates the item, by a case if one is given.

        Raises:
            NoSequence: The response does not say how later requests name the item.
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
        if role.response_path is not None and identifier is not None:
            return (Capture(variable, (*role.response_path, identifier)),)
        headers = (header for it in role.operation.responses.values() for header in it.headers)
        if any(header.name.lower() == "location" for header in headers):
            return (Capture(variable, None),)
        msg = f"the response to {' '.join(role.key)} has no identifier of the new item"
        raise NoSequence(msg)

    def sent(self, step: Step, role: ResourceOperation) -> dict[str, Any] | None:
        """Returns the members that a step sends and that have to be read back; None without an item."""
        item = self.plan(role)[1].item(parsed(step.request))
        return None if item is None else self.bodies.comparable(role, item)

    def sent_names(self, step: Step, role: ResourceOperation) -> set[str]:
        """Returns the names of all members of the item that a step sends."""
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
            is_changing: Whether the body changes a member visibly.
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
        """Returns the step that reads the item and compares it, if there is one."""
        role = self.collection.operation("read")
        if role is None:
            return []
        place, members = role.response_path, self.bodies.item_members()
        assertions: list[Assertion] = []
        if place is not None:
            if self.collection.identifier in members:
                assertions.append(self._identified("equals", (*place, self.collection.identifier)))
            assertions += [
                Assertion("equals", (*place, name), value) for name, value in expected.items()
            ]
        return [self.plain(role)._replace(assertions=tuple(assertions))]

    def _identified(self, kind: Any, place: tuple[str, ...], member: str = "") -> Assertion:
        item = self.creation.item
        return Assertion(kind, place, item.value, item.variable, member)

    def listed(self, *, is_there: bool) -> list[Step]:
        """Returns the step that lists the collection and looks for the item, if one can tell."""
        role = self.collection.operation("list")
        identifier = self.collection.identifier
        if role is None or role.response_path is None or identifier is None:
            return []
        if not self._lists_all(role):
            return []
        kind = "contains" if is_there else "lacks"
        assertion = self._identified(kind, role.response_path, identifier)
        return [self.plain(role)._replace(assertions=(assertion,))]

    def _lists_all(self, role: ResourceOperation) -> bool:
        """Tells whether a plain list has every item: it is neither filtered nor, with others, paged."""
        queries = [it for it in role.operation.parameters if it.location == "query"]
        is_paged = any(it.name.lower().replace("-", "_") in _PAGING for it in queries)
        is_filtered = (
            any(it.required for it in queries) or role.operation.path != self.collection.path
        )
        return not is_filtered and (self.is_alone or not is_paged)

    def delete(self, *, is_sure: bool = True) -> list[Step]:
        """Returns the step that deletes the item, if there is one.

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
        """Returns the steps that show that the deleted item exists no longer."""
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
