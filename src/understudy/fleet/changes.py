"""Gathers the changes of a request in a world, encodes them for the store, or undoes them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from understudy.fleet.copies import UNKNOWN_ENTRY, LoggedChange, WorldCopy
from understudy.fleet.journal_rows import exercised_row, history_row, journal_row
from understudy.limits import JOURNAL_BYTES
from understudy.mock.server.hosts import PRIVATE_PATHS
from understudy.mock.server.journal import HistoryEntry, RequestChanges
from understudy.mock.server.journaling import collected, shorten
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.worlds import Identifiers, RecordChange, World
from understudy.mock.store.state_rows import WINDOWS, Rows


class WorkedRequest(NamedTuple):
    """A handled request with its changes in one world.

    Attributes:
        context: The request.
        is_own: Whether it belongs to the journal of this world.
        changes: Its changes, for the history of the world; None without.
        log: Its encoded changes, for other replicas to repeat; empty: they load the whole world.
        undoing: Its encoded changes, for undoing them; empty without, or if they cannot be undone.
    """

    context: RequestContext
    is_own: bool
    changes: RequestChanges | None
    log: bytes
    undoing: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The part of the message to the store for this request."""
        context = self.context
        return {
            "entry": journal_row(context) if self.is_own else b"",
            "exercised": exercised_row(context.exercised) if self.is_own else "",
            "is_changed": self.changes is not None,
            "log": self.log,
            "history": self.undoing,
        }


def settle_requests(
    world: World, requests: Sequence[WorkedRequest], total: int, *, is_continued: bool
) -> None:
    """Assigns numbers to committed requests, and adds them to journal and history.

    Args:
        world: The world.
        requests: The requests of one commit, in their order.
        total: The number of the last one in the journal of the store.
        is_continued: Whether the copy of the journal is complete up to these requests; otherwise
            they are loaded later, together with the missing entries.
    """
    for request, numbers in _numbered(requests, total):
        context = request.context
        if request.is_own:
            context.number = numbers[0] + 1
            if is_continued:
                world.journal.add(context)
        if request.changes is not None:
            call = context.method, context.path
            last, own = numbers
            world.history.settle(HistoryEntry(context.started, call, last, request.changes, own))


def _numbered(
    requests: Iterable[WorkedRequest], total: int
) -> Iterator[tuple[WorkedRequest, tuple[int, int | None]]]:
    """Yields each request with the number of the last entry before it, and its own number."""
    last = total - sum(request.is_own for request in requests)
    for request in requests:
        yield request, (last, last + 1 if request.is_own else None)
        last += request.is_own


_MOST_LOGGED = 16 * 1024
"""Largest change, in bytes, that is logged; for a larger one, other replicas load the whole world."""

_pack = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class _Before:
    """Settings, identifiers and journal of a world at the beginning of an attempt."""

    settings: Mapping[str, Any]
    seed: int
    issued: int
    journal: tuple[int, int]

    @classmethod
    def of(cls, world: World) -> "_Before":
        journal = world.journal
        seed, issued = world.identifiers.seed, world.identifiers.count
        return cls(world.settings, seed, issued, (journal.total, journal.forgotten))


@dataclass(slots=True)
class WorldChanges:
    """The uncommitted changes of a request, or of a group of requests, in one world.

    Attributes:
        world: The world.
        copy: The replica's knowledge of the world in the store.
        is_made: Whether the world is new.
        is_removed: Whether the world is deleted.
        is_replaced: Whether its whole state is replaced, as by a reset.
        windows: The principals whose rate-limit windows have changed.
        requests: The handled requests.
    """

    world: World
    copy: WorldCopy
    is_made: bool = False
    is_removed: bool = False
    is_replaced: bool = False
    windows: set[str] = field(default_factory=set)
    requests: list[WorkedRequest] = field(default_factory=list)
    _rows: dict[tuple[str, str], bytes | None] = field(default_factory=dict)
    _rows_of_request: dict[tuple[str, str], bytes | None] = field(default_factory=dict)
    _overlaid: dict[tuple[str, str], Any] = field(default_factory=dict)
    _before: _Before = field(init=False)
    _has_new_tag: bool = False

    def __post_init__(self) -> None:
        """Remembers the state of the world before the changes."""
        self._before = _Before.of(self.world)

    def put(self, change: RecordChange, row: bytes | None) -> None:
        """Notes the change of a record; called before it is applied."""
        place = change.collection, change.key
        if place not in self._overlaid:
            self._overlaid[place] = self.world.overlaid(*place)
        for rows in (self._rows, self._rows_of_request):
            rows.pop(place, None)
            rows[place] = row

    def add(self, rows: Rows, context: RequestContext) -> None:
        """Adds a handled request, to which all changes since the previous one are attributed."""
        is_own = context.world is self.world and not context.path.startswith(PRIVATE_PATHS)
        if is_own:
            shorten(context)
        changes = None if self.is_made or self.is_removed else collected(self.world)
        log = b"" if changes is None else self._logged(rows, context, is_own=is_own)
        undoing = b"" if changes is None else history_row(rows, context, changes, is_own=is_own)
        self._rows_of_request = {}
        self.requests.append(WorkedRequest(context, is_own, changes, log, undoing))

    @property
    def has_other_settings(self) -> bool:
        """True if clock, choices, limits, faults or identifiers have changed."""
        now = _Before.of(self.world)
        before = self._before
        return (now.seed, now.issued) != (before.seed, before.issued) or (
            now.settings != before.settings
        )

    @property
    def has_other_journal(self) -> bool:
        """True if the journal was emptied, or replaced by a capsule's."""
        journal = self.world.journal
        return (journal.total, journal.forgotten) != self._before.journal

    @property
    def is_changed(self) -> bool:
        """True if anything but rate-limit windows has changed."""
        return bool(
            self._rows
            or self.is_made
            or self.is_removed
            or self.is_replaced
            or self.has_other_journal
            or self.has_other_settings
        )

    @property
    def is_written(self) -> bool:
        """True if the store has to write anything for this world."""
        is_requested = any(request.context.world is self.world for request in self.requests)
        return is_requested or bool(self.windows) or self.is_changed

    def known(self, *, is_steering: bool) -> dict[str, Any]:
        """Returns the versions that the attempt assumed, for the store to compare with its own.

        Args:
            is_steering: Whether windows and journal are compared too, as admin requests read them.
        """
        journal = self.world.journal
        return {
            "name": self.world.name,
            "is_new": self.is_made,
            "id": self.copy.id,
            "tag": self.copy.tag,
            "counted": max(self.copy.counted, 0) if is_steering else -1,
            "journal": self.copy.journal if is_steering and not self.is_made else b"",
            "total": self._before.journal[0] if self.has_other_journal else journal.total,
            "forgotten": self._before.journal[1] if self.has_other_journal else journal.forgotten,
        }

    def message(self, rows: Rows, tag: bytes, capacity: int) -> Any:
        """Returns the changes as a message for the store to write."""
        world = self.world
        if self.is_removed:
            return {"name": world.name, "is_removed": True, "windows": []}
        is_changed = self._has_new_tag = self.is_changed
        is_replaced = self.is_replaced or self.is_made
        idle = world.idle
        message = {
            "name": world.name,
            "tag": tag if is_changed else b"",
            "settings": rows.settings(world) if is_changed else b"",
            "is_replaced": is_replaced,
            "baseline": (rows.baseline(world.baseline) or b"") if is_replaced else b"",
            "rows": self._record_rows(rows, is_whole=is_replaced),
            "windows": self._window_rows(rows, is_whole=is_replaced),
            "requests": [request.message for request in self.requests],
            "journal_tag": tag,
            "idle": 0 if idle is None else int(idle.total_seconds() * 1000) or 1,
            "capacity": capacity,
            "most_bytes": JOURNAL_BYTES.most,
            **self._other_journal(tag),
        }
        if self.is_made:
            beginning = rows.snapshot(world.beginning)
            made = {"id": tag, "tag": tag, "idle": message["idle"], "beginning": beginning}
            message["made"] = made
        return message

    def _record_rows(self, rows: Rows, *, is_whole: bool) -> list[tuple[str, str, bytes]]:
        changed = self._rows
        if is_whole:
            changed = {
                (it.collection, it.key): None
                if it.record is None
                else rows.record(it.collection, it.record)
                for it in self.world.changes()
            }
        return [self._record_row(*place, row) for place, row in changed.items()]

    def _record_row(self, collection: str, key: str, row: bytes | None) -> tuple[str, str, bytes]:
        place = f"{collection}\0{key}"
        if row is not None:
            return place, "put ", row
        is_hidden = key in self.world.baseline.get(collection, {})
        return place, "hide" if is_hidden else "drop", b""

    def _window_rows(self, rows: Rows, *, is_whole: bool) -> list[tuple[str, bytes, bytes]]:
        """Returns each principal with the window expected in the store, and the new one."""
        world = self.world
        names = dict.fromkeys([*world.windows, *self.copy.windows] if is_whole else self.windows)
        changed = []
        for principal in names:
            row = self._window_row(rows, principal)
            changed.append((principal, self.copy.windows.get(principal, b""), row))
        return changed

    def _window_row(self, rows: Rows, principal: str) -> bytes:
        window = self.world.windows.get(principal)
        return b"" if window is None else rows.record(WINDOWS.name, window)

    def _logged(self, rows: Rows, context: RequestContext, *, is_own: bool) -> bytes:
        """Returns the encoded changes of a request; empty if replicas must load the whole world."""
        if self.is_replaced or self.has_other_journal:
            return b""
        changed = [(*place, row) for place, row in self._rows_of_request.items()]
        settings = rows.settings(self.world) if self.has_other_settings else b""
        method, path = context.method, context.path
        logged = _pack(LoggedChange(changed, settings, context.started, method, path, is_own))
        return logged if len(logged) <= _MOST_LOGGED else b""

    def _other_journal(self, tag: bytes) -> dict[str, Any]:
        """Returns the whole journal if a request emptied or replaced it."""
        if not self.has_other_journal:
            return {"forgotten": -1, "resumed": 0, "entries": []}
        journal = self.world.journal
        entries = [tag + journal_row(context) for context in journal]
        return {"forgotten": journal.forgotten, "resumed": journal.total, "entries": entries}

    def accepted(self, rows: Rows, reply: Sequence[Any], tag: bytes) -> None:
        """Updates the replica's knowledge after the store has written the changes."""
        _, before, total, counted, _ = reply
        is_continued = self.copy.journal == before and not self.has_other_journal
        if self.has_other_journal or (is_continued and any(it.is_own for it in self.requests)):
            self.copy.journal = tag
        settle_requests(self.world, self.requests, total, is_continued=is_continued)
        is_replaced = self.is_replaced or self.is_made
        names = [*self.world.windows, *self.copy.windows] if is_replaced else self.windows
        for principal in tuple(names):
            self.copy.keep_window(principal, self._window_row(rows, principal))
        is_next = self.copy.counted + bool(names) == counted or self.is_made
        self.copy.counted = counted if is_next else -1
        if self.is_made:
            self.copy.id = tag
        if self._has_new_tag:
            self.copy.tag = tag

    def undo(self) -> None:
        """Restores the world as it was before the attempt."""
        world, before = self.world, self._before
        if self.is_replaced or not world.take_back(self._overlaid):
            self.copy.tag = b""  # cannot be restored here: the whole world is loaded again
        world.settings = before.settings
        world.identifiers = Identifiers(before.seed, before.issued)
        world.history.withdraw()
        world.history.begin(before.issued, before.settings)
        if self.has_other_journal:
            world.journal.resume(0)
            self.copy.journal = UNKNOWN_ENTRY
