"""Describes the items of a collection, makes them, and keeps them in a world: nothing else touches its records."""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from math import isfinite
from typing import Any, Final

import msgspec
import orjson

from understudy.collections.bodies import (
    identifying_schemas,
    moment_of,
    response_schema,
    schema_at,
    sent_members,
    types_of,
)
from understudy.collections.model import Resource, ResourceModel, ResourceParent
from understudy.collections.names import Moment, canonical, singular, words
from understudy.limits import RECORDS
from understudy.mock.server.worlds import World
from understudy.mock.store.items import (
    DELETED_ITEMS,
    LAST_NUMBERS,
    Item,
    expect_room_for_item,
    items_of,
    key_of,
)
from understudy.openapi.loader import Node
from understudy.openapi.sampler import DYNAMIC, Sampler
from understudy.openapi.schemas import ALL, Schemas


@dataclass(frozen=True, slots=True)
class ItemMember:
    """One member of an item.

    Attributes:
        schema: Its schema.
        is_read_only: Whether only the server sets it.
        is_write_only: Whether only requests have it.
        is_required: Whether every item has it.
        is_sent: Whether the request that creates an item may have it.
        default: Its default, as a tuple of one; empty for none.
        moment: The moment of the item's life whose time it is; None for any other member.
    """

    schema: Node
    is_read_only: bool
    is_write_only: bool
    is_required: bool
    is_sent: bool
    default: tuple[Any, ...]
    moment: Moment | None


class ItemShape:
    """Describes the items of one collection, or a resource that exists once.

    Args:
        resource: The collection.
        schemas: The document's validators.
        whole: The schema of the items; None: that of the resource.
        tags: The members that tell this alternative of the resource's schema from the others.

    Attributes:
        members: The members of an item by name.
        sent: The names of the members that the request which creates an item may have.
    """

    def __init__(
        self,
        resource: Resource,
        schemas: Schemas,
        whole: Node | None = None,
        tags: frozenset[str] = frozenset(),
    ) -> None:
        self.resource = resource
        self.schemas = schemas
        self.tags = tags
        self.schema = whole or resource.schema
        required = set(schemas.required_names(self.schema)) if self.schema else set()
        common = schemas.members(resource.schema, ALL) if tags else {}
        sent = self._sent_members()
        self.sent = set(sent)
        self.members: Mapping[str, ItemMember] = {
            name: self._member(name, node, is_required=name in required, sent=sent.get(name))
            for name, node in {**common, **schemas.members(self.schema)}.items()
        }

    @cached_property
    def _alternatives(self) -> list["ItemShape"]:
        """The shapes of the alternatives of ``oneOf`` or ``anyOf``, if a member of all tells which it is."""
        of = self.schemas
        parts = () if self.schema is None or self.tags else of.parts(self.schema, ALL)
        choices = (part.child(keyword) for part in parts for keyword in ("oneOf", "anyOf"))
        found = [node for _, node in next((it.children() for it in choices if it), ())]
        common = set.intersection(*({*of.members(it)} for it in found)) if found else set()
        fixed = ([of.members(node)[name] for node in found] for name in common)
        is_fixed = [
            all(of.keyword(it, "enum") or of.keyword(it, "const") for it in f) for f in fixed
        ]
        tags = frozenset(itertools.compress(common, is_fixed))
        return [ItemShape(self.resource, of, node, tags) for node in found] if tags else []

    def of(self, body: Mapping[str, Any]) -> "ItemShape":
        """Returns the shape of the alternative whose tags a body has; the whole where none has them."""
        known = ((it, [(n, body[n]) for n in it.tags if n in body]) for it in self._alternatives)
        fit = (it for it, tags in known if tags and all(it.accepts(*tag) for tag in tags))
        return next(fit, self)

    @cached_property
    def created(self) -> "ItemShape":
        """The shape of the alternative that the response to a creation has; else of any of them."""
        of, creating = self.schemas, [it for it in self.resource.operations if it.role == "create"]
        shown = (
            schema_at(of, response_schema(it.operation), it.response_path or ()) for it in creating
        )
        pointers = {of.follow(it).pointer for it in shown if it is not None}
        fit = (
            it
            for it in self._alternatives
            if it.schema and of.follow(it.schema).pointer in pointers
        )
        return next(fit, self)

    @property
    def identifier(self) -> str | None:
        """The member that identifies an item; None where only its path does."""
        return self.resource.identifier

    def _sent_members(self) -> Mapping[str, Node]:
        writing = (
            it
            for role in ("create", "replace", "update")
            for it in self.resource.operations
            if it.role == role
        )
        return next((found for it in writing if (found := sent_members(self.schemas, it))), {})

    def _member(self, name: str, node: Node, *, is_required: bool, sent: Node | None) -> ItemMember:
        keyword = self.schemas.keyword
        defaults = (keyword(each, "default") for each in (sent, node) if each is not None)
        default = next((it for it in defaults if it is not None), None)
        if default is not None and not self.schemas.validator(node).is_valid(default):
            default = None  # such as one of the request alone
        return ItemMember(
            schema=node,
            is_read_only=keyword(node, "readOnly") is True,
            is_write_only=keyword(node, "writeOnly") is True,
            is_required=is_required,
            is_sent=sent is not None,
            default=() if default is None else (default,),
            moment=moment_of(self.schemas, name, node),
        )

    def accepts(self, name: str, value: Any) -> bool:
        """Tells whether a member can have a value."""
        return self.schemas.validator(self.members[name].schema).is_valid(value)

    @cached_property
    def identifying(self) -> tuple[Node, ...]:
        """The schemas of an identifier: as a member of an item, and as a parameter of its path."""
        return identifying_schemas(self.schemas, self.resource)

    def identifies(self, value: Any) -> bool:
        """Tells whether a value can identify an item, in its members and as a text of its path."""
        validators = map(self.schemas.validator, self.identifying)
        return all(it.is_valid(value) or it.is_valid(text_of(value)) for it in validators)


STAGE_SECONDS: Final = 2.0
"""Seconds of the world's clock after which a job is in its next state."""

_ATTEMPTS: Final = 20
_STRIDE: Final = 1_000_003
"""Added to an item's number for each further attempt: more than there can be items, so none is met twice."""
_HEXADECIMAL_DIGITS: Final = 24
_UUID_VERSION: Final = 4


class ItemMaker:
    """Makes the items of one collection.

    Args:
        shape: Describes its items.
        parents: The parameters of the collection's path.
        seed: Same seed and numbers, same items.
    """

    def __init__(self, shape: ItemShape, parents: Sequence[ResourceParent], seed: int) -> None:
        self._shape = shape
        self._parents = parents
        self._seed = seed

    def identifier(
        self, number: int, is_taken: Callable[[Any], bool], sent: Mapping[str, Any]
    ) -> Any:
        """Returns an identifier for a new item: the next integer, or a text of the member's kind.

        Args:
            number: The number of the item in its collection.
            is_taken: Tells whether another item has an identifier.
            sent: The members that the client sent; a slug is made from the title or the name.
        """
        made = (c for it in self._shape.identifying for c in self._candidates(it, number))
        candidates = itertools.chain(self._slugs(number, sent), made)
        free = (c for c in candidates if self._shape.identifies(c) and not is_taken(c))
        found = next(free, None)
        return self._beyond(number, is_taken) if found is None else found

    def _slugs(self, number: int, sent: Mapping[str, Any]) -> Iterator[str]:
        """Yields slugs to try, if the identifier is one."""
        titles = (sent[name] for name in ("title", "name") if isinstance(sent.get(name), str))
        slug = "-".join(words(next(titles, "")))
        if slug and canonical(self._shape.identifier or "") == "slug":
            yield from (slug, f"{slug}-{number}")

    def _beyond(self, number: int, is_taken: Callable[[Any], bool]) -> Any:
        """Returns an identifier where the document leaves none: one that no path may name, yet of its type."""
        kinds = [types_of(self._shape.schemas, schema) for schema in self._shape.identifying]
        if any("integer" in each for each in kinds):
            return next(it for it in itertools.count(number) if not is_taken(it))
        return self._text(number)

    def _candidates(self, schema: Node, number: int) -> Iterator[Any]:
        """Yields identifiers to try: of integers as many as there can be items, of texts a few."""
        if types_of(self._shape.schemas, schema) & {"integer", "number"}:
            yield from self._integers(number)
        else:
            for attempt in range(_ATTEMPTS):
                yield from self._texts(schema, number, attempt)

    def _integers(self, number: int) -> Iterator[Any]:
        """Yields the listed integers, or those from a number on within all bounds, then those before it.

        Without the bounds, each creation in a full collection would try as many as there can be items.
        """
        listed = self._values("enum")
        if listed:
            yield from itertools.chain.from_iterable(listed)
            return
        least = max(self._bounds("minimum", "exclusiveMinimum"), default=0)
        most = min(self._bounds("maximum", "exclusiveMaximum"), default=None)
        start = number if number >= least else least + number
        end = start + RECORDS.most if most is None else min(most + 1, start + RECORDS.most)
        yield from range(start, end)
        before = min(start, end)
        yield from range(max(least, before - RECORDS.most), before)

    def _bounds(self, *keywords: str) -> list[int]:
        """Returns the values of keywords that bound an identifier; 3.0 has flags for exclusive ones."""
        numbers = (it for it in self._values(*keywords) if isinstance(it, int | float))
        return [int(it) for it in numbers if not isinstance(it, bool) and isfinite(it)]

    def _values(self, *keywords: str) -> list[Any]:
        """Returns the values of keywords in the schemas of an identifier, but for their alternatives."""
        read = self._shape.schemas.keyword
        values = (read(schema, it, ALL) for schema in self._shape.identifying for it in keywords)
        return [it for it in values if it is not None]

    def _texts(self, schema: Node, number: int, attempt: int) -> tuple[str, ...]:
        name = self._shape.identifier or ""
        if self._shape.schemas.keyword(schema, "format") == "uuid":
            return (self._uuid(number + attempt * _STRIDE),)
        sampled = Sampler(self._shape.schemas, self._seed, number + attempt).value(schema, name)
        keywords = (self._shape.schemas.keyword(schema, it) for it in ("pattern", "enum", "format"))
        is_free_text = all(it is None for it in keywords)
        if is_free_text and (not name or canonical(name).endswith("id")):
            return (self._text(number + attempt * _STRIDE), sampled)
        # the examples of the document identify few items
        dynamic = Sampler(self._shape.schemas, self._seed, number + attempt, style=DYNAMIC)
        return (sampled, dynamic.value(schema, name))

    def _digest(self, number: int) -> str:
        text = f"{self._seed} {self._shape.resource.path} {number}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _text(self, number: int) -> str:
        return self._digest(number)[:_HEXADECIMAL_DIGITS]

    def _uuid(self, number: int) -> str:
        digest = self._digest(number)
        parts = (digest[:8], digest[8:12], f"{_UUID_VERSION}{digest[13:16]}", f"a{digest[17:20]}")
        return "-".join((*parts, digest[20:32]))

    def body(
        self,
        number: int,
        identifier: Any,
        parents: Sequence[Any],
        sent: Mapping[str, Any],
        now: datetime | None,
    ) -> dict[str, Any]:
        """Returns the members of a new item.

        Members that the client may send and did not have their default, or are left out where an
        item need not have them; the others are the server's, and made up.

        Args:
            number: The number of the item in its collection.
            identifier: The value of the member that identifies it.
            parents: The values of the parameters in the path of its collection.
            sent: The members that the client sent.
            now: The time of its creation; None for a time that is made up.
        """
        shape = self._shape.of(sent)
        if shape is self._shape and now is not None:
            shape = shape.created
        if shape is not self._shape:
            maker = ItemMaker(shape, self._parents, self._seed)
            return maker.body(number, identifier, parents, sent, now)
        made, own = self.made_up(number), self._shape.identifier
        is_undeclared = own is not None and own not in self._shape.members
        body: dict[str, Any] = {own: identifier} if own is not None and is_undeclared else {}
        for name, member in self._shape.members.items():
            is_fixed = name == self._shape.identifier and identifier is not None
            is_sent = name in sent and not member.is_read_only and not is_fixed
            if is_sent and (member.is_write_only or self._shape.accepts(name, sent[name])):
                body[name] = sent[name]
                continue
            values = self._own(name, member, identifier, parents, now)
            if not values and (member.is_required or not member.is_sent or now is None):
                values = (made[name],) if name in made and not member.is_write_only else ()
            if values:
                body[name] = values[0]
        known = self._shape.members.keys() | self._shape.sent
        return {**body, **{k: v for k, v in sent.items() if k not in known}}

    def made_up(self, number: int) -> dict[str, Any]:
        """Returns an item that is made up from the document's examples and schema."""
        shape = self._shape
        made: dict[str, Any] = {}
        for schema in (shape.resource.schema, shape.schema)[0 if shape.tags else 1 :]:
            value = schema and Sampler(shape.schemas, self._seed, number).value(schema)
            made |= value if isinstance(value, dict) else {}
        return made

    def _own(
        self,
        name: str,
        member: ItemMember,
        identifier: Any,
        parents: Sequence[Any],
        now: datetime | None,
    ) -> tuple[Any, ...]:
        """Returns the value that the server gives a member, as a tuple of one; empty for none."""
        if name == self._shape.identifier and identifier is not None:
            return (identifier,)
        for parent, value in zip(self._parents, parents, strict=True):
            if canonical(name) in _names_of(parent) and self._shape.accepts(name, value):
                return (value,)
        if now is None:
            return ()
        if member.moment is not None:
            return self.time(name, now)
        return member.default or self._first_state(name, member) or self._not_yet(name, member)

    def _not_yet(self, name: str, member: ItemMember) -> tuple[Any, ...]:
        """Returns null for an instant that only the server sets: it is of what did not happen yet."""
        is_instant = self._shape.schemas.keyword(member.schema, "format") in {"date-time", "date"}
        return (
            (None,) if is_instant and not member.is_sent and self._shape.accepts(name, None) else ()
        )

    def _first_state(self, name: str, member: ItemMember) -> tuple[Any, ...]:
        """Returns the first value that no action leads to, of a member that actions change or clients never send."""
        resource = self._shape.resource
        if name in resource.stages:
            return resource.stages[name][:1]
        led_to = [it.changes[name] for it in resource.operations if name in it.changes]
        enumeration = self._shape.schemas.keyword(member.schema, "enum")
        is_fixed = bool(enumeration) and not member.is_sent
        values = enumeration or (False, True)
        return tuple(it for it in values if it not in led_to)[:1] if led_to or is_fixed else ()

    def time(self, name: str, now: datetime) -> tuple[Any, ...]:
        """Returns an instant as a member writes it, as a tuple of one; empty where none fits."""
        instant = now.astimezone(UTC)
        candidates: tuple[Any, ...] = (
            instant.strftime("%Y-%m-%dT%H:%M:%SZ"),
            str(instant.date()),
            int(instant.timestamp()),
        )
        return tuple(c for c in candidates if self._shape.accepts(name, c))[:1]

    def renewed(self, name: str, old: Any, number: int, now: datetime) -> Any:
        """Returns another value of a member: now for a time, else one that no item had.

        Args:
            name: The name of the member.
            old: Its value, which stays if the document permits no other.
            number: A number that no item of the collection has.
            now: The time of the change.
        """
        shape = self._shape
        schema = shape.members[name].schema
        if shape.schemas.keyword(schema, "format") in {"date-time", "date"}:
            return next(iter(self.time(name, now)), old)
        samples = (Sampler(shape.schemas, self._seed, number + n) for n in range(_ATTEMPTS))
        values = itertools.chain([self._text(number)], (it.value(schema, name) for it in samples))
        return next((it for it in values if it != old and shape.accepts(name, it)), old)

    def stamped(self, body: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """Returns a body whose time of the last change is now."""
        times = {
            name: value
            for name, member in self._shape.members.items()
            if member.moment == "updated"
            for value in self.time(name, now)
        }
        return {**body, **times}


def _names_of(parent: ResourceParent) -> tuple[str, ...]:
    """Returns canonical names of members that say which parent an item has."""
    name = canonical(parent.parameter)
    own = () if name in {"id", "uuid", "name"} else (name,)
    if parent.collection is None:
        return own
    last = [part for part in parent.collection.split("/") if part and "{" not in part][-1:]
    one = singular(last[0]) if last else ""
    return (*own, f"{one}{name}", f"{one}id")


def text_of(value: Any) -> str:
    """Returns an identifier as it stands in a path: ``7`` for 7 and for 7.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # a parameter can be larger than orjson writes integers
    return value if isinstance(value, str) else orjson.dumps(value).decode()


class ItemRecords:
    """The items of one world."""

    def __init__(self, world: World, model: ResourceModel) -> None:
        self.world = world
        self._model = model

    def get(self, path: str, parents: Sequence[str], identifier: str) -> Item | None:
        """Returns an item of the collection at a path, or None."""
        item = self.world.get(items_of(path), key_of(parents, identifier))
        return None if item is None else self._advanced(path, item)

    def _advanced(self, path: str, item: Item) -> Item:
        """Returns a job as far as it is by the world's clock, which nobody has to look at meanwhile."""
        collection = self._model.collection(path) if item.begun else None
        if collection is None:
            return item
        passed = self.world.clock.now().timestamp() - item.begun
        states = {
            name: values[max(min(int(passed / STAGE_SECONDS), len(values) - 1), 0)]
            for name, values in collection.stages.items()
        }
        return msgspec.structs.replace(item, body={**item.body, **states})

    def parents_of(self, path: str, identifier: str) -> tuple[str, ...]:
        """Returns the parents of the item with an identifier; empty if it has none."""
        return next((it.parents for it in self.all(path) if it.identifier == identifier), ())

    def listed(self, path: str, parents: Sequence[str]) -> list[Item]:
        """Returns the items below these parents, whatever is below them, in the order of creation."""
        items = (self._advanced(path, it) for it in self._below(path, parents))
        return sorted(items, key=lambda it: it.number)

    def all(self, path: str) -> Iterator[Item]:
        """Yields all items of a collection."""
        return (item for _, item in self.world.items(items_of(path)))

    def has(self, path: str, identifier: str) -> bool:
        """Tells whether any item of a collection has this identifier, below whatever parents."""
        if self.get(path, (), identifier) is not None:
            return True
        return any(item.identifier == identifier for item in self.all(path))

    def next_number(self, path: str) -> int:
        """Returns the number of the next item of a collection; no number is used twice."""
        number = (self.world.get(LAST_NUMBERS, path) or 0) + 1
        self.world.put(LAST_NUMBERS, path, number)
        return number

    def put(self, path: str, item: Item) -> None:
        """Adds an item, or replaces the one with its identifier.

        Raises:
            LimitExceeded: The world has too many items, or too large ones.
        """
        paths = (it.path for it in self._model.resources)
        expect_room_for_item(self.world, paths, item.size)
        self.world.put(items_of(path), key_of(item.parents, item.identifier), item)

    def was_deleted(self, path: str, parents: Sequence[str], identifier: str) -> bool:
        """Tells whether an item existed and was deleted, as far back as the world remembers."""
        key = f"{path} {key_of(parents, identifier)}"
        return self.world.get(DELETED_ITEMS, key) is not None

    def has_had(self, path: str, parents: Sequence[str]) -> bool:
        """Tells whether any item of a collection is below these parents, or was and is deleted."""
        start = f"{path} {key_of(parents, '')}"
        deleted = (key for key, _ in self.world.items(DELETED_ITEMS))
        return bool(self._below(path, parents)) or any(key.startswith(start) for key in deleted)

    def delete(self, resource: Resource, item: Item) -> dict[str, int]:
        """Deletes an item with all that is below it.

        Returns:
            The path of each collection below, and how many items of it were deleted.
        """
        key = key_of(item.parents, item.identifier)
        self.world.remove(items_of(resource.path), key)
        self.world.put(DELETED_ITEMS, f"{resource.path} {key}", True)  # noqa: FBT003 - the record
        if item.parents:  # an item may have an address that does not name them
            key = key_of((), item.identifier)
            self.world.put(DELETED_ITEMS, f"{resource.path} {key}", True)  # noqa: FBT003 - the record
        deleted: dict[str, int] = {}
        parents = (*item.parents, item.identifier)
        for child in self._model.children(resource.path):
            below = self._below(child.path, parents)
            if below:
                deleted[child.path] = len(below)
            for inner in below:
                for path, count in self.delete(child, inner).items():
                    deleted[path] = deleted.get(path, 0) + count
        return deleted

    def _below(self, path: str, parents: Sequence[str]) -> list[Item]:
        above = tuple(parents)
        return [it for it in self.all(path) if it.parents[: len(above)] == above]

    def referring(self, path: str, member: str, identifier: Any) -> int:
        """Returns how many items of a collection have an identifier in a member."""
        return sum(item.body.get(member) == identifier for item in self.all(path))
