"""JSON pointers into a document, written as URI fragments: ``#/paths/~1a/get`` (RFC 6901, 6)."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import quote

_CHARACTERS = "/~!$&'()*+,;=:@"
"""Characters that a URI fragment may contain besides letters and digits (RFC 3986, 3.5)."""

ROOT: Final = "#"
"""The pointer of the whole document."""


class Scope(NamedTuple):
    """The context by which a relative reference is resolved.

    Attributes:
        file: Pointer of the file that contains the reference: ``#``, or a member of ``FILES``.
        resource: Pointer of the closest schema around the reference with an ``$id``, or the file's.
        base: URI of that resource; empty if it has none.
    """

    file: str = ROOT
    resource: str = ROOT
    base: str = ""


@lru_cache(maxsize=16_384)  # steps are few, and pointers of a large document are a million
def escape(step: str) -> str:
    """Returns a step, escaped for a JSON pointer (RFC 6901, 3)."""
    return step.replace("~", "~0").replace("/", "~1")


def as_reference(pointer: str) -> str:
    """Returns a pointer as the value of a ``$ref``, percent-encoded where a URI requires it."""
    return "#" + quote(pointer[1:], safe=_CHARACTERS)


def steps_of(pointer: str) -> list[str]:
    """Returns the unescaped steps of a pointer; a percent sign is taken literally."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def value_at(root: Any, pointer: str) -> Any:
    """Returns the value that a pointer leads to.

    Raises:
        LookupError: The pointer leads nowhere.
    """
    value = root
    for step in steps_of(pointer):
        if isinstance(value, list) and step.isdecimal():
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[step]
        else:
            raise KeyError(step)
    return value


def objects_in(root: Any) -> Iterator[dict[str, Any]]:
    """Yields every object of a tree, in no particular order."""
    pending = [root]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def size_of(value: Any, most: int) -> int:
    """Returns how many values a value contains, itself included; stops counting above ``most``."""
    count, left = 0, [value]
    while left and count <= most:
        count += 1
        item = left.pop()
        if isinstance(item, dict | list):
            left += item.values() if isinstance(item, dict) else item
    return count


def levels_of(value: Any, most: int) -> int:
    """Returns how many levels of objects and lists a value has, counting up to ``most`` + 1.

    A YAML alias within its own value makes the number of levels infinite.
    """
    level = [value] if isinstance(value, dict | list) else []
    for number in range(most + 1):
        if not level:
            return number
        level = [
            below
            for container in level
            for below in (container.values() if isinstance(container, dict) else container)
            if isinstance(below, dict | list)
        ]
    return most + 1
