"""Encodes messages to the store's scripts as MessagePack, in the form that their decoder reads.

It knows no binary type, so bytes are written as text, as MessagePack had it before 2013; no encoder
of ours does that.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from struct import Struct

Packable = bool | int | str | bytes | Sequence["Packable"] | Mapping[str, "Packable"]
"""A value that a message may hold."""

_sized = Struct(">BI").pack
_number = Struct(">Bq").pack


def packed(value: Packable) -> bytes:
    """Returns a value as MessagePack."""
    parts: list[bytes] = []
    _pack(value, parts)
    return b"".join(parts)


def _pack(value: Packable, parts: list[bytes]) -> None:
    if isinstance(value, bytes):  # most values of a message are
        parts += (_sized(0xDB, len(value)), value)
    elif isinstance(value, str):
        parts.append(_text(value))
    elif isinstance(value, int):
        parts.append(_whole_number(value))
    elif isinstance(value, (dict, Mapping)):  # the first is told at once
        parts.append(_sized(0xDF, len(value)))
        for key, member in value.items():
            parts.append(_text(key))
            _pack(member, parts)
    else:
        parts.append(_sized(0xDD, len(value)))
        for item in value:
            _pack(item, parts)


def _whole_number(value: int) -> bytes:
    if value is True or value is False:
        return b"\xc3" if value else b"\xc2"
    return _number(0xD3, value)


@lru_cache(1024)
def _text(text: str) -> bytes:
    """Returns a text, which is a member's name or that of a world as a rule."""
    encoded = text.encode()
    return _sized(0xDB, len(encoded)) + encoded
