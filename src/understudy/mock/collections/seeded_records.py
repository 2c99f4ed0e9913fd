"""Defers the records that a world begins with until it needs them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


class SeededRecords(Mapping[str, Any]):
    """Records that are made when a world first needs them: a document may have a thousand collections.

    Args:
        keys: Returns their keys.
        make: Returns the record at a key.
    """

    def __init__(self, keys: Callable[[], Iterable[str]], make: Callable[[str], Any]) -> None:
        self._keys = keys
        self._make = make

    def __getitem__(self, key: str) -> Any:
        """Returns the record at a key.

        Raises:
            KeyError: There is none.
        """
        return self._make(key)

    def __iter__(self) -> Iterator[str]:
        """Yields the keys."""
        return iter(self._keys())

    def __len__(self) -> int:
        """Returns how many there are."""
        return sum(1 for _ in self)
