"""Encodes worlds as MessagePack rows of the state database, and decodes them."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from understudy.mock.engine.clock import ClockSetting
from understudy.mock.engine.faults import Fault
from understudy.mock.engine.windows import Window
from understudy.mock.engine.worlds import Baseline, Collection, Snapshot

Blobs = dict[str, dict[str, bytes | None]]
"""Collection name to key to record as MessagePack; None for one that was removed."""


class WorldSettings(Struct):
    """The state of a world beside its records."""

    clock: ClockSetting | None
    seed: int
    issued: int
    choices: dict[str, str]
    windows: dict[str, Window]
    limits: dict[str, int]
    faults: dict[str, Fault]


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
        self._decoders = {c.name: msgspec.msgpack.Decoder(c.type) for c in collections}
        self._encode = msgspec.msgpack.Encoder().encode

    def record(self, collection: str, record: Any) -> bytes:
        """Encodes a record.

        Raises:
            ValueError: It could not be read back.
        """
        blob = self._encode(record)
        self.decoded(collection, blob)
        return blob

    def decoded(self, collection: str, blob: bytes) -> Any:
        """Decodes a record.

        Raises:
            ValueError: There is no such collection, or it is no record of it.
        """
        decoder = self._decoders.get(collection)
        if decoder is None:
            msg = f"there is no collection {collection!r}"
            raise ValueError(msg)
        return decoder.decode(blob)

    def settings(self, snapshot: Snapshot) -> bytes:
        """Encodes what a world is beside its records.

        Raises:
            ValueError: It could not be read back.
        """
        settings = _settings(snapshot)
        # windows are counted by the engine alone, and there may be thousands of them
        checked = self._encode(msgspec.structs.replace(settings, windows={}))
        msgspec.msgpack.decode(checked, type=WorldSettings)
        return self._encode(settings)

    def snapshot(self, snapshot: Snapshot) -> bytes:
        """Encodes a snapshot."""
        stored = StoredSnapshot(
            self._own(snapshot.baseline), self._blobs(snapshot.overlay), _settings(snapshot)
        )
        return self._encode(stored)

    def decoded_snapshot(self, blob: bytes) -> Snapshot:
        """Decodes a snapshot.

        Raises:
            ValueError: The row is invalid.
        """
        return self._as_snapshot(msgspec.msgpack.decode(blob, type=StoredSnapshot))

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
        return self._as_snapshot(StoredSnapshot(own, overlay, decoded))

    def _own(self, baseline: Baseline) -> Blobs | None:
        return None if baseline is self.fixtures else self._blobs(baseline)

    def _blobs(self, records: Mapping[str, Mapping[str, Any]]) -> Blobs:
        return {
            collection: {
                key: None if record is None else self._encode(record)
                for key, record in members.items()
            }
            for collection, members in records.items()
        }

    def _as_snapshot(self, stored: StoredSnapshot) -> Snapshot:
        settings = stored.settings
        return Snapshot(
            baseline=self.fixtures if stored.baseline is None else self._records(stored.baseline),
            overlay=self._records(stored.overlay),
            clock=settings.clock,
            seed=settings.seed,
            issued=settings.issued,
            choices=settings.choices,
            windows=settings.windows,
            limits=settings.limits,
            faults=settings.faults,
        )

    def _records(self, blobs: Blobs) -> dict[str, dict[str, Any]]:
        return {
            collection: {
                key: None if blob is None else self.decoded(collection, blob)
                for key, blob in members.items()
            }
            for collection, members in blobs.items()
        }


def _settings(snapshot: Snapshot) -> WorldSettings:
    return WorldSettings(
        snapshot.clock,
        snapshot.seed,
        snapshot.issued,
        dict(snapshot.choices),
        dict(snapshot.windows),
        dict(snapshot.limits),
        dict(snapshot.faults),
    )
