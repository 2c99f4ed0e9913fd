"""Messages to the store are MessagePack that knows no binary type."""

from types import MappingProxyType

import msgspec

from understudy.fleet.connection import Packable, packed


def test_every_kind_of_value_is_read_back() -> None:
    value: Packable = {
        "texts": ["é", "", "x" * 300],
        "flags": [True, False],
        "numbers": [0, -1, 1 << 40],
    }
    assert msgspec.msgpack.decode(packed(value)) == value


def test_bytes_are_written_as_text() -> None:
    assert packed(b"\xff") == b"\xdb\x00\x00\x00\x01\xff"
    assert packed((b"a", "a")) == packed(["a", b"a"])


def test_a_mapping_need_not_be_a_dict() -> None:
    assert packed(MappingProxyType({"file": "digest"})) == packed({"file": "digest"})
