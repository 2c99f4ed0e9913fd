"""Keeps digests as bytes: a directory of 100,000 people has 300,000 of them."""

from collections.abc import Iterator, Mapping
from typing import Any


class SlugsByDigest(Mapping[str, str]):
    """Digest, in lower-case hexadecimal digits, to the slug of the person it belongs to."""

    def __init__(self) -> None:
        self._slugs: dict[bytes, str] = {}

    def claim(self, digest: bytes, slug: str) -> str:
        """Gives a digest to a person, unless another one has it.

        Returns:
            The slug of who has it.
        """
        return self._slugs.setdefault(digest, slug)

    def __getitem__(self, digits: str) -> str:
        """Returns the slug.

        Raises:
            KeyError: The digest belongs to nobody, or is not written as it must be.
        """
        slug: str | None = self.get(digits)
        if slug is None:
            raise KeyError(digits)
        return slug

    def get(self, digits: str, default: Any = None) -> Any:
        """Returns the slug, or the default."""
        try:
            digest = bytes.fromhex(digits)
        except ValueError:
            return default
        slug = self._slugs.get(digest)
        # spaces and capitals are skipped by fromhex
        return default if slug is None or digest.hex() != digits else slug

    def __iter__(self) -> Iterator[str]:
        """Yields the digests, in the order they were given."""
        return (digest.hex() for digest in self._slugs)

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self._slugs)
