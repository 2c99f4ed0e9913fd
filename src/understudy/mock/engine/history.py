"""Keeps the last changes of a world, so that it can be rewound to before any of its requests.

What is kept is how to undo a change, which costs what was changed. A state of each moment would
cost what the world holds, at every write.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from understudy.limits import HISTORY_BYTES

CAPACITY: Final = 1000
"""Entries that a history keeps at most, within HISTORY_BYTES; the oldest go first."""

ABSENT: Final = object()
"""Stands in an undo step for: the overlay had nothing at this key."""

RECORD_BYTES: Final = 500
"""The approximate memory of a changed record, beside pictures."""

Settings = Mapping[str, Any]
"""The fields of a snapshot that calls of the admin API set: clock, choices, limits and faults."""


class RecordStep(NamedTuple):
    """A change of one record; ``before`` and ``after`` are what the overlay had at the key.

    Attributes:
        collection: The record's collection.
        key: The record's key.
        before: The record before; None: it was removed from the fixtures; ABSENT: unchanged.
        after: The record after; None: it was removed.
        weight: The approximate memory in bytes.
    """

    collection: str
    key: str
    before: Any
    after: Any
    weight: int


class StateStep(NamedTuple):
    """The replacement of a whole state, such as by a reset.

    Attributes:
        before: The snapshot of the state before.
        weight: The approximate memory in bytes.
    """

    before: Any
    weight: int


Step = RecordStep | StateStep


class Moment(NamedTuple):
    """When something changed.

    Attributes:
        at: The world's time.
        call: Method and path of the request that changed it.
        after: The number of the last request that was in the journal.
    """

    at: datetime
    call: str
    after: int


@dataclass(slots=True)
class HistoryEntry:
    """The changes that one request made.

    Attributes:
        moment: When, and by which request.
        steps: The changes, in their order.
        issued: How many identifiers had been generated before.
        settings: The settings before; None: they did not change.
        request: The request's number in the journal; None: it is not in it, as calls of the admin API.
    """

    moment: Moment
    steps: tuple[Step, ...]
    issued: int
    settings: Settings | None
    request: int | None = None

    @property
    def weight(self) -> int:
        """The approximate memory in bytes."""
        return RECORD_BYTES + sum(step.weight for step in self.steps)

    @property
    def place(self) -> int:
        """The number of the request in the journal, or of the last one before."""
        return self.moment.after if self.request is None else self.request


class WorldHistory:
    """The changes of one world, the oldest first.

    Attributes:
        forgotten: The history reaches back to this request, which cannot be undone; 0: to the first.
        revision: How often a record was changed, or all of them replaced.
        settings: The settings at the last entry.
    """

    __slots__ = (
        "_bytes",
        "_entries",
        "_has_settings",
        "_issued",
        "_pending",
        "_unnumbered",
        "forgotten",
        "revision",
        "settings",
    )

    def __init__(self) -> None:
        self.forgotten = 0
        self.revision = 0
        self.settings: Settings = {}
        self._entries: list[HistoryEntry] = []
        self._pending: list[Step] = []
        self._has_settings = False
        self._unnumbered: dict[int, list[HistoryEntry]] = {}
        self._issued = 0
        self._bytes = 0

    def __iter__(self) -> Iterator[HistoryEntry]:
        """Yields the entries that are kept, the oldest first."""
        return iter(tuple(self._entries))

    def begin(self, issued: int, settings: Settings) -> None:
        """Takes what the world is at its beginning."""
        self._issued, self.settings = issued, settings

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
        weight = RECORD_BYTES
        if weigh is not None and before is not None and before is not ABSENT:
            weight += weigh(before)
        collection, key, after = change
        self._pending.append(RecordStep(collection, key, before, after, weight))

    def note_state(self, before: Any, weight: int) -> None:
        """Notes that the whole state is replaced.

        Args:
            before: The snapshot of the state before.
            weight: The approximate memory of what the state has beside the fixtures, in bytes.
        """
        self.revision += 1
        self._has_settings = True
        self._pending.append(StateStep(before, RECORD_BYTES + weight))

    def forget(self, number: int) -> None:
        """Forgets every change, up to and with the request of this number."""
        self._entries.clear()
        self._pending.clear()
        self._bytes, self.forgotten = 0, number

    def note_settings(self) -> None:
        """Notes that the settings have changed."""
        self._has_settings = True

    def is_settled(self, issued: int) -> bool:
        """Tells whether nothing changed since the last entry.

        Args:
            issued: How many identifiers the world has generated.
        """
        return not (self._pending or self._has_settings) and issued == self._issued

    def settle(self, moment: Moment, issued: int, settings: Callable[[], Settings]) -> HistoryEntry:
        """Makes an entry of everything that changed since the last one.

        Args:
            moment: The request that changed it.
            issued: How many identifiers the world has generated.
            settings: Returns the settings of the world; called only if they may have changed.
        """
        before = None
        if self._has_settings:
            now = settings()
            before = None if now == self.settings else self.settings
            self.settings = now
        entry = HistoryEntry(
            moment,
            tuple(self._pending),
            self._issued,
            before,
        )
        self._pending.clear()
        self._has_settings = False
        self._issued = issued
        self._entries.append(entry)
        self._bytes += entry.weight
        while len(self._entries) > CAPACITY or self._bytes > HISTORY_BYTES.most:
            oldest = self._entries.pop(0)
            self._bytes -= oldest.weight
            self.forgotten = max(self.forgotten, oldest.place)
        return entry

    def expect_number(self, context: object, entry: HistoryEntry) -> None:
        """Keeps an entry until the journal has numbered its request."""
        self._unnumbered.setdefault(id(context), []).append(entry)

    def number(self, context: object, number: int) -> None:
        """Takes the number of a request in the journal."""
        if self._unnumbered:
            for entry in self._unnumbered.pop(id(context), ()):
                entry.request = number
