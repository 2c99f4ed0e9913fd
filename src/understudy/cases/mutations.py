"""A mutation: one deviation of a request, and its expected outcome.

Cases combine mutations: first one alone, then valid options in pairs, then a few valid mutations
with at most one invalid one, so that the description of a refused case names the only cause.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random  # noqa: TID251 - seeded by the caller
from typing import Any, NamedTuple

from understudy.cases.drafts import Draft, DraftChange
from understudy.cases.edges import EdgeValue, SchemaValues
from understudy.cases.model import CaseKind, ExpectedResponse, Location
from understudy.openapi.operations import Operation

BODY = "body"

WRITING = "writing"
"""The part for how a body is written; such mutations are applied after all others."""

REFUSED = ("4XX",)
OPEN = ("2XX", "3XX", "4XX")


class Mutation(NamedTuple):
    """One deviation of a request, and its expected outcome.

    Attributes:
        part: The part of the request: ``query size``, ``body display_name``, ``method``.
        category: The kind of deviation, such as ``boundary``.
        description: What the mutation does, in plain words.
        source: The schema keyword or rule that the mutation tests.
        because: The rule, JSON pointer or RFC paragraph that determines the outcome.
        kind: Whether the request is accepted, refused, or left open.
        apply: Applies the deviation to a draft.
        statuses: The expected statuses; empty for those of the kind.
        location: What the address of a redirect must contain.
        is_option: Whether this is one of a few valid options, which cases combine in pairs.
        is_alone: Whether this mutation cannot be combined with another.
    """

    part: str
    category: str
    description: str
    source: str
    because: str
    kind: CaseKind
    apply: Callable[[Draft], Draft]
    statuses: tuple[str, ...] = ()
    location: Location = ""
    is_option: bool = False
    is_alone: bool = False

    def fits(self, other: "Mutation") -> bool:
        """Tells whether a request can have both mutations: their parts differ and are not nested."""
        if self.is_alone or other.is_alone or self.part == other.part:
            return False
        short, long = sorted((self.part, other.part), key=len)
        return not long.startswith((f"{short} ", f"{short}."))


Generator = Callable[[Random], Mutation]
"""A function that makes a random mutation."""


def kind_of(is_valid: bool) -> CaseKind:  # noqa: FBT001 - a predicate's result
    """Returns ``valid`` or ``invalid``."""
    return "valid" if is_valid else "invalid"


def rule(rule_id: str) -> str:
    """Returns the reason of a case that cites a rule of ``rules.yaml``."""
    return f"rule {rule_id}"


# A schema says which texts are well-formed, but not that a well-formed slug without an account gets
# 404. ``ValueSemantics`` adds such prose rules to the edge values that a schema suggests.

LARGEST_INTEGER = 2**63 - 1
"""The largest integer that JSON readers usually keep without loss: a signed 64-bit integer."""


class ValueSemantics(NamedTuple):
    """The prose rule on values that the schema accepts but that refer to nothing known.

    Attributes:
        kind: Whether such a value is accepted, refused, or left open.
        because: The rule that determines this.
        statuses: The expected statuses; empty for those of the kind.
        known: Values that refer to something that exists, and so are accepted.
        unclear: Values that a server may accept as an alias of a known value.
        longest: Size in bytes above which the response is left open; None: unlimited.
    """

    kind: CaseKind
    because: str
    statuses: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    unclear: frozenset[str] = frozenset()
    longest: int | None = None


class ExpectedRefusal(NamedTuple):
    """The expected response to an invalid value of one part.

    Attributes:
        statuses: The statuses, any of which is right.
        location: What the address of a redirect must contain.
    """

    statuses: tuple[str, ...] = REFUSED
    location: Location = ""


@dataclass(frozen=True)
class OperationContext:
    """An operation, with everything that mutation generators need to know about it.

    Attributes:
        operation: The operation as the document describes it.
        values: Makes values for the document's schemas.
        plain: The plain request that every mutation changes.
        success: The expected response to a request that is accepted.
        semantics: Part to the prose rule on its values.
        refusals: Part to the refusal of invalid values, if it is not a 4XX.
        handled_elsewhere: Parts that other generators mutate.
        required_parts: Parts that prose rules require, even if the document does not.
        empty_value_rule: The rule that treats an empty value as missing; empty: no such rule.
        repetition_rule: The rule that refuses a repeated value; empty: no such rule.
        is_interface_operation: Whether the interface's prose describes the operation.
    """

    operation: Operation
    values: SchemaValues
    plain: Draft
    success: ExpectedResponse
    semantics: Mapping[str, ValueSemantics] = field(default_factory=dict)
    refusals: Mapping[str, ExpectedRefusal] = field(default_factory=dict)
    handled_elsewhere: frozenset[str] = frozenset()
    required_parts: frozenset[str] = frozenset()
    empty_value_rule: str = ""
    repetition_rule: str = ""
    is_interface_operation: bool = False

    def edge_mutation(
        self, part: str, edge: EdgeValue, apply: DraftChange, pointer: str
    ) -> Mutation:
        """Returns the mutation that gives a part a value at the edge of its schema."""
        description = f"{name_of(part)}: {edge.description}"
        because = f"{pointer}/{edge.keyword}"
        if self.empty_value_rule and edge.value == "":
            source = self.empty_value_rule
            kind = kind_of(part not in self.required_parts)
            return self.on(part, "empty", source).made(kind, description, apply)
        mutation = self.on(part, edge.category, edge.keyword, because).made(
            kind_of(edge.is_valid), description, apply
        )
        if not edge.is_valid:
            return mutation
        listed = edge.value if isinstance(edge.value, list) else [edge.value]
        if any(isinstance(value, int) and abs(value) > LARGEST_INTEGER for value in listed):
            return mutation._replace(kind="open", statuses=OPEN, because="RFC 8259, 6")
        mutation = mutation._replace(is_option=edge.is_option)
        semantics = self.semantics.get(part)
        if semantics is None:
            return mutation
        return _with_semantics(mutation, semantics, str(edge.value))

    def repeated(self, part: str, description: str, pointer: str, apply: DraftChange) -> Mutation:
        """Returns the mutation that sends a part twice."""
        if self.repetition_rule:
            source = self.repetition_rule
            return self.on(part, "repetition", source).refused(description, apply)
        return self.on(part, "repetition", "repetition", pointer).left_open(description, apply)

    def on(self, part: str, category: str, source: str, because: str = "") -> "Deviations":
        """Returns a maker of mutations for one part and reason.

        Args:
            part: The part that deviates.
            category: The kind of deviation.
            source: The schema keyword or rule that the mutations test.
            because: The reason for the outcome; by default the rule ``source``.
        """
        refusal = self.refusals.get(part, ExpectedRefusal())
        return Deviations(part, category, source, because or rule(source), refusal)


class Deviations(NamedTuple):
    """Makes mutations of one part for one reason; the fields are those of ``Mutation``."""

    part: str
    category: str
    source: str
    because: str
    refusal: ExpectedRefusal

    def made(self, kind: CaseKind, description: str, apply: DraftChange) -> Mutation:
        """Returns a mutation with an expected outcome; a refusal is the usual one of the part."""
        statuses, location = self.refusal if kind == "invalid" else ExpectedRefusal(())
        statuses = OPEN if kind == "open" else statuses
        start = (self.part, self.category, description, self.source, self.because)
        return Mutation(*start, kind, apply, statuses, location)

    def each(self, kind: CaseKind, changes: Mapping[str, DraftChange]) -> Iterator[Mutation]:
        """Yields a mutation for each description and change, all with the same expected outcome."""
        return (self.made(kind, description, apply) for description, apply in changes.items())

    def accepted(self, description: str, apply: DraftChange) -> Mutation:
        """Returns a mutation of which the request is expected to be accepted."""
        return self.made("valid", description, apply)

    def refused(self, description: str, apply: DraftChange) -> Mutation:
        """Returns a mutation of which the request is expected to be refused."""
        return self.made("invalid", description, apply)

    def left_open(self, description: str, apply: DraftChange) -> Mutation:
        """Returns a mutation to which any response is right, except a server error."""
        return self.made("open", description, apply)


class InterfaceProse(NamedTuple):
    """The prose rules on one operation that its document does not express.

    Attributes:
        with_known_values: Sets values that exist at the deployment in the plain request.
        context: Fields of ``OperationContext`` that the document does not determine.
        mutations: Yields the mutations that follow from prose rules only.
        location: What the address of a successful redirect must contain.
    """

    with_known_values: DraftChange
    context: Mapping[str, Any]
    mutations: Callable[[OperationContext], Iterator[Mutation]]
    location: Location = ""


def name_of(part: str) -> str:
    """Returns the name of a part in descriptions: ``size`` for ``query size``."""
    where, _, name = part.partition(" ")
    return name if name and where in {"query", "path", "body"} else part


def _with_semantics(mutation: Mutation, semantics: ValueSemantics, value: str) -> Mutation:
    if value in semantics.known:
        return mutation
    source = semantics.because.removeprefix("rule ")
    mutation = mutation._replace(because=semantics.because, source=source)
    size = len(value.encode("utf-8", "replace"))
    is_too_long = semantics.longest is not None and size > semantics.longest
    # Servers may ignore case and surrounding spaces, so such variants of known values stay open.
    similar = {text.lower() for text in semantics.known | semantics.unclear}
    is_similar = value.strip().lower() in similar
    if semantics.kind == "open" or is_too_long or (is_similar and semantics.kind == "invalid"):
        return mutation._replace(kind="open", statuses=OPEN, is_option=False)
    if semantics.kind == "invalid":
        statuses = semantics.statuses or REFUSED
        return mutation._replace(kind="invalid", statuses=statuses, is_option=False)
    return mutation._replace(statuses=semantics.statuses)
