"""Completes bodies: those of handlers by a newer document, and generated ones by what was sent."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from understudy.mock.server.api import Complete
from understudy.mock.server.call import BODY, NO_ARGUMENTS
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Node
from understudy.openapi.operations import Operation
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import ALL, Schemas

_DATE_LENGTH: Final = len("2026-03-14")
_TOTALS: Final = ("total", "count", "total_count", "totalCount", "total_items", "totalItems")
"""Names of members that say how many items a list has."""

_BESIDE_A_PRICE: Final = frozenset({"currency", "subtotal", "tax", "shipping", "discount", "price"})
"""Names of members beside which ``total`` is a sum of money."""

_IDENTIFIER = re.compile("(?i:_id|-id)$|Id$|ID$")
"""The end of the name of a path parameter that gives the ``id`` of what it leads to."""


class Completion:
    """Makes a body fit its schema, member by member, as far as it can.

    A required member that is missing, or empty where its schema takes no empty text, is made of those
    beside it, has the value of the argument of its name, or is sampled. A list stands in the object that
    the document declares around it, and a date has a time if it has to. Any other member that its schema
    refuses is left as it is.

    Args:
        schemas: The document's validators.
        seed: Same seed, same members.
        completions: Makes members of these names.
        arguments: What was sent, by name.
    """

    def __init__(
        self,
        schemas: Schemas,
        seed: int,
        completions: Mapping[str, Complete],
        arguments: Mapping[str, Any] = NO_ARGUMENTS,
    ) -> None:
        self._schemas = schemas
        self._sampler = Sampler(schemas, seed)
        self._completions = completions
        self._known = dict(arguments)

    def completed(self, body: Any, schema: Node) -> Any:
        """Returns a body with what it lacks; the one given is not changed."""
        if isinstance(body, list | tuple):  # records give tuples
            items = self._schemas.items(schema)
            if items is not None:
                return [self.completed(item, items) for item in body]
            body = self._wrapped(body, schema)
        if isinstance(body, str) and not self._is_valid(body, schema):
            dated = (body[:_DATE_LENGTH], f"{body}T00:00:00Z")
            return next((it for it in dated if self._is_valid(it, schema)), body)
        return self._with_members(body, schema) if isinstance(body, dict) else body

    def _with_members(self, body: dict[str, Any], schema: Node) -> dict[str, Any]:
        required = self._schemas.required_names(schema)
        declared = self._schemas.members(schema, ALL)
        members = dict(body)
        for name in dict.fromkeys((*body, *required)):
            member = declared.get(name)
            if member is None:  # required and not declared: any value is right
                members.setdefault(name, self._sampler.value(Node("", {}), name))
                continue
            if body.get(name, "") != "":
                members[name] = self.completed(body[name], member)
            elif name in required and not (name in body and self._is_valid("", member)):
                members[name] = self.made(name, member, members)
        return members

    def _wrapped(self, items: Sequence[Any], schema: Node) -> Any:
        """Returns a list as a member of the object that is declared around it, and learns its length."""
        required = self._schemas.required_names(schema)
        members = self._schemas.members(schema, ALL)
        lists = [name for name in members if "array" in self._schemas.types(members[name])]
        lists.sort(key=lambda name: name not in required)
        if lists:
            self._known |= dict.fromkeys(_TOTALS, len(items))
        return {lists[0]: items} if lists else items

    def made(self, name: str, schema: Node, beside: Mapping[str, Any]) -> Any:
        """Returns a member that is missing beside others; by no name, a whole body."""
        make = self._completions.get(name)
        made = (None if make is None else make(beside), self._known.get(name))
        candidates = (it for value in made if value is not None for it in (value, str(value)))
        fitting = [it for it in candidates if self._is_valid(it, schema)]
        if fitting:
            return fitting[0]
        sample = self._sampler.value(schema, name)
        if not isinstance(sample, dict):
            return sample
        members = self._schemas.members(schema, ALL)
        known = members.keys() & sample.keys() & self._known.keys()
        return {**sample, **{name: self.made(name, members[name], sample) for name in known}}

    def _is_valid(self, value: Any, schema: Node) -> bool:
        return self._schemas.validator(schema).is_valid(value)


def echoed(
    body: Any, schema: Node, schemas: Schemas, operation: Operation, arguments: Mapping[str, Any]
) -> Any:
    """Returns a generated body in which members named by the request have its values.

    The items of a list have those of the query, as a search finds what matches it. A total beside the one
    list of an object is its length, unless it is a price.
    """
    queries = {it.name for it in operation.parameters if it.location == "query"}
    queried = {name: arguments[name] for name in queries & arguments.keys()}
    if isinstance(body, list):
        return _with_values_of_items(body, schema, schemas, queried)
    if not isinstance(body, dict):
        return body
    lists = [name for name in body if isinstance(body[name], list)]
    if len(lists) == 1:
        totals = dict.fromkeys(_TOTALS, len(body[lists[0]]))
        members = schemas.members(schema, ALL)
        kinds = schemas.types(members.get("total")) or {"integer"}
        if "integer" not in kinds or not _BESIDE_A_PRICE.isdisjoint(members):
            del totals["total"]
        items = _with_values_of_items(body[lists[0]], members.get(lists[0]), schemas, queried)
        body = _with_values({**body, lists[0]: items}, schema, schemas, totals)
    names = PATH_PARAMETER.findall(operation.path)
    sent = {name: arguments[name] for name in names if name in arguments}
    if names and _IDENTIFIER.search(names[-1]) and names[-1] in sent:
        sent.setdefault("id", sent[names[-1]])  # /pets/{petId} responds with the pet's id
    content = arguments.get(BODY)
    return _with_values(body, schema, schemas, {**_writable(content, schema, schemas), **sent})


def _with_values(
    body: dict[str, Any], schema: Node, schemas: Schemas, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns an object with the values of its members that its schema accepts."""
    accepts = schemas.validator(schema).is_valid
    for name in body.keys() & values.keys():
        changed = {**body, name: values[name]}
        body = changed if accepts(changed) else body
    return body


def _with_values_of_items(
    items: list[Any], schema: Node | None, schemas: Schemas, values: Mapping[str, Any]
) -> list[Any]:
    item = None if schema is None else schemas.items(schema)
    if item is None or not values:
        return items
    return [_with_values(it, item, schemas, values) if isinstance(it, dict) else it for it in items]


def _writable(content: Any, schema: Node, schemas: Schemas) -> dict[str, Any]:
    """Returns the members of a request's body that a client may set, as the response has them."""
    if not isinstance(content, dict):
        return {}
    members = schemas.members(schema)
    return {
        name: value
        for name, value in content.items()
        if name in members and not schemas.is_flagged(members[name], "readOnly")
    }
