"""The journal of a world, and the undo history of its changes.

The journal has the last exchanges, and counts how often each part of the contract was used. The history
keeps undo steps, whose memory grows with the changes; a copy of the state for every write would grow with
the size of the world.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, get_args, get_origin, get_type_hints

from msgspec import Struct

from understudy.limits import HISTORY_BYTES, JOURNAL_BYTES

CAPACITY = 1000
"""Number of exchanges that a journal keeps by default."""


class Exercised(NamedTuple):
    """The part of the contract that a request used.

    Attributes:
        operation: operationId of the operation.
        status: Status of the response.
        identity: Kind of client: ``anonymous``, ``api_key`` or ``oauth``.
    """

    operation: str
    status: int
    identity: str


class Numbered(Protocol):
    """An entry of a journal."""

    number: int
    """Number of the entry, counted from 1 and assigned by the journal."""

    @property
    def size(self) -> int:
        """The approximate memory of the entry in bytes."""

    @property
    def exercised(self) -> Exercised | None:
        """The part of the contract that the entry used; None: no operation."""


Listener = Callable[[Any], None]


class Journal:
    """The journal of one world.

    Args:
        capacity: Number of exchanges to keep, within JOURNAL_BYTES; the oldest are dropped first.

    Attributes:
        total: Number of exchanges so far, including dropped ones.
        exercised: How often each part of the contract was used since the last ``forget``.
        forgotten: Number of the last entry at the last ``forget``.
        listeners: Functions that are called with each new entry.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.total = 0
        self.forgotten = 0
        self.exercised: Counter[Exercised] = Counter()
        self.listeners: list[Listener] = []
        self._capacity = capacity
        self._entries: deque[Any] = deque()
        self._sizes: deque[int] = deque()  # of the entries; subtracted when they are dropped
        self._bytes = 0

    def add(self, entry: Numbered) -> None:
        """Adds an exchange, numbers it, and calls the listeners."""
        self.total = entry.number = self.total + 1
        entries, sizes, size = self._entries, self._sizes, entry.size
        entries.append(entry)
        sizes.append(size)
        self._bytes += size
        while len(entries) > self._capacity or self._bytes > JOURNAL_BYTES.most:
            entries.popleft()
            self._bytes -= sizes.popleft()
        exercised = entry.exercised
        if exercised is not None:
            self.exercised[exercised] += 1
        for listener in self.listeners:
            listener(entry)

    def __iter__(self) -> Iterator[Any]:
        """Yields the kept exchanges, the oldest first."""
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        """Returns the number of kept exchanges."""
        return len(self._entries)

    def get(self, number: int) -> Any:
        """Returns an exchange by its number; None if it is unknown or dropped."""
        place = number - (self.total - len(self._entries)) - 1
        return self._entries[place] if 0 <= place < len(self._entries) else None

    def resume(self, total: int) -> None:
        """Drops every exchange, and continues numbering after this number."""
        self.forget()
        self.total = self.forgotten = total

    def forget(self) -> None:
        """Drops every exchange; numbering continues, so that each number stays unique."""
        self.forgotten = self.total
        self._entries.clear()
        self._sizes.clear()
        self._bytes = 0
        self.exercised.clear()


ABSENT: Final = object()
"""Sentinel: the overlay had no entry at this key; None is an entry that removes a record."""

Settings = Mapping[str, Any]
"""The fields of a snapshot that calls of the admin API set, by name."""

SETTINGS: Final = ("clock", "choices", "limits", "faults")
"""The names of these fields."""


class RecordStep(NamedTuple):
    """The undo step of a changed record.

    Attributes:
        collection: Collection of the record.
        key: Key of the record.
        before: Entry of the overlay before; None: the record was removed; ABSENT: no entry.
        is_removed: Whether the change removed the record.
    """

    collection: str
    key: str
    before: Any
    is_removed: bool


class StateStep(NamedTuple):
    """The undo step of a replaced state, such as by a reset: the snapshot before."""

    before: Any


Step = RecordStep | StateStep


class RequestChanges(NamedTuple):
    """The changes of one request.

    Attributes:
        steps: Undo steps, in the order of the changes.
        issued: Number of identifiers generated before the request.
        settings: Settings before the request; None: unchanged.
        weight: Approximate memory of the changes, in bytes.
        is_lost: Whether the changes cannot be undone.
    """

    steps: list[Step]
    issued: int
    settings: Settings | None
    weight: int
    is_lost: bool


MOST_ENTRIES: Final = 1000
"""Entries that a history keeps at most, within HISTORY_BYTES; the oldest are dropped first."""

RECORD_BYTES: Final = 500
"""Approximate memory of a changed record, without pictures."""

MOST_PARTS: Final = 256
"""Length of a record's list, such as a person's avatars, up to which its old versions are kept.

A thousand versions of a record with thousands of parts would take megabytes, and make each write slow.
A change of a larger record cannot be undone: the history begins again after it.
"""


@dataclass(slots=True, eq=False)  # one for every write
class HistoryEntry:
    """The changes that one request made.

    Attributes:
        at: World's time at the request.
        call: Method and path of the request.
        after: Number of the last journalled request before.
        changes: Changes of the request.
        request: Number of the request in the journal; None: not yet journalled, or never, as calls of
            the admin API.
        earlier: Earlier entry of the same request, until the request has its number.
    """

    at: datetime
    call: tuple[str, str]
    after: int
    changes: RequestChanges
    request: int | None = None
    earlier: "HistoryEntry | None" = None

    @property
    def place(self) -> int:
        """Number of the request in the journal, or of the last journalled one before it."""
        return self.after if self.request is None else self.request


@dataclass(slots=True, eq=False)
class WorldHistory:
    """The changes of one world, the oldest first.

    Attributes:
        forgotten: Number of the last request that cannot be undone; 0: all can.
        revision: Number of changes of a record or of the whole state.
        settings: Settings at the last entry.
        unnumbered: Entries of requests that are not yet journalled, by the ids of their contexts.
    """

    forgotten: int = 0
    revision: int = 0
    settings: Settings = field(default_factory=dict)
    unnumbered: dict[int, HistoryEntry] = field(default_factory=dict)
    _began_at: int | None = None
    _entries: deque[HistoryEntry] = field(default_factory=deque)
    _bytes: int = 0
    _pending: list[Step] = field(default_factory=list)
    _weight: int = RECORD_BYTES  # of the pending changes
    _has_settings: bool = False
    _is_lost: bool = False  # whether the pending changes cannot be undone
    _issued: int = 0

    def __iter__(self) -> Iterator[HistoryEntry]:
        """Yields the kept entries, the oldest first."""
        return iter(tuple(self._entries))

    def begin(self, issued: int, settings: Settings) -> None:
        """Notes the settings and the count of identifiers before the first change."""
        self._issued, self.settings = issued, settings

    def restart(self, issued: int, settings: Settings, number: int) -> None:
        """Drops the history, as the world begins with the state of a snapshot, a file or a replica."""
        self.forget(number)
        self._began_at = number
        self.withdraw()
        self.begin(issued, settings)

    def withdraw(self) -> None:
        """Drops the pending changes, which were undone."""
        self._pending.clear()
        self._weight = RECORD_BYTES
        self._has_settings = self._is_lost = False

    def lose(self) -> None:
        """Marks the pending changes as not undoable, so that every replica drops the history."""
        self._is_lost = True

    def forget(self, number: int) -> None:
        """Drops every change, up to and including the request of this number."""
        self._entries.clear()
        self._pending.clear()
        self._bytes, self.forgotten = 0, number
        self._began_at = None

    def note_record(
        self, change: tuple[str, str, Any], before: Any, weigh: Callable[[Any], int] | None
    ) -> None:
        """Notes the change of a record.

        Args:
            change: Collection, key and new record.
            before: Entry of the overlay before; ABSENT: no entry.
            weigh: Returns the memory of a record of this collection; None: all are small.
        """
        self.revision += 1
        if before is not None and before is not ABSENT and _has_many_parts(before):
            self._is_lost = True
        self._pending.append(RecordStep(change[0], change[1], before, change[2] is None))
        self._weight += RECORD_BYTES
        if weigh is not None and before is not None and before is not ABSENT:
            self._weight += weigh(before)

    def note_state(self, before: Any, weight: int) -> None:
        """Notes the replacement of the whole state.

        Args:
            before: Snapshot of the state before.
            weight: Approximate memory of the state without the fixtures, in bytes.
        """
        self.revision += 1
        self._has_settings = True
        self._pending.append(StateStep(before))
        self._weight += weight

    def note_settings(self) -> None:
        """Notes that the settings have changed."""
        self._has_settings = True

    def is_settled(self, issued: int) -> bool:
        """Tells whether nothing changed since the last entry.

        Args:
            issued: Number of identifiers that the world has generated.
        """
        return not (self._pending or self._has_settings) and issued == self._issued

    def collect(self, issued: int, settings: Callable[[], Settings]) -> RequestChanges:
        """Returns everything that changed since the last call, for ``settle``.

        Args:
            issued: Number of identifiers that the world has generated.
            settings: Returns the settings of the world; called only if they may have changed.
        """
        before = None
        if self._has_settings:
            now = settings()
            before = None if now == self.settings else self.settings
            self.settings = now
        changes = RequestChanges(self._pending, self._issued, before, self._weight, self._is_lost)
        self._pending, self._issued, self._weight = [], issued, RECORD_BYTES
        self._has_settings = self._is_lost = False
        return changes

    def settle(self, entry: HistoryEntry) -> None:
        """Adds the entry of a request, and drops the oldest entries beyond the limits."""
        if entry.changes.is_lost:
            self.forget(entry.place)
            return
        self._entries.append(entry)
        self._bytes += entry.changes.weight
        while len(self._entries) > MOST_ENTRIES or self._bytes > HISTORY_BYTES.most:
            oldest = self._entries.popleft()
            self._bytes -= oldest.changes.weight
            self.forgotten = max(self.forgotten, oldest.place)
            self._began_at = None

    def extend_back(self, earlier: list[HistoryEntry], forgotten: int) -> None:
        """Prepends earlier entries, if no entry was dropped since ``restart``.

        Args:
            earlier: Earlier entries, the oldest first.
            forgotten: Number of the last request before them, which cannot be undone.
        """
        if self._began_at != self.forgotten:
            return
        self._entries.extendleft(reversed(earlier))
        self._bytes += sum(entry.changes.weight for entry in earlier)
        self.forgotten = forgotten

    def expect_number(self, context: object, entry: HistoryEntry) -> None:
        """Keeps an entry until the journal has numbered its request."""
        entry.earlier = self.unnumbered.get(id(context))
        self.unnumbered[id(context)] = entry

    def number(self, context: object, number: int) -> None:
        """Sets the journal's number of a request in its entries."""
        entry = self.unnumbered.pop(id(context), None)
        while entry is not None:
            entry.request = number
            if entry.changes.is_lost:
                self.forgotten = max(self.forgotten, number)
            earlier, entry.earlier = entry.earlier, None
            entry = earlier


def _has_many_parts(record: Any) -> bool:
    """Tells whether a list of a record has more than MOST_PARTS items."""
    if not isinstance(record, Struct):
        return False
    for name in _lists(type(record)):
        parts = getattr(record, name)
        if parts and len(parts) > MOST_PARTS:
            return True
    return False


@cache  # type hints are slow to resolve, and constant for a type
def _lists(record: type[Struct]) -> Sequence[str]:
    """Returns the names of a record's members that may be lists."""
    return [
        name
        for name, kind in get_type_hints(record).items()
        if tuple in {get_origin(kind), *map(get_origin, get_args(kind))}
    ]
