"""Encodes worlds as MessagePack rows of the state database, and decodes them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from understudy.limits import Count, Integer
from understudy.mock.server.clock import ClockSetting
from understudy.mock.server.faults import Fault
from understudy.mock.server.windows import Window
from understudy.mock.server.worlds import Baseline, Collection, Snapshot, World

Blobs = dict[str, dict[str, bytes | None]]
"""Collection name to key to record as MessagePack; None for one that was removed."""


WINDOWS: Collection[Window] = Collection("windows", Window)
"""Rate-limit windows: rows among the records, so that a counted request writes one row."""


class TimelessSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The state of a world beside its records and its clock, with the names that it has in a snapshot.

    Attributes:
        windows: Those of a snapshot and a capsule; else they are rows.
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
    """The same with the clock."""

    clock: ClockSetting | None = None


class StoredSnapshot(Struct):
    """A snapshot; without a baseline of its own it is based on the fixtures."""

    baseline: Blobs | None
    overlay: Blobs
    settings: WorldSettings


class Rows:
    """Encodes and decodes what the database holds.

    Args:
        collections: Every kind of record.
        fixtures: The baseline of worlds that have none of their own.

    Attributes:
        fixtures: As given; replaced when the fixtures are read again.
    """

    def __init__(self, collections: Iterable[Collection[Any]], fixtures: Baseline) -> None:
        self.fixtures = fixtures
        kinds = (*collections, WINDOWS)
        self._decoders = {c.name: msgspec.msgpack.Decoder(c.type) for c in kinds}
        self._encode = msgspec.msgpack.Encoder().encode

    def record(self, collection: str, record: Any) -> bytes:
        """Encodes a record.

        Raises:
            ValueError: It could not be read back.
        """
        blob = self._encode(record)
        self.decoded(collection, blob)
        return blob

    def window(self, window: Window) -> bytes:
        """Encodes a rate-limit window, which can always be read back."""
        return self._encode(window)

    def decoded(self, collection: str, blob: bytes) -> Any:
        """Decodes a record.

        Raises:
            ValueError: There is no such collection, or it is not a record of it.
        """
        decoder = self._decoders.get(collection.partition(" ")[0])  # "items /pets" is of "items"
        if decoder is None:
            msg = f"there is no collection {collection!r}"
            raise ValueError(msg)
        return decoder.decode(blob)

    def settings(self, world: World) -> bytes:
        """Encodes what a world is beside its records and windows.

        Raises:
            ValueError: It could not be read back.
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
        """Encodes a baseline; None for that of the fixtures."""
        own = self._own(baseline)
        return None if own is None else self._encode(own)

    def decoded_world(self, baseline: bytes | None, overlay: Blobs, settings: bytes) -> Snapshot:
        """Decodes what a world is now.

        Raises:
            ValueError: A part of it cannot be read.
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
        return _each(records, lambda _, record: self._encode(record))

    def _as_snapshot(
        self, own: Blobs | None, overlay: dict[str, dict[str, Any]], settings: WorldSettings
    ) -> Snapshot:
        baseline = self.fixtures if own is None else self._records(own)
        return Snapshot(baseline, overlay, **asdict(settings))

    def _records(self, blobs: Blobs) -> dict[str, dict[str, Any]]:
        return _each(blobs, self.decoded)


def _each(
    records: Mapping[str, Mapping[str, Any]], convert: Callable[[str, Any], Any]
) -> dict[str, dict[str, Any]]:
    """Returns records, but for those that were removed, as a function of collection and record has them."""
    return {
        collection: {
            key: None if record is None else convert(collection, record)
            for key, record in members.items()
        }
        for collection, members in records.items()
    }
