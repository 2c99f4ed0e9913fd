"""Computes e-mail hashes, the public names of accounts (interface, Profile), and indexes them."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

HASH_BYTES = 32
"""Bytes of an e-mail hash (SHA-256)."""

_HASH = re.compile(r"[0-9a-f]{64}")
_MD5 = re.compile(r"[0-9a-f]{32}")


def email_hash(address: str) -> str:
    """Returns the SHA-256 of an address, trimmed and in lower case, as hexadecimal digits."""
    return email_digest(address).hex()


def email_digest(address: str) -> bytes:
    """Returns the SHA-256 of an address, trimmed and in lower case: 32 bytes."""
    return hashlib.sha256(address.strip().lower().encode()).digest()


def is_hash(text: str) -> bool:
    """Tells whether a text, in lower case, has the form of an e-mail hash."""
    return _HASH.fullmatch(text) is not None


def md5_hash(address: str) -> str:
    """Returns the MD5 of an address, trimmed and in lower case, as old clients send it."""
    normalised = address.strip().lower().encode()
    return hashlib.md5(normalised, usedforsecurity=False).hexdigest()


def is_md5(text: str) -> bool:
    """Tells whether a text, in lower case, has the form of an MD5 hash."""
    return _MD5.fullmatch(text) is not None


class SlugsByDigest(Mapping[str, str]):
    """Slugs of people by digest, a text of lower-case hexadecimal digits.

    Digests are kept as integers, which take less memory than text: 100,000 people have 300,000.

    Args:
        size: Bytes of each digest.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._slugs: dict[int, str] = {}

    def claim(self, number: int, slug: str) -> str:
        """Assigns a digest to a person, unless another person has it.

        Args:
            number: The digest as an integer.
            slug: Slug of the person.

        Returns:
            Slug of the person who has the digest now.
        """
        return self._slugs.setdefault(number, slug)

    def __getitem__(self, digits: str) -> str:
        """Returns the slug for a digest.

        Raises:
            KeyError: Nobody has this digest, or it is not in lower-case hexadecimal digits.
        """
        slug: str | None = self.get(digits)
        if slug is None:
            raise KeyError(digits)
        return slug

    def get(self, digits: str, default: Any = None) -> Any:
        """Returns the slug for a digest, or the default."""
        try:
            number = int(digits, 16)
        except ValueError:
            return default
        slug = self._slugs.get(number)
        # int() also accepts capitals, spaces, underscores and missing zeros
        return default if slug is None or self._digits(number) != digits else slug

    def __iter__(self) -> Iterator[str]:
        """Yields the digests, in the order of assignment."""
        return map(self._digits, self._slugs)

    def __len__(self) -> int:
        """Returns the number of digests."""
        return len(self._slugs)

    def _digits(self, number: int) -> str:
        return number.to_bytes(self._size).hex()
