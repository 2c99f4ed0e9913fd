"""Finds the operation that a person names: by its operationId, or as ``GET /profiles/{slug}``."""

from collections.abc import Iterable, Sequence
from typing import Final

from understudy.errors import nearest
from understudy.openapi.operations import Operation, path_shape
from understudy.openapi.path_matching import PathMatcher

_MOST_LISTED: Final = 20  # operations in a message


def operation_named(name: str, operations: Sequence[Operation]) -> Operation | None:
    """Returns the operation with an operationId, or with a method and path template; None without.

    The names of path parameters are ignored.
    """
    shape = path_shape(name)
    named = (it for it in operations if it.operation_id == name)
    placed = (it for it in operations if f"{it.method} {path_shape(it.path)}" == shape)
    return next(named, None) or next(placed, None)


def no_operation(name: str, operations: Sequence[Operation]) -> str:
    """Returns the end of a message "there is …" for a name without operation, with a suggestion."""
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
    """Returns the operation that a request line such as ``get /v3/profiles/ada?a=b`` reaches."""
    method, _, path = name.rpartition(" ")
    steps = path.partition("?")[0].split("/")
    matcher = PathMatcher((operation.path, operation) for operation in operations)
    for start in range(1, len(steps)):  # skip any base path
        found = [operation for operation, _ in matcher.all("/" + "/".join(steps[start:]))]
        if found:
            return next((it for it in found if it.method == method.upper()), found[0])
    return None
