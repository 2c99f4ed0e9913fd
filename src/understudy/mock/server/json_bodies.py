"""Reads JSON bodies within the limits, with every integral number as an integer, and writes them.

JSON Schema counts ``7.0`` as an integer (Draft 2020-12, 6.1.1); whoever stores it later would have
a float where an int belongs. So numbers are made what they are once, here.
"""

import json
from collections.abc import Mapping
from typing import Any

import orjson

from understudy.errors import BadRequest
from understudy.limits import JSON_BYTES, JSON_DEPTH, JSON_INTEGER, JSON_VALUES


def read_json(content: bytes, declared: frozenset[str] = frozenset()) -> Any:
    """Returns what a JSON body says.

    Args:
        content: The body.
        declared: Names of the members that the schema declares. Numbers in other members of the
            body are not stored, and may be of any size; without names, all are bounded.

    Raises:
        BadRequest: It is not JSON in UTF-8.
        LimitExceeded: It is too large, too deep, or holds too many values or too large an integer.
    """
    JSON_BYTES.check(len(content))
    try:
        value = orjson.loads(content)
    except ValueError as error:
        msg = f"The body is not JSON: {error}."
        raise BadRequest(msg, code="malformed_json") from error
    normalizer = _Normalizer()
    if not declared or not isinstance(value, dict):
        return normalizer.normalized(value, 0)
    if set(map(type, value.values())) <= {str}:  # as most are: there is nothing to normalize
        JSON_VALUES.check(len(value))
        return value
    return {
        name: normalizer.normalized(member, 1, is_bounded=name in declared)
        for name, member in value.items()
    }


def expect_bounded(value: Any) -> None:
    """Accepts a value of JSON that is stored, and sent in responses later.

    Raises:
        LimitExceeded: It is too deep, or holds too many values or too large an integer.
    """
    _Normalizer().normalized(value, 0)


class _Normalizer:
    """Copies one value, counting what it holds."""

    def __init__(self) -> None:
        self._count = 0

    def normalized(self, value: Any, depth: int, *, is_bounded: bool = True) -> Any:
        """Returns a value with its integral numbers as integers.

        Raises:
            LimitExceeded: It is beyond a limit.
        """
        self._count += 1
        JSON_VALUES.check(self._count)
        JSON_DEPTH.check(depth)
        if isinstance(value, str):  # as most are
            return value
        if isinstance(value, dict):
            return {
                name: self.normalized(member, depth + 1, is_bounded=is_bounded)
                for name, member in value.items()
            }
        if isinstance(value, list):
            return [self.normalized(item, depth + 1, is_bounded=is_bounded) for item in value]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and is_bounded:
            JSON_INTEGER.check(abs(value))
        return value


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


def json_bytes(value: Any) -> bytes:
    """Returns a value as JSON, in no more memory than its length.

    orjson leaves its buffer at up to five times of it, and the journal keeps a thousand responses.
    """
    try:
        content = orjson.dumps(value)
    except TypeError:  # a number of more than 64 bits, as a document may have
        return json.dumps(value, separators=(",", ":")).encode()
    return b"".join((content, b""))  # two parts are copied, one would be returned


def json_bytes_in_pieces(value: Any, levels: int = 3) -> bytes:
    """Returns a value as JSON, whose upper levels are written one by one; for threads.

    orjson lets no other thread have its turn: a full journal at once would take 0.2 s.
    """
    if levels and isinstance(value, dict):
        members = (
            json_bytes(name) + b":" + json_bytes_in_pieces(member, levels - 1)
            for name, member in value.items()
        )
        return b"{%s}" % b",".join(members)
    if levels and isinstance(value, list):
        return b"[%s]" % b",".join(json_bytes_in_pieces(item, levels - 1) for item in value)
    return json_bytes(value)
