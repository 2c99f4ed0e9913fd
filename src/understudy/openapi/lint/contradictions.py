"""The rules of contradictions: valid OpenAPI that cannot be meant so."""

from collections.abc import Mapping
from typing import Final

from understudy.openapi.diagnostics import LOSSES, Diagnostic, LintRule

CONTRADICTIONS: Final[Mapping[str, LintRule]] = {
    "invalid-schema": LintRule("error", "A schema cannot be compiled."),
    "invalid-example": LintRule("error", "An example breaks its schema, and is not sent."),
    "invalid-default": LintRule("error", "A default breaks its schema."),
    "invalid-enum": LintRule("error", "A value of an enum breaks the rest of its schema."),
    "empty-range": LintRule("error", "A lower bound is above the upper one: no value fits."),
    "impossible-pattern": LintRule(
        "error", "No text that matches the pattern has a length within the bounds."
    ),
    "undeclared-required": LintRule(
        "error", "A member is required, not declared, and forbidden by additionalProperties."
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
    "unused-security-scheme": LintRule("warning", "No operation uses a security scheme."),
}
"""Name to rule."""

RULES: Final[Mapping[str, LintRule]] = {**LOSSES, **CONTRADICTIONS}
"""Every rule of ``understudy lint``."""


def contradiction(rule: str, pointer: str, message: str) -> Diagnostic:
    """Returns a contradiction; its severity is the rule's."""
    return Diagnostic(rule, CONTRADICTIONS[rule].severity, pointer, message)
