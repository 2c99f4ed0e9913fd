"""Finds items in a document: their places in bodies, their paths, and their identifiers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from understudy.collections.model import RENEWED, Resource, ResourceOperation, Steps
from understudy.collections.names import (
    Moment,
    canonical,
    is_no_status,
    is_plural,
    is_secret,
    moment_named,
    outcomes,
    renews,
    singular,
    words,
)
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Node
from understudy.openapi.media_types import MULTIPART, URLENCODED, is_json
from understudy.openapi.operations import DeclaredResponse, MediaType, Operation, path_shape
from understudy.openapi.schemas import FLAGS, Schemas

_FEW_MEMBERS: Final = 8
"""Most members of an object that is taken for an envelope around an item."""

_DEEPEST: Final = 2
"""Levels of nested envelopes that are searched for items."""

NO_CONTENT: Final = 204
JSON_PATCH: Final = "application/json-patch+json"

SHARED: Final = 0.5
"""Least share of common members with which two schemas are taken to describe the same items."""

_FORMS: Final = frozenset({URLENCODED, MULTIPART})


def types_of(schemas: Schemas, schema: Node | None) -> frozenset[str]:
    """Returns the JSON types that a schema allows, without ``null``; empty: any type."""
    return schemas.types(schema) - {"null"}


def schema_at(schemas: Schemas, schema: Node | None, steps: Steps) -> Node | None:
    """Returns the schema at a place in a body, or None."""
    for step in steps:
        schema = schemas.members(schema).get(step)
    return schema


def item_schema(schemas: Schemas, schema: Node | None, steps: Steps) -> Node | None:
    """Returns the schema of the item, or of the items of a list, at a place in a body; or None."""
    schema = schema_at(schemas, schema, steps)
    return schemas.items(schema) if "array" in schemas.types(schema) else schema


def sent_members(schemas: Schemas, role: ResourceOperation) -> Mapping[str, Node]:
    """Returns the members of the item in an operation's request body."""
    return schemas.members(item_schema(schemas, request_schema(role.operation), role.request_path))


_BINARY: Final = frozenset({"binary", "byte"})


def read_names(schemas: Schemas, role: ResourceOperation, resource: Resource) -> dict[str, str]:
    """Returns the members that can be sent and read back, each with its name in the item.

    Left out are identifiers, timestamps of changes, members that only requests or only responses
    have, and members whose schema in the response does not allow all values of the request.
    """
    read = schemas.members(resource.schema)
    own_names = {canonical(name): name for name in read}
    names = {}
    for name, member in sent_members(schemas, role).items():
        own = own_names.get(canonical(name))
        if (
            own is not None
            and own != resource.identifier
            and moment_of(schemas, own, read[own]) is None
            and _is_same_kind(schemas, member, read[own])
        ):
            names[name] = own
    return names


def moment_of(schemas: Schemas, name: str, member: Node) -> Moment | None:
    """Returns ``created`` or ``updated`` for a member with the time of that event; None for others."""
    is_instant = schemas.keyword(member, "format") in {"date-time", "date"}
    is_time = is_instant or types_of(schemas, member) == {"integer"}
    return moment_named(name) if is_time else None


_LIMITS: Final = (
    *("pattern", "minLength", "maxLength", "minItems", "maxItems", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
)
"""Keywords by which a schema allows fewer values; a service cannot show what they exclude."""


def _shows_all(schemas: Schemas, sent: Node, read: Node) -> bool:
    values, shown = (schemas.keyword(it, "enum") for it in (sent, read))
    if isinstance(values, list) and isinstance(shown, list):
        return all(it in shown for it in values)
    limits = [tuple(schemas.keyword(it, name) for name in _LIMITS) for it in (sent, read)]
    if any(limit not in (None, own) for own, limit in zip(*limits, strict=True)):
        return False
    formats = [schemas.keyword(it, "format") for it in (sent, read)]
    return formats[1] in (None, formats[0]) or "string" not in types_of(schemas, read)


def _is_same_kind(schemas: Schemas, sent: Node, read: Node) -> bool:
    members = (*schemas.members(sent).values(), *schemas.members(read).values())
    if any(schemas.is_flagged(it, flag) for it in (sent, read, *members) for flag in FLAGS):
        return False
    if schemas.keyword(sent, "format") in _BINARY or not _shows_all(schemas, sent, read):
        return False
    types = types_of(schemas, sent)
    if not types or types != types_of(schemas, read):
        return False
    if "object" in types:
        return schemas.follow(sent).pointer == schemas.follow(read).pointer
    if "array" not in types:
        return True
    items, others = schemas.items(sent), schemas.items(read)
    return items is not None and others is not None and _is_same_kind(schemas, items, others)


def opened(
    schemas: Schemas, schema: Node | None, names: Sequence[str]
) -> tuple[Steps, Node | None]:
    """Finds the item within the envelopes of a body, also as the only content or as a named list.

    Args:
        schemas: The schemas of the document.
        schema: The schema of a body.
        names: Canonical names of identifying members, and pointers to schemas of items.

    Returns:
        The steps to the item, and its schema.
    """
    return _opened(schemas, schema, frozenset(names), _DEEPEST) or ((), schema)


def _opened(
    schemas: Schemas, schema: Node | None, names: frozenset[str], depth: int
) -> tuple[Steps, Node] | None:
    members = schemas.members(schema)
    if schema is None or not members:
        return None
    if names & _identifying(schemas, schema):
        return (), schema
    if not depth or len(members) > _FEW_MEMBERS:
        return None
    for name, member in members.items():
        if "array" not in schemas.types(member) and schemas.members(member):
            inner = _opened(schemas, member, names, depth - 1)
            if inner is not None:
                return (name, *inner[0]), inner[1]
    return next(
        (
            (steps, items)
            for steps, items in arrays(schemas, schema, 1)
            if (len(members) == 1 or f"{singular(''.join(steps))}id" in names)
            and names & _identifying(schemas, items)
        ),
        None,
    )


def _identifying(schemas: Schemas, schema: Node) -> set[str]:
    """Returns the pointer to a schema and its canonical member names, by which items are recognised.

    Without objects, and ``code`` beside ``message``, an error code: these identify no item.
    """
    members = schemas.members(schema).items()
    own = {canonical(name) for name, it in members if not schemas.members(it)}
    return {schemas.follow(schema).pointer, *(own - {"code"} if "message" in own else own)}


def arrays(
    schemas: Schemas, schema: Node | None, depth: int = _DEEPEST
) -> Iterator[tuple[Steps, Node]]:
    """Yields the places of lists of objects in a body, with the schema of their items."""
    if "array" in schemas.types(schema):
        items = schemas.items(schema)
        if items is not None:
            yield (), items
    elif depth:
        for name, member in schemas.members(schema).items():
            for steps, items in arrays(schemas, member, depth - 1):
                yield (name, *steps), items


def _is_json(media_type: str) -> bool:
    return is_json(media_type) or media_type == "*/*"


def success(operation: Operation) -> tuple[int, DeclaredResponse] | None:
    """Returns status and response of the lowest success of an operation, or else its default."""
    declared = sorted(status for status in operation.responses if status.startswith("2"))
    if declared:
        status = declared[0]
        return int(status) if status.isdecimal() else 200, operation.responses[status]
    default = operation.responses.get("default")
    return None if default is None else (200, default)


def is_open(schemas: Schemas, operation: Operation | None) -> bool:
    """Tells whether the body of a success is undescribed: without schema, or any object."""
    declared = None if operation is None else success(operation)
    if declared is None:
        return False
    content = declared[1].content
    by_json = [media.schema for name, media in content.items() if _is_json(name)]
    if not by_json:
        return not content and declared[0] != NO_CONTENT
    schema = by_json[0]
    if "array" in schemas.types(schema):
        schema = schemas.items(schema)
    return schema is None or not (
        schemas.members(schema) or schemas.types(schema) - {"object", "null"}
    )


def response_schema(operation: Operation | None) -> Node | None:
    """Returns the schema of the JSON body of the lowest success, or else of the default; or None."""
    if operation is None:
        return None
    statuses = sorted(status for status in operation.responses if status.startswith("2"))
    for status in statuses or operation.responses.keys() & {"default"}:
        for media_type, media in operation.responses[status].content.items():
            if _is_json(media_type) and media.schema is not None:
                return media.schema
    return None


def request_schema(operation: Operation | None) -> Node | None:
    """Returns the schema of the JSON body or form that an operation accepts, or None."""
    media = None if operation is None else request_media(operation)
    return None if media is None else media.schema


def request_media(operation: Operation) -> MediaType | None:
    """Returns the JSON body that an operation accepts, or else its form; None without either."""
    content = operation.request_body.content if operation.request_body else {}
    by_json = [media for name, media in content.items() if _is_json(name)]
    by_form = [media for name, media in content.items() if name in _FORMS]
    return next(iter((*by_json, *by_form)), None)


_ITEM: Final = re.compile(r"(?P<collection>.*)/\{[^{}/]*\}(?:\.json)?/?")
"""The path of an item: its last segment is a single parameter."""

_ACTION: Final = re.compile(r"(?P<item>.*/\{[^{}/]+\})(?:/|:)(?P<verb>[A-Za-z][\w-]*)(?:\.json)?/?")
"""The path of an action on an item: it ends with a verb below the item, or after a colon."""

_CREATING: Final = frozenset({"create", "add", "new", "insert"})
_DELETING: Final = frozenset({"delete", "remove", "destroy"})
_TOGETHER: Final = frozenset(
    {"import", "bulk", "batch", "multiple", "many", "with", "list", "array"}
)
"""Words of operations on several items; ``createWithList`` consists of such words alone."""
_LISTING: Final = ("list", "all", "search", "query", "find", "filter", "lookup", "by")


def collection_key(path: str) -> str:
    """Returns a key of a path by which operations of the same collection are grouped.

    Parameter names, a trailing slash and ``.json`` are ignored.
    """
    return path_shape(path).removesuffix("/").removesuffix(".json")


def item_collection(path: str) -> str | None:
    """Returns the key of the collection of an item's path; None for other paths."""
    match = _ITEM.fullmatch(path)
    return collection_key(match["collection"]) if match and match["collection"] else None


def action_of(path: str) -> tuple[str, str] | None:
    """Returns the key of the item and the verb of an action's path; None for other paths."""
    match = _ACTION.fullmatch(path)
    return (collection_key(match["item"]), match["verb"]) if match else None


@dataclass(slots=True)
class PathGroup:
    """The operations that may belong to one collection.

    Attributes:
        key: The key of the collection's path (``collection_key``).
        own: Operations at the path of the collection.
        items: Operations at the path of an item.
        actions: Verbs and operations below the path of an item.
        searches: GET operations at paths below the collection, such as ``/pets/findByStatus``.
        further: Operations at such paths that may create or delete items, such as ``/pets/import``.
        parent_path: The path of an item that is known only from collections below it; or None.
    """

    key: str
    own: list[Operation] = field(default_factory=list)
    items: list[Operation] = field(default_factory=list)
    actions: list[tuple[str, Operation]] = field(default_factory=list)
    searches: list[Operation] = field(default_factory=list)
    further: list[Operation] = field(default_factory=list)
    parent_path: str | None = None

    def find(self, method: str) -> Operation | None:
        """Returns the operation with a method at the collection's path, or None."""
        return next((it for it in self.own if it.method == method), None)

    def find_item(self, method: str) -> Operation | None:
        """Returns the operation with a method at an item's path, or None."""
        return next((it for it in self.items if it.method == method), None)


def places(operations: Sequence[Operation]) -> dict[str, PathGroup]:
    """Returns key to group for all paths of items, and for paths with both GET and POST."""
    by_key: dict[str, list[Operation]] = {}
    for operation in operations:
        by_key.setdefault(collection_key(operation.path), []).append(operation)
    grouped: dict[str, PathGroup] = {}
    for operation in operations:
        key = item_collection(operation.path)
        if key is not None:
            grouped.setdefault(key, PathGroup(key)).items.append(operation)
    for key, listed in by_key.items():
        methods = {operation.method for operation in listed}
        if {"GET", "POST"} <= methods and not key.endswith("{}"):
            grouped.setdefault(key, PathGroup(key))
    _add_parents(grouped, by_key)
    siblings = _Siblings(by_key)
    for place in grouped.values():
        _add_own(place, siblings, grouped)
    _join_flattened(grouped)
    flat = _by_items(grouped)
    for operation in operations:
        _add_action(operation, grouped, flat)
    return grouped


def _add_parents(grouped: dict[str, PathGroup], by_key: Mapping[str, list[Operation]]) -> None:
    """Adds collections without item operations, whose items have other collections below them."""
    for key in list(grouped):
        path = by_key.get(key, grouped[key].items)[0].path
        for match in PATH_PARAMETER.finditer(path):
            above = item_collection(path[: match.end()])
            is_below = path.startswith("/", match.end()) and above in by_key
            if above is not None and is_below and key.startswith(f"{above}/{{}}/"):
                place = grouped.setdefault(above, PathGroup(above))
                place.parent_path = path[: match.end()]


class _Siblings:
    """An index of a document's operations by key, and of the keys beside and below each key.

    Documents have tens of thousands of paths, so comparing all with all would be too slow.
    """

    def __init__(self, by_key: dict[str, list[Operation]]) -> None:
        self.by_key = by_key
        self._order = {key: number for number, key in enumerate(by_key)}
        self._below: dict[str, list[str]] = {}
        self._alike: dict[tuple[str, str], list[str]] = {}
        for key in by_key:
            head, _, last = _last_segment(key)
            self._below.setdefault(head, []).append(key)
            self._alike.setdefault((head, singular(last)), []).append(key)

    def of(self, key: str) -> Iterator[tuple[str, str, list[Operation]]]:
        """Yields head, last segment and operations of singular or plural twins and of keys below."""
        head, _, last = key.rpartition("/")
        related = [*self._alike.get((head, singular(last)), ()), *self._below.get(key, ())]
        for other in sorted(related, key=self._order.__getitem__):
            head, _, last = _last_segment(other)
            yield head, last, self.by_key[other]


def _last_segment(key: str) -> tuple[str, str, str]:
    """Splits a key before its last segment, or before a verb of the collection: ``/pets:search``."""
    head, colon, verb = key.rpartition(":")
    is_verb = bool(colon) and "/" not in verb and not head.endswith("}")
    return (head, colon, verb) if is_verb else key.rpartition("/")


def _join_flattened(grouped: dict[str, PathGroup]) -> None:
    """Joins a collection created at ``/orders/{id}/items`` with items read at ``/items/{itemId}``.

    Only if ``/items`` has no operations, and just one nested path ends with ``items``.
    """
    by_last: dict[str, list[PathGroup]] = {}
    for key, place in grouped.items():
        if key.rpartition("/")[0].endswith("}"):
            by_last.setdefault(key.rpartition("/")[2], []).append(place)
    for key, flat in list(grouped.items()):
        head, _, last = key.rpartition("/")
        below = (
            it
            for it in by_last.get(last, ())
            if it.key in grouped and it.key.startswith(f"{head}/")
        )
        nested = [it for it in below if it.find("POST") is not None and not it.items]
        if flat.items and not flat.own and len(nested) == 1:
            nested[0].items += grouped.pop(key).items


def _add_own(place: PathGroup, siblings: _Siblings, grouped: dict[str, PathGroup]) -> None:
    """Adds the operations at the collection's path, at its twin (``/pet``, ``/pets``), and below."""
    place.own += siblings.by_key.get(place.key, [])
    above, _, last = place.key.rpartition("/")
    if not last or "{" in last:
        return
    for head, other, operations in siblings.of(place.key):
        is_twin = head == above and other != last and is_plural(other) != is_plural(last)
        if is_twin and f"{head}/{other}" not in grouped:
            place.own += [
                it for it in operations if not place.find(it.method) or it.method == "GET"
            ]
        if head == place.key:
            word = canonical(other)
            place.own += [
                it
                for it in operations
                if (it.method == "POST" and word in _CREATING and place.find("POST") is None)
                or (it.method == "GET" and word in _LISTING and place.find("GET") is None)
            ]
            if word.startswith(_LISTING):  # other words, as in /pets/feed, may not return its items
                place.searches += [it for it in operations if it.method == "GET"]
            if {*words(other)} <= _CREATING | _DELETING | _TOGETHER:
                others = (it for it in operations if it not in place.own)
                place.further += [it for it in others if it.method != "GET"]


def _by_items(grouped: dict[str, PathGroup]) -> dict[str | None, PathGroup]:
    """Returns the key of the items' collection to the first group with items there."""
    found: dict[str | None, PathGroup] = {}
    for place in grouped.values():
        if place.items:
            found.setdefault(item_collection(place.items[0].path), place)
    return found


def _add_action(
    operation: Operation, grouped: dict[str, PathGroup], flat: dict[str | None, PathGroup]
) -> None:
    if operation.method not in {"POST", "PUT", "PATCH"}:
        return
    action = action_of(operation.path)
    if action is None:
        return
    key = item_collection(action[0])
    place = None if key is None else grouped.get(key) or flat.get(key)
    if place is not None and collection_key(operation.path) not in grouped:
        place.actions.append((action[1], operation))


def deletes_several(path: str) -> bool:
    """Tells whether the last words of a path say that it deletes items: ``/pets:batchDelete``."""
    return bool(_DELETING & {*words(_last_segment(path)[2])})


def action_changes(verb: str, members: Mapping[str, Node], schemas: Schemas) -> dict[str, Any]:
    """Returns the members that an action changes and their new values; empty if none is known.

    A member qualifies if its enum has a value that the verb leads to (``cancel``: ``cancelled``), or
    if it is a boolean with that name.

    Args:
        verb: The last segment of the action's path.
        members: The members of an item.
        schemas: The schemas of the document.
    """
    states = outcomes(verb)
    if renews(verb):
        times = {f"{before}{states[0]}{after}" for before in ("", "last") for after in ("at", "on")}
        texts = {n: it for n, it in members.items() if "string" in types_of(schemas, it)}
        return {n: RENEWED for n in texts if canonical(n) in times or is_secret(n)}
    for name in sorted(members, key=is_no_status):
        values = schemas.keyword(members[name], "enum")
        for state in states if isinstance(values, list) else ():
            for value in values:
                if isinstance(value, str) and canonical(value) == state:
                    return {name: value}
    for name, member in members.items():
        is_flag = types_of(schemas, member) == {"boolean"}
        if is_flag and canonical(name).removeprefix("is") in states[:3]:
            return {name: True}
    return {}


USUAL: Final = ("id", "uuid", "sid", "guid", "uid", "name", "slug", "key", "code", "username")
"""Names of members that usually identify an item, the likeliest first."""

ENDINGS: Final = ("id", "uuid", "sid", "guid")
"""Last words of names of identifying members."""


def identifying_names(parameter: str, collection: str) -> tuple[str, ...]:
    """Returns canonical names of members that may identify an item, the likeliest first.

    Args:
        parameter: The path parameter.
        collection: The last segment of the collection's path.
    """
    return tuple(dict.fromkeys(name for name, _ in _candidates(parameter, collection)))


def _candidates(parameter: str, collection: str) -> Iterator[tuple[str, float]]:
    name, one = canonical(parameter), singular(collection)
    yield name, 0.3
    if name.startswith(one) and name != one:
        yield name.removeprefix(one), 0.3  # petId identifies by id, pet_name by name
    last = words(parameter)[-1:] or ("",)
    if last[0] in ENDINGS:
        yield last[0], 0.3
    for ending in ENDINGS:
        yield one + ending, 0.25
    for usual in USUAL:
        yield usual, 0.25 if usual in ENDINGS else 0.15


def identifier_member(
    parameter: str,
    collection: str,
    members: Mapping[str, Node],
    schemas: Schemas,
    typed: Node | None,
) -> tuple[str, float, str] | None:
    """Returns the member that identifies an item, with weight and reason of the choice; or None.

    Args:
        parameter: The path parameter.
        collection: The last segment of the collection's path.
        members: The members of an item.
        schemas: The schemas of the document.
        typed: The schema of the path parameter.
    """
    by_name = {canonical(name): name for name in reversed(list(members))}
    for candidate, weight in _candidates(parameter, collection):
        name = by_name.get(candidate)
        if name is None or not agree(schemas, typed, members[name]):
            continue
        if candidate == "code" != canonical(parameter) and "message" in by_name:
            continue  # an error code, not a member of an item
        like = f"named like the parameter {{{parameter}}}"
        reason = like if candidate == canonical(parameter) else f"for {{{parameter}}}"
        return name, weight, f"the member {name} identifies an item, {reason}"
    return None


_NUMBERS: Final = frozenset({"integer", "number"})


def agree(schemas: Schemas, parameter: Node | None, member: Node) -> bool:
    """Tells whether a path parameter and a member can have the same values, by types and formats."""
    types = types_of(schemas, member)
    if types and not types & {"string", *_NUMBERS}:
        return False
    expected = types_of(schemas, parameter)
    is_number = bool(expected) and expected <= _NUMBERS
    is_uuid = parameter is not None and schemas.keyword(parameter, "format") == "uuid"
    return not (is_number and types == {"string"}) and not (is_uuid and types and types <= _NUMBERS)


def path_parameter_schema(operation: Operation, name: str) -> Node | None:
    """Returns the schema of a path parameter of an operation, or None."""
    for parameter in operation.parameters:
        if parameter.location == "path" and parameter.name == name:
            return parameter.schema
    return None


def identifying_schemas(schemas: Schemas, resource: Resource) -> tuple[Node, ...]:
    """Returns the schemas of an identifier as path parameter and as member of an item, if any."""
    name = resource.parameter or ""
    in_paths = (path_parameter_schema(it.operation, name) for it in resource.operations)
    member = schemas.members(resource.schema).get(resource.identifier or "")
    found = (next((it for it in in_paths if it is not None), None), member)
    return tuple(it for it in found if it is not None)
