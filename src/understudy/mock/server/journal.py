"""Keeps the journal of a world, and the history of its changes, so that it can be rewound.

The journal is its last exchanges, and how often each part of the contract was used. What the history
keeps is how to undo a change, which costs what was changed: a state of each moment would cost what the
world holds, at every write.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import (
    Any,
    Final,
    NamedTuple,
    Protocol,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Struct

from understudy.limits import HISTORY_BYTES, JOURNAL_BYTES

CAPACITY = 1000
"""Exchanges that a world remembers by default."""


class Exercised(NamedTuple):
    """The part of the contract that a request used.

    Attributes:
        operation: operationId.
        status: The status of the response.
        identity: ``anonymous``, ``api_key`` or ``oauth``.
    """

    operation: str
    status: int
    identity: str


class Numbered(Protocol):
    """An entry of a journal."""

    number: int
    """The entry's place, counted from 1 and assigned by the journal."""

    @property
    def size(self) -> int:
        """The approximate memory of the entry in bytes."""

    @property
    def exercised(self) -> Exercised | None:
        """The part of the contract that it used; None: no operation."""


Listener = Callable[[Any], None]


class Journal:
    """The journal of one world.

    Args:
        capacity: How many exchanges it remembers at most, within JOURNAL_BYTES; the oldest go first.

    Attributes:
        total: How many there were, those it has forgotten among them.
        exercised: How often each part of the contract was used since the last ``forget``.
        forgotten: The number of the last entry at the last ``forget``.
        listeners: Called with each new entry.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.total = 0
        self.forgotten = 0
        self.exercised: Counter[Exercised] = Counter()
        self.listeners: list[Listener] = []
        self._capacity = capacity
        self._entries: deque[Any] = deque()
        self._sizes: deque[int] = deque()  # of the entries; a size is worked out once
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
        """Yields the exchanges that are remembered, the oldest first."""
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        """Returns how many it remembers."""
        return len(self._entries)

    def get(self, number: int) -> Any:
        """Returns an exchange by its number, or None where it is unknown or forgotten."""
        place = number - (self.total - len(self._entries)) - 1
        return self._entries[place] if 0 <= place < len(self._entries) else None

    def resume(self, total: int) -> None:
        """Forgets every exchange, and continues numbering after so many."""
        self.forget()
        self.total = self.forgotten = total

    def forget(self) -> None:
        """Forgets every exchange; numbering continues, so that each number stays unique."""
        self.forgotten = self.total
        self._entries.clear()
        self._sizes.clear()
        self._bytes = 0
        self.exercised.clear()


ABSENT: Final = object()
"""Stands in an undo step for: the overlay had nothing at this key."""

Settings = Mapping[str, Any]
"""The fields of a snapshot that calls of the admin API set: clock, choices, limits and faults."""


class RecordStep(NamedTuple):
    """A change of one record.

    Attributes:
        collection: The record's collection.
        key: The record's key.
        before: What the overlay had there; None: the record was removed; ABSENT: nothing.
        is_removed: Whether the change removed the record.
    """

    collection: str
    key: str
    before: Any
    is_removed: bool


class StateStep(NamedTuple):
    """The replacement of a whole state, such as by a reset.

    Attributes:
        before: The snapshot of the state before.
    """

    before: Any


Step = RecordStep | StateStep


class RequestChanges(NamedTuple):
    """The changes of one request.

    Attributes:
        steps: The changes, in their order.
        issued: How many identifiers had been generated before.
        settings: The settings before; None: they did not change.
        weight: The approximate memory in bytes.
        is_lost: Whether they cannot be undone.
    """

    steps: list[Step]
    issued: int
    settings: Settings | None
    weight: int
    is_lost: bool


MOST_ENTRIES: Final = 1000
"""Entries that a history keeps at most, within HISTORY_BYTES; the oldest go first."""

RECORD_BYTES: Final = 500
"""The approximate memory of a changed record, beside pictures."""

MOST_PARTS: Final = 256
"""Parts of a record, such as the avatars of a person, up to which its versions are kept.

A thousand versions of a record of thousands of parts would be megabytes, and would make each write
of it dear. Such a change is not undone: the history begins anew after it.
"""


@dataclass(slots=True, eq=False)  # one for every write
class HistoryEntry:
    """The changes that one request made.

    Attributes:
        at: The world's time.
        call: Method and path of the request.
        after: The number of the last request that was in the journal.
        changes: What it changed.
        request: The request's number in the journal; None: it is not in it, as calls of the admin API,
            or not yet.
        earlier: An earlier entry of the same request, until it has its number.
    """

    at: datetime
    call: tuple[str, str]
    after: int
    changes: RequestChanges
    request: int | None = None
    earlier: "HistoryEntry | None" = None

    @property
    def place(self) -> int:
        """The number of the request in the journal, or of the last one before."""
        return self.after if self.request is None else self.request


@dataclass(slots=True, eq=False)
class WorldHistory:
    """The changes of one world, the oldest first.

    Attributes:
        forgotten: The history reaches back to this request, which cannot be undone; 0: to the first.
        revision: How often a record was changed, or all of them replaced.
        settings: The settings at the last entry.
        unnumbered: The entries of requests that are not yet in the journal, by what they wait for.
    """

    forgotten: int = 0
    revision: int = 0
    settings: Settings = field(default_factory=dict)
    unnumbered: dict[int, HistoryEntry] = field(default_factory=dict)
    _began_at: int | None = None
    _entries: list[HistoryEntry] = field(default_factory=list)
    _bytes: int = 0
    _pending: list[Step] = field(default_factory=list)
    _weight: int = RECORD_BYTES  # of what is pending
    _has_settings: bool = False
    _is_lost: bool = False  # whether what is pending cannot be undone
    _issued: int = 0

    def __iter__(self) -> Iterator[HistoryEntry]:
        """Yields the entries that are kept, the oldest first."""
        return iter(tuple(self._entries))

    def begin(self, issued: int, settings: Settings) -> None:
        """Keeps the initial state of the world."""
        self._issued, self.settings = issued, settings

    def restart(self, issued: int, settings: Settings, number: int) -> None:
        """Forgets everything, as the world is what another replica made of it."""
        self.forget(number)
        self._began_at = number
        self.withdraw()
        self.begin(issued, settings)

    def withdraw(self) -> None:
        """Drops what is pending, as it was undone."""
        self._pending.clear()
        self._weight = RECORD_BYTES
        self._has_settings = self._is_lost = False

    def lose(self) -> None:
        """Marks what is pending as lost, so that every replica forgets it and all that was before."""
        self._is_lost = True

    def forget(self, number: int) -> None:
        """Forgets every change, up to and with the request of this number."""
        self._entries.clear()
        self._pending.clear()
        self._bytes, self.forgotten = 0, number
        self._began_at = None

    def note_record(
        self, change: tuple[str, str, Any], before: Any, weigh: Callable[[Any], int] | None
    ) -> None:
        """Notes the change of a record.

        Args:
            change: Collection, key and the record after.
            before: What the overlay had at the key; ABSENT: nothing.
            weigh: Returns the memory of a record of this collection; None: they are small.
        """
        self.revision += 1
        if before is not None and before is not ABSENT and _has_many_parts(before):
            self._is_lost = True
        self._pending.append(RecordStep(change[0], change[1], before, change[2] is None))
        self._weight += RECORD_BYTES
        if weigh is not None and before is not None and before is not ABSENT:
            self._weight += weigh(before)

    def note_state(self, before: Any, weight: int) -> None:
        """Notes that the whole state is replaced.

        Args:
            before: The snapshot of the state before.
            weight: The approximate memory of what the state has beside the fixtures, in bytes.
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
            issued: How many identifiers the world has generated.
        """
        return not (self._pending or self._has_settings) and issued == self._issued

    def collect(self, issued: int, settings: Callable[[], Settings]) -> RequestChanges:
        """Returns everything that changed since the last call, for ``settle``.

        Args:
            issued: How many identifiers the world has generated.
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
        """Adds the entry of the request that made changes."""
        if entry.changes.is_lost:
            self.forget(entry.place)
            return
        self._entries.append(entry)
        self._bytes += entry.changes.weight
        while len(self._entries) > MOST_ENTRIES or self._bytes > HISTORY_BYTES.most:
            oldest = self._entries.pop(0)
            self._bytes -= oldest.changes.weight
            self.forgotten = max(self.forgotten, oldest.place)
            self._began_at = None

    def extend_back(self, earlier: list[HistoryEntry], forgotten: int) -> None:
        """Takes the entries before those that are kept, if nothing was forgotten since it began.

        Args:
            earlier: The entries, the oldest first.
            forgotten: The number of the request that they reach back to.
        """
        if self._began_at != self.forgotten:
            return
        self._entries[:0] = earlier
        self._bytes += sum(entry.changes.weight for entry in earlier)
        self.forgotten = forgotten

    def expect_number(self, context: object, entry: HistoryEntry) -> None:
        """Keeps an entry until the journal has numbered its request."""
        entry.earlier = self.unnumbered.get(id(context))
        self.unnumbered[id(context)] = entry

    def number(self, context: object, number: int) -> None:
        """Takes the number of a request in the journal."""
        entry = self.unnumbered.pop(id(context), None)
        while entry is not None:
            entry.request = number
            if entry.changes.is_lost:
                self.forgotten = max(self.forgotten, number)
            earlier, entry.earlier = entry.earlier, None
            entry = earlier


def _has_many_parts(record: Any) -> bool:
    """Tells whether a list of a record has more than MOST_PARTS."""
    if not isinstance(record, Struct):
        return False
    for name in _lists(type(record)):
        parts = getattr(record, name)
        if parts and len(parts) > MOST_PARTS:
            return True
    return False


@cache  # the members of a type do not change
def _lists(record: type[Struct]) -> Sequence[str]:
    """Returns the names of a record's members that may be lists."""
    return [
        name
        for name, kind in get_type_hints(record).items()
        if tuple in {get_origin(kind), *map(get_origin, get_args(kind))}
    ]
