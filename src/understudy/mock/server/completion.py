"""Completes bodies of handlers by a newer document, and generated bodies by the request's arguments."""

import re
from collections.abc import Mapping, Sequence
from string import hexdigits
from typing import Any, Final
from uuid import NAMESPACE_OID, UUID, uuid5
from zlib import crc32

from understudy.mock.server.api import Complete
from understudy.mock.server.call import BODY, NO_ARGUMENTS, Upload
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Node
from understudy.openapi.operations import Operation
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import ALL, Schemas

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
UUID_DIGITS: Final = 32
_TOTALS: Final = ("total", "count", "total_count", "totalCount", "total_items", "totalItems")
"""Names of members with the number of a list's items."""

_WHOLE: Final = {
    **dict.fromkeys(("has_more", "hasMore", "has_next", "hasNext"), False),
    **dict.fromkeys(("next", "next_cursor", "nextCursor", "next_page", "nextPage"), None),
}
"""Names of pagination members, with their values for a complete list."""

_BESIDE_A_PRICE: Final = frozenset({"currency", "subtotal", "tax", "shipping", "discount", "price"})
"""Names of sibling members that make ``total`` a sum of money."""

_IDENTIFIER = re.compile("(?i:_id|-id)$|Id$|ID$")
"""Matches the name of a path parameter whose value is the ``id`` of the resource."""


class Completion:
    """Makes a body fit its schema, member by member, as far as possible.

    A required member that is missing, empty or null against its schema is computed from its siblings, or
    else gets the argument of its name, or a sample. Without a valid alternative, the first that can be
    completed applies. Other invalid nulls are removed. A list or an object is wrapped in the object that
    the document declares around it; a date gets a time, a number becomes a string, and an identifier a
    UUID, if the schema requires so. Members that a closed object does not declare are removed; other
    invalid members stay.

    Args:
        schemas: The document's validators.
        seed: Same seed, same members.
        completions: Member name to the function that computes the member.
        arguments: Arguments of the request, by name.
    """

    def __init__(
        self,
        schemas: Schemas,
        seed: int,
        completions: Mapping[str, Complete],
        arguments: Mapping[str, Any] = NO_ARGUMENTS,
    ) -> None:
        self._schemas = schemas
        self._seed = seed
        self._completions = completions
        self._known = {**_content(arguments), **arguments}
        self._above: set[str] = set()

    def completed(self, body: Any, schema: Node) -> Any:
        """Returns a completed copy of a body."""
        if isinstance(body, list | tuple):  # lists in records are tuples
            items = self._schemas.items(schema)
            if items is not None:
                return [self.completed(item, items) for item in body]
            body = self._wrapped(body, schema)
        if isinstance(body, dict):
            name = name_around(self._schemas, body, schema)
            if name is not None:
                outer = self._schemas.members(schema, ALL)
                body = {**{key: body[key] for key in body if key in outer}, name: body}
            made = self._with_members(body, schema)
            return made if self._is_valid(made, schema) else self._by_parts(made, schema)
        if isinstance(body, str | int | float) and not self._is_valid(body, schema):
            text = str(body)
            date = _DATE.match(text)
            dates = (date[0], f"{text}T00:00:00Z") if date else ()
            others = (text, *dates, uuid_of(text))
            return next((other for other in others if self._is_valid(other, schema)), body)
        return body

    def _by_parts(self, body: dict[str, Any], schema: Node) -> dict[str, Any]:
        """Returns an invalid body, completed by one of the schema's parts if that makes it valid."""
        place = self._schemas.follow(schema).pointer
        if place in self._above:  # a schema that requires itself has no valid value
            return body
        self._above.add(place)
        made = (self._with_members(body, part) for part in self._schemas.parts(schema))
        found = next((it for it in made if self._is_valid(it, schema)), body)
        self._above.discard(place)
        return found

    def _with_members(self, body: dict[str, Any], schema: Node) -> dict[str, Any]:
        required = self._schemas.required_names(schema)
        declared = self._schemas.members(schema, ALL)
        members = dict(body)
        for name in dict.fromkeys((*body, *required)):
            member = declared.get(name)
            if member is None:  # required, but without a schema: any value is valid
                members.setdefault(name, self._sampler(members).value(Node("", {}), name))
                continue
            value = body.get(name, "")
            if value != "" and (value is not None or self._is_valid(None, member)):
                members[name] = self.completed(value, member)
            elif name in required and not (name in body and self._is_valid(value, member)):
                members[name] = self.made(name, member, members)
            elif value is None:
                del members[name]
        is_closed = members.keys() - declared.keys() and not self._is_valid(members, schema)
        known = {name: members[name] for name in members if name in declared}
        return known if is_closed and self._is_valid(known, schema) else members

    def _wrapped(self, items: Sequence[Any], schema: Node) -> Any:
        """Returns a list within the object that is declared around it, and notes its length for totals."""
        required = self._schemas.required_names(schema)
        members = self._schemas.members(schema, ALL)
        lists = [name for name in members if "array" in self._schemas.types(members[name])]
        lists.sort(key=lambda name: name not in required)
        if lists:
            self._known |= {**_WHOLE, **dict.fromkeys(_TOTALS, len(items))}
        return {lists[0]: items} if lists else items

    def made(
        self,
        name: str,
        schema: Node,
        beside: Mapping[str, Any],
        above: frozenset[str] = frozenset(),
    ) -> Any:
        """Returns a value for a missing member with these siblings; with an empty name, a whole body.

        Args:
            name: Name of the member.
            schema: Schema of the member.
            beside: Its siblings.
            above: Pointers of the schemas around it, as a schema may require itself.
        """
        make = self._completions.get(name)
        computed = None if make is None else make(beside)
        values = [computed] if computed is not None else []
        if name in self._known:
            values.append(self._known[name])
        for candidate in (form for value in values for form in (value, _text_of(value))):
            if self._is_valid(candidate, schema):
                return candidate
        sample = self._sampler(beside).value(schema, name)
        if not isinstance(sample, dict):
            return sample
        members = self._schemas.members(schema, ALL)
        known = self._known.keys() | self._completions
        known |= {key for key in sample if isinstance(sample[key], dict)}
        around = {**beside, **sample}
        place = self._schemas.follow(schema).pointer
        inner = set() if place in above else sample.keys() & members.keys() & known
        above |= {place}
        return {**sample, **{key: self.made(key, members[key], around, above) for key in inner}}

    def _sampler(self, beside: Mapping[str, Any]) -> Sampler:
        """Returns a sampler whose seed depends on the first sibling, so that records get other values."""
        first = next(iter(beside.values()), "")
        key = str(first) if isinstance(first, str | int) else ""
        return Sampler(self._schemas, self._seed + crc32(key.encode()))

    def _is_valid(self, value: Any, schema: Node) -> bool:
        return self._schemas.validator(schema).is_valid(value)


def uuid_of(text: str) -> str:
    """Returns an identifier as a UUID: 32 hexadecimal digits are one without its hyphens."""
    is_digits = len(text) == UUID_DIGITS and not set(text) - set(hexdigits)
    return str(UUID(text) if is_digits else uuid5(NAMESPACE_OID, text))


def _text_of(value: Any) -> Any:
    """Returns a value as text, for schemas that declare a number as such; null stays null."""
    return None if value is None else str(value)


def name_around(schemas: Schemas, body: Mapping[str, Any], schema: Node) -> str | None:
    """Returns the name of the envelope's member that an object belongs into; None: no envelope.

    That is a member that the object itself does not have, and whose schema declares more of the object's
    members than the outer schema does.
    """
    members = schemas.members(schema, ALL)
    shared = {
        name: len(body.keys() & schemas.members(member, ALL).keys())
        for name, member in members.items()
        if name not in body
    }
    name = max(shared, key=shared.__getitem__, default=None)
    own = len(body.keys() & members.keys())
    return None if name is None or shared[name] <= own else name


def echoed(
    body: Any, schema: Node, schemas: Schemas, operation: Operation, arguments: Mapping[str, Any]
) -> Any:
    """Returns a generated body whose members have the values of the request's arguments.

    The items of a list get those of the query, as a search returns matching items. A total beside the
    only list of an object is the list's length, unless it is a price. An object that has none of the
    arguments is an envelope, if it has another object.
    """
    names = {parameter.name for parameter in operation.parameters if parameter.location == "query"}
    queried = {name: value for name, value in arguments.items() if name in names}
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
        body = _with_values(body, schema, schemas, {lists[0]: items, **totals})
    in_path = PATH_PARAMETER.findall(operation.path)
    sent = {name: arguments[name] for name in in_path if name in arguments}
    if in_path and _IDENTIFIER.search(in_path[-1]) and in_path[-1] in sent:
        sent.setdefault("id", sent[in_path[-1]])  # /pets/{petId} responds with the pet's id
    content = _content(arguments)
    values = {**_writable(content, schema, schemas), **sent}
    name, *others = [it for it in body if isinstance(body[it], dict)] or [""]
    inner = schemas.members(schema, ALL).get(name)
    if inner is None or others or (values.keys() - {name}) & body.keys():
        return _with_values(body, schema, schemas, values)
    # an envelope: the request may have one, too
    sent_inside = content.get(name)
    within = {**arguments, BODY: sent_inside if isinstance(sent_inside, dict) else content}
    made = echoed(body[name], inner, schemas, operation, within)
    return _with_values(body, schema, schemas, {name: made})


def _with_values(
    body: dict[str, Any], schema: Node, schemas: Schemas, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns an object with those of the values that its schema accepts.

    Where a list does not fit a member, its first item is tried: a search may ask for any of several.
    """
    accepts = schemas.validator(schema).is_valid
    for name, value in values.items():
        if name not in body:
            continue
        alternatives = value[:1] if isinstance(value, list) else []
        candidates = ({**body, name: candidate} for candidate in (value, *alternatives))
        body = next(filter(accepts, candidates), body)
    return body


def _with_values_of_items(
    items: list[Any], schema: Node | None, schemas: Schemas, values: Mapping[str, Any]
) -> list[Any]:
    item = None if schema is None else schemas.items(schema)
    if item is None or not values:
        return items
    return [_with_values(v, item, schemas, values) if isinstance(v, dict) else v for v in items]


def _content(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the members of a request's body, without the files in it, which are no JSON."""
    content = arguments.get(BODY)
    return {
        name: value
        for name, value in (content.items() if isinstance(content, dict) else ())
        if not any(isinstance(it, Upload) for it in (value if isinstance(value, list) else [value]))
    }


def _writable(content: dict[str, Any], schema: Node, schemas: Schemas) -> dict[str, Any]:
    """Returns the members of a request's body that the response declares and not as ``readOnly``."""
    members = schemas.members(schema)
    return {
        name: value
        for name, value in content.items()
        if name in members and not schemas.is_flagged(members[name], "readOnly")
    }
