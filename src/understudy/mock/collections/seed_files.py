"""Reads the items that collections begin with: JSON, YAML or CSV, in one file or one a collection."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from understudy.errors import StartupError, nearest
from understudy.mock.collections.bound import StatefulDocument
from understudy.mock.collections.shapes import ItemShape
from understudy.mock.server.validation_errors import first_error
from understudy.openapi.resources.model import ResourceCollection
from understudy.openapi.yaml_files import read_yaml

_SUFFIXES: Final = frozenset({".json", ".yaml", ".yml", ".csv"})

SeedData = Mapping[str, Sequence[Mapping[str, Any]]]
"""The path of a collection and the items that it begins with."""


def load_seed_data(path: Path, stateful: StatefulDocument) -> SeedData:
    """Reads seed data.

    Args:
        path: A JSON or YAML file of an object, by the names or paths of collections; a CSV file or a
            list, of the collection that the file is named after; or a directory of such files.
        stateful: The document, whose schemas the items must keep.

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
    for file in files:
        for name, items in _content(file):
            collection = _collection(file, name, stateful)
            shape = stateful.shape(collection)
            names = {parent.parameter for parent in collection.parents}
            for number, item in enumerate(items, start=1):
                where = f"{file}: {collection.path}: item {number}"
                supplied.setdefault(collection.path, []).append(_checked(where, item, shape, names))
    return supplied


def _content(file: Path) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yields the names of collections in a file, and their items."""
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
        msg = f"{file} cannot be read: {getattr(error, 'strerror', None) or error}."
        raise StartupError(msg) from error
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
    """Returns an item with its members as the schema types them.

    Raises:
        StartupError: It is not an object, or a member breaks its schema.
    """
    if not isinstance(item, dict):
        msg = f"{where} must be an object, and is {item!r:.80}."
        raise StartupError(msg)
    is_closed = shape.bodies.keyword(shape.schema, "additionalProperties") is False
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
    """Returns a value; a text that its schema does not accept is read as JSON: 7, true, [1, 2]."""
    if not isinstance(value, str) or shape.accepts(name, value):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
