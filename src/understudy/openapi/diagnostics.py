"""Diagnostics of a document and the rules behind them, for the start of the mock and for lint.

A loss is a part of a document that could not be read as written, with what was read instead. A
contradiction is valid OpenAPI that cannot be intended; only ``understudy lint`` looks for those.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from understudy.openapi.pointers import Scope, escape

Severity = Literal["error", "warning"]


class LintRule(NamedTuple):
    """A rule of lint.

    Attributes:
        severity: ``error`` if a part of the document is not served as it was written.
        statement: What the rule reports.
    """

    severity: Severity
    statement: str


LOSSES: Final[Mapping[str, LintRule]] = {
    "duplicate-key": LintRule("error", "An object has a member twice; the last one counts."),
    "dangling-reference": LintRule(
        "error", "A reference leads nowhere, in a circle, or out of the document's directory."
    ),
    "misplaced-reference": LintRule(
        "warning", "A reference is where OpenAPI has none, and is replaced by what it leads to."
    ),
    "unusable-operation": LintRule(
        "error", "An operation needs what a reference fails to give; it answers 501."
    ),
    "wrong-type": LintRule("error", "A value has a type that OpenAPI does not have there."),
    "invalid-keyword": LintRule("error", "A keyword of a schema cannot have this value."),
    "undeclared-required": LintRule(
        "error", "A member is required that additionalProperties forbids; it is not required."
    ),
    "closed-part": LintRule(
        "warning", "A part of allOf forbids members that other parts declare; it is read as open."
    ),
    "invalid-pattern": LintRule("error", "A pattern is not a regular expression of ECMA-262."),
    "invalid-parameter": LintRule("error", "A parameter lacks its name or place, or has no place."),
    "invalid-path": LintRule("error", "A path does not begin with a slash."),
    "taken-path": LintRule("error", "A path is one that the mock serves itself."),
    "invalid-field": LintRule(
        "error",
        "A media type, header or method holds what no header field can; it is cut or left out.",
    ),
    "invalid-status": LintRule("error", "The key of a response is not a status code."),
    "invalid-security": LintRule(
        "error", "A security requirement is not an object of scheme names."
    ),
    "converted-value": LintRule(
        "warning", "A value has another type than OpenAPI has there, and can be read as that type."
    ),
    "converted-version": LintRule(
        "warning", "The document is Swagger 2.0, and is converted; pointers are of the result."
    ),
    "not-supported": LintRule("warning", "A part of OpenAPI that understudy does not judge by."),
    "missing-member": LintRule("warning", "An object lacks a member that OpenAPI requires."),
    "unknown-member": LintRule("warning", "An object has a member that OpenAPI does not know."),
    "null-member": LintRule("warning", "A member is null, and is read as if it were not there."),
    "other-dialect": LintRule("warning", "A schema is written in the dialect of another version."),
    "other-pattern": LintRule(
        "warning", "A pattern is written for another language than ECMA-262."
    ),
    "relative-pointer": LintRule("warning", "A reference means its own schema, not the document."),
    "dynamic-reference": LintRule(
        "warning", "A dynamic reference depends on who refers to it, and is read as static."
    ),
    "equal-alternatives": LintRule(
        "warning",
        "Two alternatives of oneOf are equal, or require nothing, and may be valid together.",
    ),
    "unmatched-overlay-target": LintRule(
        "warning", "The target of an overlay's action matches nothing."
    ),
    "duplicate-operation-id": LintRule("warning", "Two operations have one operationId."),
    "duplicate-parameter": LintRule("warning", "An operation lists a parameter twice."),
    "undeclared-path-parameter": LintRule(
        "warning", "A path names a parameter without declaring it."
    ),
    "unused-path-parameter": LintRule("warning", "A path parameter is not in the path."),
}
"""Name to rule, for parts that are read differently from how they are written, or left out."""

CONTRADICTIONS: Final[Mapping[str, LintRule]] = {
    "invalid-schema": LintRule("error", "A schema cannot be compiled."),
    "invalid-example": LintRule("error", "An example breaks its schema, and is not sent."),
    "invalid-default": LintRule("error", "A default breaks its schema."),
    "invalid-enum": LintRule("error", "A value of an enum breaks the rest of its schema."),
    "empty-range": LintRule("error", "A lower bound is above the upper one: no value fits."),
    "contradictory-types": LintRule(
        "error", "Parts of allOf share no type of a value or of a member: none fits."
    ),
    "impossible-pattern": LintRule(
        "error", "No text that matches the pattern has a length within the bounds."
    ),
    "undeclared-security-scheme": LintRule(
        "error", "A security requirement names a scheme that the document does not declare."
    ),
    "unreachable-path": LintRule(
        "error", "A path differs from another only in the names of its parameters."
    ),
    "required-read-only": LintRule(
        "warning", "A request requires a member that only responses have; it is not demanded."
    ),
    "missing-schema": LintRule("warning", "A media type has no schema, so any body is taken."),
    "unknown-provider": LintRule("warning", "An x-faker hint names no provider of Faker."),
    "unused-security-scheme": LintRule("warning", "No operation uses a security scheme."),
    "not-sent": LintRule(
        "warning",
        "A callback is not sent: the mock cannot read its address, or sends what it belongs to.",
    ),
}
"""Name to rule, for contradictions."""

RULES: Final[Mapping[str, LintRule]] = {**LOSSES, **CONTRADICTIONS}
"""Name to rule, for all rules of ``understudy lint``."""


class Diagnostic(NamedTuple):
    """One thing that is wrong with a document.

    Attributes:
        rule: A name of ``RULES``.
        severity: Severity of the rule.
        pointer: JSON pointer of the place in the document.
        message: What is wrong, with the value, and what was done instead.
    """

    rule: str
    severity: Severity
    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}"


def diagnostic(rule: str, pointer: str, message: str) -> Diagnostic:
    """Returns a diagnostic with the severity of its rule."""
    return Diagnostic(rule, RULES[rule].severity, pointer, message)


class Position(NamedTuple):
    """A value in the tree, and the kind that OpenAPI expects there.

    Attributes:
        holder: The object or list that contains the value.
        key: Name or index of the value in the holder.
        kind: The expected kind, as ``grammar`` writes kinds.
        pointer: JSON pointer of the value.
        scope: The scope by which references in the value resolve.
        unit: Pointer of the operation or component that the value is a part of.
    """

    holder: Any
    key: Any
    kind: str
    pointer: str
    scope: Scope
    unit: str

    @property
    def value(self) -> Any:
        """The value."""
        return self.holder[self.key]

    def below(self, key: Any, kind: str) -> "Position":
        """Returns the position of a member or an item."""
        pointer = f"{self.pointer}/{escape(str(key))}"
        return Position(self.value, key, kind, pointer, self.scope, self.unit)

    def replace(self, value: Any) -> None:
        """Replaces the value in its holder."""
        self.holder[self.key] = value


class Losses:
    """Collects the losses of a document.

    Attributes:
        version: The document's version, such as ``3.0.3``.
        is_30: Whether schemas are in the dialect of OpenAPI 3.0.
        diagnostics: The losses that were noted, in the order of the walk.
    """

    def __init__(self, version: str) -> None:
        self.version = version
        self.is_30 = version.startswith("3.0")
        self.diagnostics: list[Diagnostic] = []

    def note(self, rule: str, place: Position, message: str) -> None:
        """Notes a loss at a position."""
        self.diagnostics.append(diagnostic(rule, place.pointer, message))

    def drop(self, rule: str, place: Position, message: str) -> None:
        """Removes a member from its object, and notes why."""
        self.note(rule, place, f"{message}; it is left out.")
        del place.holder[place.key]


@dataclass
class Mended:
    """The diagnostics of a document, and the dependencies among its operations and components.

    Attributes:
        diagnostics: The losses, in the order in which the document is walked.
        units: Pointer and kind of each value, to the pointer of the operation or component around it.
        needs: Pointer of an operation or component to the pointers that it refers to.
        broken: Pointer of an operation or component to why it cannot be used.
    """

    diagnostics: list[Diagnostic]
    units: dict[tuple[str, str], str] = field(default_factory=dict)
    needs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    broken: dict[str, str] = field(default_factory=dict)

    def why_broken(self, unit: str) -> str | None:
        """Returns why an operation, or a component that it needs, is broken; None if it is usable."""
        if not self.broken:
            return None
        pending, known = [unit], {unit}
        while pending:
            current = pending.pop()
            if current in self.broken:
                return self.broken[current]
            needed = self.needs.get(current, set()) - known
            known |= needed
            pending += needed
        return None
