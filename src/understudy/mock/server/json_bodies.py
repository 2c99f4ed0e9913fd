"""Decodes JSON bodies within the limits, with every integral number as an int, and encodes them.

JSON Schema accepts ``7.0`` as an integer (Draft 2020-12, 6.1.1), so a record would have a float in an
int field. Such numbers are converted once, here.
"""

import json
from collections.abc import Mapping
from typing import Any

import orjson

from understudy.errors import BadRequest
from understudy.limits import JSON_BYTES, JSON_DEPTH, JSON_INTEGER, JSON_VALUES


def read_json(content: bytes, declared: frozenset[str] = frozenset()) -> Any:
    """Decodes a JSON body.

    Args:
        content: Bytes of the body.
        declared: Names of the members that the schema declares. Numbers in other members are not
            stored and may be of any size; without names, all numbers are bounded.

    Raises:
        BadRequest: The body is not JSON in UTF-8.
        LimitExceeded: The body is too large or too deep, or has too many values or too large an integer.
    """
    JSON_BYTES.check(len(content))
    try:
        value = orjson.loads(content)
    except ValueError as error:
        msg = f"The body is not JSON: {error}."
        raise BadRequest(msg, code="malformed_json") from error
    if not declared or not isinstance(value, dict):
        return _Normalizer().normalized(value, 0)
    if set(map(type, value.values())) <= {str}:  # the usual body has only strings
        JSON_VALUES.check(len(value))
        return value
    normalizer = _Normalizer()
    return {
        name: normalizer.normalized(member, 1, is_bounded=name in declared)
        for name, member in value.items()
    }


def expect_bounded(value: Any) -> None:
    """Checks that a JSON value is small enough to be stored and sent in responses.

    Raises:
        LimitExceeded: The value is too deep, or has too many values or too large an integer.
    """
    _Normalizer().normalized(value, 0)


class _Normalizer:
    """Copies one JSON value with integral floats as ints, and counts the values in it."""

    def __init__(self) -> None:
        self._count = 0

    def normalized(self, value: Any, depth: int, *, is_bounded: bool = True) -> Any:
        """Returns a value with its integral numbers as ints.

        Raises:
            LimitExceeded: The value is too deep, or has too many values or too large an integer.
        """
        self._count += 1
        JSON_VALUES.check(self._count)
        JSON_DEPTH.check(depth)
        if isinstance(value, str):  # first, since most values are strings
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
    """Returns a value after a merge patch, where null removes a member (RFC 7396, 2)."""
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
    """Returns a value as JSON bytes without spare memory.

    orjson's result may hold a buffer of five times its length, and the journal keeps a thousand of them.
    """
    try:
        content = orjson.dumps(value)
    except TypeError:  # orjson refuses integers of more than 64 bits, which a document may have
        return json.dumps(value, separators=(",", ":")).encode()
    return b"".join((content, b""))  # copies; join returns a single part itself, with its buffer


def json_bytes_in_pieces(value: Any, levels: int = 3) -> bytes:
    """Returns a value as JSON bytes, encoding the upper levels member by member; for threads.

    orjson holds the GIL for a whole call: a full journal in one call would stop other threads for 0.2 s.
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
