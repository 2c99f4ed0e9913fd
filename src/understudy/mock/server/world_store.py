"""Says what a world tells whoever persists it."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Protocol, TypeVar

from understudy.mock.server.records import Baseline, RecordChange
from understudy.mock.server.snapshots import Snapshot

World_contra = TypeVar("World_contra", contravariant=True)


class WorldStore(Protocol[World_contra]):
    """Persists worlds, so that they outlast the process."""

    @property
    def numbers_requests(self) -> bool:
        """True if it numbers the requests of a journal, which changes are attributed to then."""

    def record_changed(self, world: World_contra, change: RecordChange) -> None:
        """Takes one change; it lasts once ``commit`` has returned."""

    def settings_changed(self, world: World_contra) -> None:
        """Takes the world's new clock, choices, limits and faults."""

    def fault_used(self, world: World_contra) -> None:
        """Takes what requests have used of faults; no request is refused for its loss."""

    def windows_changed(self, world: World_contra, principals: Iterable[str]) -> None:
        """Takes the windows of these principals; no request is refused for their loss."""

    def world_created(
        self, world: World_contra, beginning: Snapshot, idle: timedelta | None
    ) -> None:
        """Takes a new world."""

    def world_replaced(self, world: World_contra) -> None:
        """Takes the whole new state of a world."""

    def world_removed(self, world: World_contra) -> None:
        """Deletes a world."""

    def snapshot_changed(self, name: str, snapshot: Snapshot | None) -> None:
        """Takes a named snapshot; None deletes it."""

    def baseline_replaced(self, fixtures: Baseline) -> None:
        """Takes other fixtures."""

    def commit(self, world: World_contra) -> None:
        """Writes every change so far."""
