"""Keeps digests as numbers, the smallest that Python has for them: 100,000 people have 300,000."""

from collections.abc import Iterator, Mapping
from typing import Any


class SlugsByDigest(Mapping[str, str]):
    """Digest, in lower-case hexadecimal digits, to the slug of the person it belongs to.

    Args:
        size: Bytes of each digest.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._slugs: dict[int, str] = {}

    def claim(self, number: int, slug: str) -> str:
        """Gives a digest to a person, unless another one has it.

        Args:
            number: The one that the digest writes.
            slug: The person's.

        Returns:
            The slug of who has it.
        """
        return self._slugs.setdefault(number, slug)

    def __getitem__(self, digits: str) -> str:
        """Returns the slug.

        Raises:
            KeyError: No slug has this digest, or it is not written as it must be.
        """
        slug: str | None = self.get(digits)
        if slug is None:
            raise KeyError(digits)
        return slug

    def get(self, digits: str, default: Any = None) -> Any:
        """Returns the slug, or the default."""
        try:
            number = int(digits, 16)
        except ValueError:
            return default
        slug = self._slugs.get(number)
        # a number may be written in other ways: with capitals, spaces, or without its zeros
        return default if slug is None or self._digits(number) != digits else slug

    def __iter__(self) -> Iterator[str]:
        """Yields the digests, in the order they were given."""
        return map(self._digits, self._slugs)

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self._slugs)

    def _digits(self, number: int) -> str:
        return number.to_bytes(self._size).hex()
