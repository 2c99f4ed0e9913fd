"""Applies patches to JSON values: merge patches (RFC 7396) and JSON patches (RFC 6902).

Values are shared between the states of a world, so that none is changed in place. What a patch copies
is counted: a few ``copy`` operations could otherwise double a value until the memory is full.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from understudy.errors import BadRequest, Conflict
from understudy.limits import JSON_VALUES

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
_OPERATIONS: Final = ("add", "remove", "replace", "move", "copy", "test")


def merged(target: Any, patch: Any) -> Any:
    """Returns a value after a merge patch: null removes a member (RFC 7396, 2)."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def patched(target: Any, patch: Sequence[Any]) -> Any:
    """Returns a value after a JSON patch; the value itself is not changed.

    Raises:
        BadRequest: An operation is malformed, or leads to no place in the value.
        Conflict: A test fails (RFC 5789, 2.2).
        LimitExceeded: The patch copies more than a JSON body may hold.
    """
    result, copied = target, 0
    for number, operation in enumerate(patch):
        if not isinstance(operation, Mapping) or operation.get("op") not in _OPERATIONS:
            msg = f"Operation {number} of the patch is none of {', '.join(_OPERATIONS)}."
            raise BadRequest(msg, code="invalid_patch")
        try:
            result, size = _applied(result, operation)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            msg = f"Operation {number} of the patch cannot be applied: {_reason(operation, error)}."
            raise BadRequest(msg, code="invalid_patch") from error
        copied += size
        JSON_VALUES.check(copied)
    return result


def _applied(target: Any, operation: Mapping[str, Any]) -> tuple[Any, int]:
    """Returns a value after one operation, and the number of values that it copied."""
    name, steps = operation["op"], _steps(operation["path"])
    if name == "test":
        if _at(target, steps) != operation["value"]:
            msg = f"The test of {operation['path']!r} fails: it is {_at(target, steps)!r:.80}."
            raise Conflict(msg, code="patch_test_failed")
        return target, 0
    if name == "remove":
        return _changed(target, steps, _remove), 0
    if name in {"add", "replace"}:
        value = operation["value"]
        return _changed(target, steps, _put(value, is_new=name == "add")), 0
    source = _steps(operation["from"])
    value = _at(target, source)
    if name == "move":
        if steps[: len(source)] == source and steps != source:
            msg = "a value cannot be moved into itself"
            raise ValueError(msg)
        target = _changed(target, source, _remove)
    return _changed(target, steps, _put(value, is_new=True)), _count(value)


Change = Callable[[Any, str], Any]
"""Returns a container with one member changed: takes the container and the member's name."""


def _steps(pointer: Any) -> tuple[str, ...]:
    """Returns the steps of a JSON pointer (RFC 6901)."""
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        msg = f"{pointer!r:.80} is not a JSON pointer; it begins with a slash"
        raise ValueError(msg)
    return tuple(it.replace("~1", "/").replace("~0", "~") for it in pointer.split("/")[1:])


def _at(target: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        target = target[_index(step, len(target) - 1) if isinstance(target, list) else step]
    return target


def _changed(target: Any, steps: Sequence[str], change: Change) -> Any:
    """Returns a value with the containers on the way to a place copied, and the place changed."""
    if not steps:
        return change(None, "")
    if not isinstance(target, dict | list):
        raise KeyError(steps[0])
    if len(steps) == 1:
        return change(target, steps[0])
    first, rest = steps[0], steps[1:]
    if isinstance(target, list):
        index = _index(first, len(target) - 1)
        return [*target[:index], _changed(target[index], rest, change), *target[index + 1 :]]
    return {**target, first: _changed(target[first], rest, change)}


def _remove(container: Any, step: str) -> Any:
    if isinstance(container, list):
        index = _index(step, len(container) - 1)
        return container[:index] + container[index + 1 :]
    if container is None or step not in container:
        raise KeyError(step)
    return {name: value for name, value in container.items() if name != step}


def _put(value: Any, *, is_new: bool) -> Change:
    def put(container: Any, step: str) -> Any:
        if container is None:
            return value
        if isinstance(container, list):
            last = len(container) if is_new else len(container) - 1
            index = last if step == "-" and is_new else _index(step, last)
            return [*container[:index], value, *container[index + (not is_new) :]]
        if not is_new and step not in container:
            raise KeyError(step)
        return {**container, step: value}

    return put


def _index(step: str, last: int) -> int:
    """Returns the index that a step names; without signs and leading zeros (RFC 6901, 4)."""
    if not (step.isascii() and step.isdecimal()) or (step[0] == "0" and step != "0"):
        msg = f"{step!r:.40} is not an index"
        raise ValueError(msg)
    if int(step[:10]) > last:
        raise IndexError(step)
    return int(step)


def _count(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value
    return 1 + sum(map(_count, children)) if isinstance(value, dict | list) else 1


def _reason(operation: Mapping[str, Any], error: Exception) -> str:
    if isinstance(error, ValueError):
        return str(error)
    if (
        isinstance(error, KeyError)
        and error.args[0] in {"path", "from", "value"} - operation.keys()
    ):
        return f"it lacks {error.args[0]!r}"
    return f"there is no {operation.get('path')!r:.80}"
