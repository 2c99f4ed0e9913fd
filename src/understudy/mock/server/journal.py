"""Keeps the journal of a world: its last exchanges, and how often each part of the contract was used."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from understudy.limits import JOURNAL_BYTES

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


Entry = TypeVar("Entry", bound=Numbered)
Listener = Callable[[Any], None]


class Journal(Generic[Entry]):
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
        self._entries: deque[Entry] = deque()
        self._sizes: deque[int] = deque()  # of the entries; a size is worked out once
        self._bytes = 0

    def add(self, entry: Entry) -> None:
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

    def __iter__(self) -> Iterator[Entry]:
        """Yields the exchanges that are remembered, the oldest first."""
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        """Returns how many it remembers."""
        return len(self._entries)

    def get(self, number: int) -> Entry | None:
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
