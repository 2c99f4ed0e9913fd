"""Gathers what a request changes until it is written to the state database."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from understudy.mock.server.worlds import World

Statement = tuple[str, tuple[Any, ...]]
"""SQL, and the values for its question marks."""


@dataclass(slots=True)
class PendingChanges:
    """The changes since the last commit; empty as long as there are none.

    Attributes:
        statements: What is written first, in this order.
        settings: Name to world, where more than its records has changed.
        windows: Name of the world and principal to the world, where a rate-limit window has changed.
        is_only_counted: Whether all of it is what requests have used: none is refused for its loss.
    """

    statements: list[Statement] = field(default_factory=list)
    settings: dict[str, World] = field(default_factory=dict)
    windows: dict[tuple[str, str], World] = field(default_factory=dict)
    is_only_counted: bool = True
    _touched: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        """Tells whether there is anything to write."""
        return bool(self.statements or self.settings or self.windows)

    @property
    def worlds(self) -> Iterator[str]:
        """The names of the worlds that are concerned."""
        yield from {*self._touched, *self.settings, *(name for name, _ in self.windows)}

    def add(self, world: World, statement: str, *values: Any) -> None:
        """Adds a statement."""
        self._touched.add(world.name)
        self.add_for_all(statement, *values)

    def add_for_all(self, statement: str, *values: Any) -> None:
        """Adds a statement that concerns no world."""
        self.is_only_counted = False
        self.statements.append((statement, values))

    def note_settings(self, world: World, *, is_only_counted: bool) -> None:
        """Notes that a world's settings have changed; that of an ended one changes nothing.

        Another world may have its name by now.
        """
        if not world.is_ended:
            self.settings[world.name] = world
            self.is_only_counted = self.is_only_counted and is_only_counted

    def note_windows(self, world: World, principals: Iterable[str]) -> None:
        """Notes that windows of a world have changed; those of an ended one change nothing."""
        if not world.is_ended:
            self.windows.update({(world.name, principal): world for principal in principals})

    def drop(self, name: str) -> None:
        """Drops what is pending of settings and windows of a world that is removed."""
        self.settings.pop(name, None)
        self.windows = {key: world for key, world in self.windows.items() if key[0] != name}

    def clear(self) -> None:
        """Forgets everything: it was written, or undone."""
        self.statements.clear()
        self.settings.clear()
        self.windows.clear()
        self._touched.clear()
        self.is_only_counted = True
