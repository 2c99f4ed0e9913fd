"""Finds the operation that a person names: by its operationId, or as ``GET /profiles/{slug}``."""

from collections.abc import Iterable, Sequence
from typing import Final

from understudy.errors import nearest
from understudy.openapi.operations import Operation, path_shape
from understudy.openapi.path_matching import PathMatcher

_MOST_LISTED: Final = 20


def operation_named(name: str, operations: Sequence[Operation]) -> Operation | None:
    """Returns the operation of an operationId, or of a method and a path template.

    What a template calls its parameters does not count.
    """
    shape = path_shape(name)
    named = (it for it in operations if it.operation_id == name)
    placed = (it for it in operations if f"{it.method} {path_shape(it.path)}" == shape)
    return next(named, None) or next(placed, None)


def no_operation(name: str, operations: Sequence[Operation]) -> str:
    """Returns what stands behind "there is" of a name that leads to no operation, and what was meant."""
    ids = [operation.operation_id for operation in operations]
    found = _requested(name, operations)
    if found is not None:
        hint = f"; did you mean {found.operation_id!r}, which is {found.method} {found.path}?"
    elif name.upper() in {operation.method for operation in operations}:
        hint = f"; write method and path as one word, in quotes: '{name.upper()} /…'."
    else:
        more = f" and {len(ids) - _MOST_LISTED} more" if len(ids) > _MOST_LISTED else ""
        hint = nearest(name, ids) or f"; there are {', '.join(ids[:_MOST_LISTED])}{more}."
    return f"no operation {name[:200]!r}{hint}"


def _requested(name: str, operations: Iterable[Operation]) -> Operation | None:
    """Returns the operation that a request such as ``get /v3/profiles/ada?a=b`` would reach."""
    method, _, path = name.rpartition(" ")
    steps = path.partition("?")[0].split("/")
    matcher = PathMatcher((operation.path, operation) for operation in operations)
    for start in range(1, len(steps)):  # a base path may stand before it
        found = [operation for operation, _ in matcher.all("/" + "/".join(steps[start:]))]
        if found:
            return next((it for it in found if it.method == method.upper()), found[0])
    return None
