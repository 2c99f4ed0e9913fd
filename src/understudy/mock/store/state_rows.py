"""Encodes the parts of worlds as MessagePack for the rows of a state database, and decodes them."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from understudy.limits import Count, Integer
from understudy.mock.server.clock import ClockSetting
from understudy.mock.server.faults import Fault
from understudy.mock.server.windows import Window
from understudy.mock.server.worlds import Baseline, Collection, Snapshot, World
from understudy.mock.store.collections import COLLECTIONS

Blobs = dict[str, dict[str, bytes | None]]
"""Records as MessagePack, by collection and key; None for a removed record."""

WINDOWS: Collection[Window] = Collection("windows", Window)
"""Rate-limit windows, stored like records, so that a counted request writes only one row."""


class TimelessSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The state of a world without records and clock; the names are those of a snapshot's fields.

    Attributes:
        windows: The rate-limit windows in a snapshot or a capsule; those of a world are rows.
    """

    seed: Integer
    issued: Count
    choices: dict[str, str]
    limits: dict[str, Count]
    faults: dict[str, Fault]
    windows: dict[str, Window] = {}

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """Returns the settings of a snapshot."""
        return cls(**{name: getattr(snapshot, name) for name in cls.__struct_fields__})


class WorldSettings(TimelessSettings, frozen=True):
    """The state of a world without records."""

    clock: ClockSetting | None = None


class StoredSnapshot(Struct):
    """A snapshot of a world.

    Attributes:
        baseline: The world's own baseline; None if it is the fixtures.
        overlay: The records that differ from the baseline.
        settings: The rest of the state.
    """

    baseline: Blobs | None
    overlay: Blobs
    settings: WorldSettings


class Rows:
    """Encodes and decodes the rows of the database.

    Args:
        fixtures: The baseline of worlds without their own.

    Attributes:
        fixtures: The current fixtures; replaced when their files change.
    """

    def __init__(self, fixtures: Baseline) -> None:
        self.fixtures = fixtures
        kinds = (*COLLECTIONS, WINDOWS)
        self._decoders = {c.name: msgspec.msgpack.Decoder(c.type) for c in kinds}
        self._encode = msgspec.msgpack.Encoder().encode

    def record(self, collection: str, record: Any) -> bytes:
        """Encodes a record.

        Raises:
            ValueError: The encoded record could not be decoded again.
        """
        blob = self._encode(record)
        self.decoded(collection, blob)
        return blob

    def window(self, window: Window) -> bytes:
        """Encodes a rate-limit window, without a trial of decoding: numbers can always be decoded."""
        return self._encode(window)

    def decoded(self, collection: str, blob: bytes) -> Any:
        """Decodes a record.

        Raises:
            ValueError: There is no such collection, or the bytes are not a record of it.
        """
        decoder = self._decoders.get(collection.partition(" ")[0])  # "items /pets" is of "items"
        if decoder is None:
            msg = f"there is no collection {collection!r}"
            raise ValueError(msg)
        return decoder.decode(blob)

    def settings(self, world: World) -> bytes:
        """Encodes the state of a world without records and windows.

        Raises:
            ValueError: The encoded state could not be decoded again.
        """
        seed, issued = world.identifiers.seed, world.identifiers.count
        settings = WorldSettings(seed=seed, issued=issued, **world.settings)
        blob = self._encode(settings)
        msgspec.msgpack.decode(blob, type=WorldSettings)
        return blob

    def snapshot(self, snapshot: Snapshot) -> bytes:
        """Encodes a snapshot."""
        settings = WorldSettings.of(snapshot)
        own, overlay = self._own(snapshot.baseline), self._blobs(snapshot.overlay)
        return self._encode(StoredSnapshot(own, overlay, settings))

    def decoded_snapshot(self, blob: bytes) -> Snapshot:
        """Decodes a snapshot.

        Raises:
            ValueError: The row is invalid.
        """
        stored = msgspec.msgpack.decode(blob, type=StoredSnapshot)
        return self._as_snapshot(stored.baseline, self._records(stored.overlay), stored.settings)

    def baseline(self, baseline: Baseline) -> bytes | None:
        """Encodes a world's own baseline; returns None for the fixtures."""
        own = self._own(baseline)
        return None if own is None else self._encode(own)

    def decoded_world(self, baseline: bytes | None, overlay: Blobs, settings: bytes) -> Snapshot:
        """Decodes the state of a world.

        Raises:
            ValueError: A part of the state is invalid.
        """
        own = None if baseline is None else msgspec.msgpack.decode(baseline, type=Blobs)
        decoded = msgspec.msgpack.decode(settings, type=WorldSettings)
        records = self._records(overlay)
        windows: dict[str, Window] = records.pop(WINDOWS.name, {})
        in_order = dict(sorted(windows.items(), key=lambda item: item[1].opened))
        return self._as_snapshot(own, records, replace(decoded, windows=in_order))

    def _own(self, baseline: Baseline) -> Blobs | None:
        return None if baseline is self.fixtures else self._blobs(baseline)

    def _blobs(self, records: Mapping[str, Mapping[str, Any]]) -> Blobs:
        return _converted(records, lambda _, record: self._encode(record))

    def _as_snapshot(
        self, own: Blobs | None, overlay: dict[str, dict[str, Any]], settings: WorldSettings
    ) -> Snapshot:
        baseline = self.fixtures if own is None else self._records(own)
        return Snapshot(baseline, overlay, **asdict(settings))

    def _records(self, blobs: Blobs) -> dict[str, dict[str, Any]]:
        return _converted(blobs, self.decoded)


def _converted(
    records: Mapping[str, Mapping[str, Any]], convert: Callable[[str, Any], Any]
) -> dict[str, dict[str, Any]]:
    """Applies a function of collection and record to all records that were not removed."""
    return {
        collection: {
            key: None if record is None else convert(collection, record)
            for key, record in members.items()
        }
        for collection, members in records.items()
    }
