"""Writes what was wrong with a request into a body of whatever error schema a document declares.

Error schemas differ in the names of their members and agree on what they say: a message, a status,
and a list of violations with a place and a message each. A body is made from the schema, and each
member of a usual name says what it is for, if its schema accepts that.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from understudy.errors import Problem, Violation
from understudy.openapi.loader import Node
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas

_MESSAGE_NAMES: Final = (
    *("error", "message", "detail", "error_description", "msg", "description", "title"),
    *("problem", "reason", "issue"),
)
"""Names of the member that says what is wrong, the most usual first."""

_PLACE_NAMES: Final = frozenset(
    (
        "field",
        "loc",
        "path",
        "pointer",
        "parameter",
        "param",
        "name",
        "property",
        "key",
        "attribute",
    )
)
_CODE_NAMES: Final = frozenset(("code", "type", "error_code", "errorCode"))
_STATUS_NAMES: Final = frozenset(("status", "statusCode", "status_code"))
_LOCATION_NAMES: Final = frozenset(("in", "location"))

_MAX_DEPTH = 3
"""Levels of objects within one another that are filled."""


class _Facts(NamedTuple):
    """The facts that an object of an error body may contain."""

    message: str
    status: int
    code: str | None
    violation: Violation | None = None

    def named(self, name: str) -> tuple[Any, ...]:
        """Returns what a member of this name may say, the likeliest first."""
        if name in _STATUS_NAMES:
            return self.status, str(self.status)
        if name in _CODE_NAMES:
            return () if self.code is None else (self.code,)
        if self.violation is not None and name in _LOCATION_NAMES:
            return (self.violation.location,)
        if self.violation is not None and name in _PLACE_NAMES:
            location, path = self.violation.location, self.violation.path
            text = (
                "".join(f"/{it}" for it in path) if name == "pointer" else ".".join(map(str, path))
            )
            return text, [location, *path], [location, *map(str, path)], list(path)
        return ()


class ErrorBodies:
    """Makes the bodies of one error schema.

    Args:
        schemas: The document's validators.
        schema: The error schema.
        seed: Seed of members that nothing is known of.
    """

    def __init__(self, schemas: Schemas, schema: Node, seed: int) -> None:
        self._schemas = schemas
        self._schema = schema
        self._sampler = Sampler(schemas, seed)

    def body(self, problem: Problem, status: int) -> Any:
        """Returns a body that says what was wrong; not valid where the schema allows none."""
        facts = _Facts(problem.message, status, problem.code)
        violations = problem.violations or (Violation("", (), problem.message),)
        items = [_Facts(it.message, status, problem.code, it) for it in violations]
        if "array" in self._schemas.types(self._schema):
            lists = self._lists(self._schema, items)
            return next((it for it in lists if self._accepts(self._schema, it)), [])
        return self._filled(self._schema, facts, items)

    def _filled(
        self, schema: Node, facts: _Facts, items: Sequence[_Facts] = (), depth: int = 0
    ) -> Any:
        """Returns a value of a schema; an object says the facts, and the items where it has a list."""
        value = self._sampler.value(schema)
        if not isinstance(value, dict):
            return value
        members = {name: self._schemas.property_schema(schema, name) for name in value}
        known = {name: member for name, member in members.items() if member is not None}
        bearers = [name for name in _MESSAGE_NAMES if name in known]
        bearer = next((it for it in bearers if self._accepts(known[it], facts.message)), None)
        for name, member in known.items():
            candidates = (facts.message,) if name == bearer else facts.named(name)
            types = self._schemas.types(member)
            lists = self._lists(member, items) if items and "array" in types else ()
            fitting = (it for it in chain(candidates, lists) if self._accepts(member, it))
            value[name] = next(fitting, value[name])
            if "object" in types and depth < _MAX_DEPTH:
                value[name] = self._filled(member, facts, items, depth + 1)
        return value

    def _lists(self, schema: Node, items: Sequence[_Facts]) -> Iterator[list[Any]]:
        """Yields all items as a list of this schema, and the first alone, in case it has a bound."""
        item = self._schemas.items_schema(schema)
        if item is None:
            yield [facts.message for facts in items]
            return
        is_text = "string" in self._schemas.types(item)
        listed = [facts.message if is_text else self._filled(item, facts) for facts in items]
        yield listed
        yield listed[:1]

    def _accepts(self, schema: Node, value: Any) -> bool:
        return self._schemas.validator(schema).is_valid(value)
