"""Tables of msgspec records: one row a key, with its type, default and meaning."""

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

import msgspec
from tests.tools.docs.docstrings import entries
from tests.tools.docs.markdown import code, prose, table

_PLAIN = {
    str: "text",
    int: "number",
    float: "number",
    bool: "true or false",
    types.NoneType: "null",
}


def keys(
    record: type[msgspec.Struct],
    *,
    is_shown: Callable[[msgspec.structs.FieldInfo], bool] = lambda _field: True,
) -> str:
    """Returns a table of the record's keys."""
    told = {**_comments(record), **entries(record, "Attributes")}
    rows = (
        (code(field.name), type_name(field.type), _default(field), prose(told.get(field.name, "")))
        for field in filter(is_shown, msgspec.structs.fields(record))
    )
    return table(("key", "type", "default", "meaning"), rows)


def nested(record: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """Returns the records that its keys lead to, each once, in order."""
    seen: dict[type[msgspec.Struct], None] = {}
    for field in msgspec.structs.fields(record):
        for part in _parts(field.type):
            if isinstance(part, type) and issubclass(part, msgspec.Struct):
                seen |= dict.fromkeys([part, *nested(part)])
    return list(seen)


def type_name(kind: Any) -> str:
    """Returns what a person would call a type."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if get_origin(kind) is typing.Literal:
        return " or ".join(code(value) for value in get_args(kind))
    if get_origin(kind) in {typing.Annotated, tuple}:
        return "list of " * (get_origin(kind) is tuple) + type_name(get_args(kind)[0])
    if isinstance(kind, types.UnionType) or get_origin(kind) is typing.Union:
        names = [type_name(part) for part in get_args(kind) if part not in _ABSENT]
        return " or ".join(dict.fromkeys(names))
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return "table" if get_origin(kind) is dict or kind is dict else "any"
    return f"[{kind.__name__}](#{kind.__name__.lower()})"


_ABSENT = (types.NoneType, msgspec.UnsetType)


def _parts(kind: Any) -> Iterator[Any]:
    arguments = get_args(kind)
    if not arguments:
        yield kind
    for argument in arguments:
        yield from _parts(argument)


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    is_plain = isinstance(field.default, str | int) and field.default != ""
    return code(str(field.default).lower()) if is_plain else ""


def _comments(record: type[msgspec.Struct]) -> dict[str, str]:
    """Returns what stands in a comment behind a field."""
    source = inspect.getsource(record)
    return dict(re.findall(r"^    (\w+): .*?  # (.+)$", source, re.M))
