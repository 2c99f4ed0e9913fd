"""Makes the items of a new world: three per collection, which are consistent with one another.

Examples in the document come first. Items below a parent are made for each item of the parent, and
references to other collections lead to items that exist there.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson

from understudy.collections.bodies import path_parameter_schema, request_media, success
from understudy.collections.calls import Address, StatefulDocument, bounded
from understudy.collections.items import ItemMaker, ItemShape, text_of
from understudy.collections.model import ResourceCollection, ResourceParent, item_at, value_at
from understudy.errors import StartupError, nearest, unreadable
from understudy.mock.server.parameters import first_error
from understudy.mock.server.worlds import Baseline
from understudy.mock.store.items import LAST_NUMBERS, Item, items_of, key_of
from understudy.openapi.operations import Operation
from understudy.openapi.sampler import PLAIN, PLAUSIBLE, PLAUSIBLE_REQUEST, Sampler
from understudy.openapi.yaml_files import read_yaml

_SUFFIXES: Final = frozenset({".json", ".yaml", ".yml", ".csv"})

SeedData = Mapping[str, Sequence[Mapping[str, Any]]]
"""Path of a collection to its initial items."""


def load_seed_data(path: Path, stateful: StatefulDocument) -> SeedData:
    """Reads seed data.

    Args:
        path: A JSON or YAML file with an object from name or path of a collection to items; a CSV file
            or a JSON or YAML list, named after its collection; or a directory of such files.
        stateful: The document, whose schemas the items must satisfy.

    Raises:
        StartupError: A file cannot be read, names no collection, or has an invalid item.
    """
    files = [path]
    if path.is_dir():
        files = sorted(it for it in path.iterdir() if it.suffix.lower() in _SUFFIXES)
        if not files:
            msg = f"--seed-data {path} has no file of {', '.join(sorted(_SUFFIXES))}."
            raise StartupError(msg)
    supplied: dict[str, list[Mapping[str, Any]]] = {}
    keys: set[tuple[str, ...]] = set()
    for file in files:
        for name, items in _content(file):
            collection = _collection(file, name, stateful)
            shape = stateful.shape(collection)
            names = {parent.parameter for parent in collection.parents}
            for number, item in enumerate(items, start=1):
                where = f"{file}: {collection.path}: item {number}"
                checked = _checked(where, item, shape, names)
                key = _key(collection, checked)
                if key in keys:
                    msg = f"{where}: {key[1]} {key[2]!r} identifies an earlier item already."
                    raise StartupError(msg)
                keys |= {key} if key else set()
                supplied.setdefault(collection.path, []).append(checked)
    return supplied


def _key(collection: ResourceCollection, item: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the path, the member and its value that identify an item, and its parents' values.

    It is empty for an item whose identifier is made.
    """
    name = collection.identifier
    if name is None or name not in item:
        return ()
    parents = () if collection.is_flat else collection.parents
    values = (text_of(item.get(it.parameter)) for it in parents)
    return (collection.path, name, text_of(item[name]), *values)


def _content(file: Path) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yields name and items of each collection in a file."""
    if file.suffix.lower() == ".csv":
        yield file.stem, _rows(file)
        return
    content = read_yaml(file)
    if isinstance(content, list):
        yield file.stem, content
    elif isinstance(content, dict) and all(isinstance(it, list) for it in content.values()):
        yield from content.items()
    else:
        msg = f"{file} must be a list of items, or an object with such lists by collection."
        raise StartupError(msg)


def _rows(file: Path) -> list[dict[str, str]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(unreadable(file, error)) from error
    rows = csv.DictReader(io.StringIO(text))
    return [{name: value for name, value in row.items() if name and value} for row in rows]


def _collection(file: Path, name: str, stateful: StatefulDocument) -> ResourceCollection:
    collections = stateful.model.collections
    matching = [it for it in collections if name in {it.path, it.name}]
    if len(matching) == 1:
        return matching[0]
    if matching:
        paths = ", ".join(it.path for it in matching)
        msg = f"{file}: {name!r} is the name of {paths}; write one file, with paths as its keys."
        raise StartupError(msg)
    known = [it.name for it in collections] + [it.path for it in collections]
    msg = f"{file}: there is no collection {name!r}{nearest(name, known) or '; there are ' + ', '.join(known)}"
    raise StartupError(msg)


def _checked(where: str, item: Any, shape: ItemShape, parents: set[str]) -> Mapping[str, Any]:
    """Returns an item with its members converted to the types of the schema.

    Raises:
        StartupError: The item is not an object, or a member is invalid or unknown.
    """
    if not isinstance(item, dict):
        msg = f"{where} must be an object, and is {item!r:.80}."
        raise StartupError(msg)
    is_closed = shape.schemas.keyword(shape.schema, "additionalProperties") is False
    checked = {}
    for name, value in item.items():
        if name not in shape.members:
            if is_closed and name not in parents:
                hint = (
                    nearest(name, list(shape.members)) or f"; there are {', '.join(shape.members)}."
                )
                msg = f"{where}: there is no member {name!r}{hint}"
                raise StartupError(msg)
            checked[name] = value
            continue
        checked[name] = _typed(value, name, shape)
        if not shape.accepts(name, checked[name]):
            validator = shape.schemas.validator(shape.members[name].schema)
            msg = f"{where}: {name}: {first_error(validator, checked[name])}"
            raise StartupError(msg)
    return checked


def _typed(value: Any, name: str, shape: ItemShape) -> Any:
    """Returns a value; a text that its schema does not accept is parsed as JSON: 7, true, [1, 2]."""
    if not isinstance(value, str) or shape.accepts(name, value):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


class SeededRecords(Mapping[str, Any]):
    """Records that are made on demand, as a document may have a thousand collections."""

    def __init__(self, keys: Callable[[], Iterable[str]], make: Callable[[str], Any]) -> None:
        self._keys = keys
        self._make = make

    def __getitem__(self, key: str) -> Any:
        """Returns the record with a key.

        Raises:
            KeyError: There is no such record.
        """
        return self._make(key)

    def __iter__(self) -> Iterator[str]:
        """Yields the keys."""
        return iter(self._keys())

    def __len__(self) -> int:
        """Returns the number of records."""
        return sum(1 for _ in self)


SEEDED: Final = 3
"""Number of items of a collection below each parent."""

_MOST_EXAMPLES: Final = 20  # of a collection, as items of a new world
_MOST_PARENTS: Final = 9
"""Most parents that items are made for, since nested collections would grow exponentially."""


def seeded(
    stateful: StatefulDocument,
    seed: int,
    supplied: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> Baseline:
    """Returns the items of every new world.

    Args:
        stateful: The document.
        seed: The same seed and document give the same items.
        supplied: Path of a collection to its initial items, instead of generated ones.
    """
    seeding = _Seeding(stateful, seed, supplied or {})
    paths = [collection.path for collection in stateful.model.collections]
    baseline: dict[str, Mapping[str, Any]] = {
        items_of(path).name: SeededRecords(
            partial(seeding.keyed, path), partial(seeding.item, path)
        )
        for path in paths
    }
    numbers = SeededRecords(lambda: paths, lambda path: len(seeding.items(path)))
    return {**baseline, LAST_NUMBERS.name: numbers}


class _Seeding:
    def __init__(
        self,
        stateful: StatefulDocument,
        seed: int,
        supplied: Mapping[str, Sequence[Mapping[str, Any]]],
    ) -> None:
        self._stateful = stateful
        self._seed = seed
        self._supplied = supplied
        self._items: dict[str, list[Item]] = {}
        self._taken: dict[str, set[str]] = {}
        self._keyed: dict[str, Mapping[str, Item]] = {}
        self._examples: dict[str, Sequence[Mapping[str, Any]]] = {}

    def item(self, path: str, key: str) -> Item:
        """Returns the item of a collection with a key.

        Raises:
            KeyError: There is no such item.
        """
        return self.keyed(path)[key]

    def keyed(self, path: str) -> Mapping[str, Item]:
        """Returns key to item for a collection, with references filled in."""
        if path not in self._keyed:
            collection = self._stateful.model.collection(path)
            items = self._related(collection) if collection else []
            self._keyed[path] = {key_of(it.parents, it.identifier): it for it in items}
        return self._keyed[path]

    def items(self, path: str) -> list[Item]:
        """Returns the items of a collection, before references are filled in."""
        if path not in self._items:
            collection = self._stateful.model.collection(path)
            self._items[path] = []  # ends the recursion for a collection that is its own parent
            if collection is not None:
                self._items[path] = self._made(collection)
        return self._items[path]

    def _made(self, collection: ResourceCollection) -> list[Item]:
        shape = self._stateful.shape(collection)
        maker = self._stateful.maker(collection, self._seed)
        items: list[Item] = []
        supplied = self._supplied.get(collection.path)
        if supplied is not None:
            for body in supplied:
                items.append(self._supplied_item(collection, maker, body, items))
            return items
        for parents in self._parents(collection):
            examples = () if items else tuple(_examples(collection, shape))
            for example in examples:
                items.append(self._item(shape, maker, parents, example, items))
            for _ in range(len(examples), SEEDED):
                items.append(self._item(shape, maker, parents, {}, items))
        return items

    def _item(
        self,
        shape: ItemShape,
        maker: ItemMaker,
        address: Address,
        example: Mapping[str, Any],
        items: Sequence[Item],
    ) -> Item:
        number, name = len(items) + 1, shape.identifier or ""
        if shape.resource.path not in self._taken:
            supplied = self._supplied.get(shape.resource.path, ())
            self._taken[shape.resource.path] = {text_of(it[name]) for it in supplied if name in it}
        taken = self._taken[shape.resource.path]
        identifier = example.get(name)
        if identifier is None:
            sampled = (it for it in self._sampled(shape) if text_of(it) not in taken)
            identifier = next(sampled, None)
            if identifier is None:
                identifier = maker.identifier(
                    number, lambda value: text_of(value) in taken, example
                )
        taken.add(text_of(identifier))
        made = maker.body(number, identifier, address.values, {}, None)
        body = {**made, **example, **({name: identifier} if name else {})}
        if shape.resource.unique:
            others = [*(it.body for it in items), *self._avoided(shape)]
            body = _distinct(shape, body, number, others)
        return Item.of(text_of(identifier), address.parents, number, bounded(body))

    def _avoided(self, shape: ItemShape) -> Sequence[Mapping[str, Any]]:
        """Returns the items that example requests create; initial ones must not conflict with them."""
        resource = shape.resource
        path, create = resource.path, resource.operation("create")
        if path not in self._examples and create is not None and resource.unique:
            media = request_media(create.operation)
            bodies = [*media.examples.values()] if media else []
            if media is not None and media.schema is not None:
                sampler = Sampler(shape.schemas, 0, style=PLAUSIBLE_REQUEST)
                bodies.append(sampler.value(media.schema))
            items = (item_at(body, create.request_path) for body in bodies)
            self._examples[path] = [it for it in items if it is not None]
        return self._examples.get(path, ())

    def _sampled(self, shape: ItemShape) -> Iterator[Any]:
        """Yields the identifiers that generated requests have in their paths, so that they exist."""
        collection = shape.resource
        declared = [
            it
            for role in collection.operations
            for it in role.operation.parameters
            if it.location == "path" and it.name == collection.parameter
        ]
        sampled = (
            Sampler(shape.schemas, 0, style=style).value(it.schema, it.name)
            for it in declared[:1]
            for style in (PLAUSIBLE, PLAIN)
            if it.schema is not None
        )
        for value in (*(value for it in declared for value in it.examples), *sampled):
            is_usual = isinstance(value, str | int) and bool(value)  # neither 0 nor empty
            if is_usual and shape.identifies(value):
                yield value

    def _supplied_item(
        self,
        collection: ResourceCollection,
        maker: ItemMaker,
        body: Mapping[str, Any],
        items: Sequence[Item],
    ) -> Item:
        """Returns an item of a seed-data file, in which the parameter's name gives a parent."""
        shape = self._stateful.shape(collection)
        first = next(iter(self._parents(collection)), Address((), ()))
        names = [parent.parameter for parent in collection.parents]
        values = tuple(
            body.get(n, first.values[i] if first.values else "") for i, n in enumerate(names)
        )
        parents = Address(tuple(map(text_of, values)), values)
        members = {
            name: value
            for name, value in body.items()
            if name not in names or name in shape.members or not shape.members
        }
        return self._item(shape, maker, parents, members, items)

    def _parents(self, collection: ResourceCollection) -> list[Address]:
        """Returns the addresses of the parents for which items of a collection are made."""
        above = [Address((), ())]
        for parent in collection.parents:
            extended = (
                Address((*texts, text), (*values, value))
                for texts, values, *_ in above
                for text, value in self._values(collection, parent, texts)
            )
            above = list(islice(extended, _MOST_PARENTS))
        return above

    def _values(
        self, collection: ResourceCollection, parent: ResourceParent, texts: Sequence[str]
    ) -> Iterator[tuple[str, Any]]:
        if parent.collection is not None:
            owner = self._stateful.model.collection(parent.collection)
            member = owner.identifier if owner else None
            for item in self.items(parent.collection):
                if item.parents == tuple(texts):
                    yield item.identifier, item.body.get(member or "", item.identifier)
            return
        operation = collection.operations[0].operation
        schema = path_parameter_schema(operation, parent.parameter)
        sampler = Sampler(self._stateful.shape(collection).schemas, self._seed)
        value = "1" if schema is None else sampler.value(schema, parent.parameter)
        yield text_of(value), value

    def _related(self, collection: ResourceCollection) -> list[Item]:
        """Returns the items of a collection, with references to existing items."""
        items = self.items(collection.path)
        if collection.path in self._supplied:
            return items
        return [self._with_references(collection, place, it) for place, it in enumerate(items)]

    def _with_references(self, collection: ResourceCollection, place: int, item: Item) -> Item:
        shape = self._stateful.shape(collection)
        parents = {parent.collection for parent in collection.parents}
        body = dict(item.body)
        for name, path in collection.references.items():
            target = self._stateful.model.collection(path)
            if target is None or path in {*parents, collection.path} or name not in body:
                continue
            others = self.items(path)
            value = (
                others[place % len(others)].body.get(target.identifier or "") if others else None
            )
            if value is not None and shape.accepts(name, value):
                body[name] = value
        return Item.of(item.identifier, item.parents, item.number, body)


def _distinct(
    shape: ItemShape, body: dict[str, Any], number: int, others: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Returns a body in which unique members differ from those of other items."""
    for name in shape.resource.unique:
        value = body.get(name)
        if isinstance(value, str) and any(it.get(name) == value for it in others):
            candidates = (f"{value} {number}", f"{value}-{number}", f"{number}{value}")
            fitting = (it for it in candidates if shape.accepts(name, it))
            body = {**body, name: next(fitting, value)}
    return body


def _examples(collection: ResourceCollection, shape: ItemShape) -> Iterator[Mapping[str, Any]]:
    """Yields the valid items in the document's examples, one per identifier, or different without one."""
    if shape.schema is None:
        return
    seen: set[str] = set()
    for it in collection.operations:
        if it.role not in {"list", "read"} or it.response_path is None:
            continue
        for value in _example_bodies(it.operation):
            found = value_at(value, it.response_path)
            listed = found if isinstance(found, list) else [found]
            for item in (value_at(each, it.within) for each in listed):
                if not isinstance(item, dict) or len(seen) >= _MOST_EXAMPLES:
                    continue
                identifier = item.get(shape.identifier)
                key = repr(item) if identifier is None else text_of(identifier)
                if key not in seen and shape.schemas.validator(shape.schema).is_valid(item):
                    seen.add(key)
                    yield item


def _example_bodies(operation: Operation) -> Iterator[Any]:
    declared = success(operation)
    for media in declared[1].content.values() if declared else ():
        yield from media.examples.values()
