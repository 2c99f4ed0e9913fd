"""Defines what the steps of a sequence hand on and check: captures and assertions, as Hurl calls them.

A variable of a sequence is the identifier of an item that an earlier step created. Every format
writes captures and assertions in one JSON form, which its script reads.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

ITEMS = tuple(f"ITEM_{number}" for number in range(1, 10))
"""Variables that hold identifiers of created items."""

Steps = tuple[str, ...]
"""Member names from the top of a JSON body to a place in it; empty for the whole body."""

AssertionKind = Literal["equals", "contains", "lacks"]
"""A value is equal, or a list has an item with it, or has none."""


class Capture(NamedTuple):
    """A value of a response that later requests contain.

    Attributes:
        variable: One of ``ITEMS``.
        place: The member that has the value; None for the last segment of the Location header's path.
    """

    variable: str
    place: Steps | None


class Assertion(NamedTuple):
    """A statement that the JSON body of a response has to meet.

    Attributes:
        kind: How the body is compared.
        place: The place of the value, or of the list.
        value: The expected value; not used with a variable.
        variable: The variable with the expected value, compared as text; empty for ``value``.
        member: The member of each item of a list that is compared; empty for ``equals``.
    """

    kind: AssertionKind
    place: Steps
    value: Any = None
    variable: str = ""
    member: str = ""


class SequenceStep(NamedTuple):
    """The place of a case in a sequence.

    Attributes:
        sequence: Identifier of the sequence; its steps follow one another.
        title: What the sequence tries.
        number: From 1.
        captures: What the response has for later steps.
        assertions: What the response has to show.
    """

    sequence: str
    title: str
    number: int
    captures: tuple[Capture, ...] = ()
    assertions: tuple[Assertion, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Returns the captures and assertions as JSON; a place of null means Location."""
        return {
            "captures": [
                {"variable": it.variable, "place": None if it.place is None else [*it.place]}
                for it in self.captures
            ],
            "assertions": [_assertion_json(it) for it in self.assertions],
        }


def _assertion_json(assertion: Assertion) -> dict[str, Any]:
    expected: dict[str, Any] = (
        {"variable": assertion.variable} if assertion.variable else {"value": assertion.value}
    )
    member = {"member": assertion.member} if assertion.member else {}
    return {"kind": assertion.kind, "place": [*assertion.place], **member, **expected}


def captured(step: SequenceStep, body: Any, location: str) -> dict[str, str]:
    """Returns the variables that a response gives a value; those without one are left out.

    Args:
        step: What is captured.
        body: The parsed JSON body; None for any other.
        location: The Location header.
    """
    values = {it.variable: _captured(it, body, location) for it in step.captures}
    return {name: text for name, text in values.items() if text}


def _captured(capture: Capture, body: Any, location: str) -> str:
    if capture.place is None:
        return unquote(urlsplit(location).path.rstrip("/").rpartition("/")[2])
    value = _at(body, capture.place)
    is_identifier = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if is_identifier else ""


def broken_assertions(step: SequenceStep, body: Any, values: Mapping[str, str]) -> list[str]:
    """Returns in words what a response does not show.

    Args:
        step: What is asserted.
        body: The parsed JSON body; None for any other.
        values: Values of the variables.
    """
    return [described(it) for it in step.assertions if not _holds(it, body, values)]


def described(assertion: Assertion) -> str:
    """Returns an assertion in words."""
    expected = assertion.variable or repr(assertion.value)
    place = ".".join(assertion.place)
    if assertion.kind == "equals":
        return f"{place or 'the body'} is {expected}"
    verb = "has" if assertion.kind == "contains" else "lacks"
    return f"{place or 'the list'} {verb} an item with {assertion.member} {expected}"


def _holds(assertion: Assertion, body: Any, values: Mapping[str, str]) -> bool:
    expected = values.get(assertion.variable) if assertion.variable else assertion.value
    value = _at(body, assertion.place)

    def is_expected(actual: Any) -> bool:
        if assertion.variable:
            return expected is not None and str(actual) == expected
        return actual == expected and isinstance(actual, bool) == isinstance(expected, bool)

    if assertion.kind == "equals":
        return is_expected(value)
    if not isinstance(value, list):
        return False
    has_item = any(is_expected(_at(item, (assertion.member,))) for item in value)
    return has_item == (assertion.kind == "contains")


def _at(body: Any, place: Steps) -> Any:
    for step in place:
        body = body.get(step) if isinstance(body, dict) else None
    return body
