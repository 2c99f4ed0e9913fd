"""Encodes messages to the store's scripts as MessagePack, in the form that their decoder reads.

It knows no binary type, so bytes are written as text, as MessagePack had it before 2013; no encoder
of ours does that.
"""

from collections.abc import Mapping, Sequence
from struct import pack

Packable = bool | int | str | bytes | Sequence["Packable"] | Mapping[str, "Packable"]
"""A value that a message may hold."""


def packed(value: Packable) -> bytes:
    """Returns a value as MessagePack."""
    parts: list[bytes] = []
    _pack(value, parts)
    return b"".join(parts)


def _pack(value: Packable, parts: list[bytes]) -> None:
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        parts.append(pack(">BI", 0xDB, len(value)))
        parts.append(value)
    elif isinstance(value, bool):
        parts.append(b"\xc3" if value else b"\xc2")
    elif isinstance(value, int):
        parts.append(pack(">Bq", 0xD3, value))
    elif isinstance(value, Mapping):
        parts.append(pack(">BI", 0xDF, len(value)))
        for key, member in value.items():
            _pack(key, parts)
            _pack(member, parts)
    else:
        parts.append(pack(">BI", 0xDD, len(value)))
        for item in value:
            _pack(item, parts)
