"""Computes e-mail hashes, the public names of accounts (interface, Profile)."""

import hashlib
import re

_HASH = re.compile(r"[0-9a-f]{64}")
_MD5 = re.compile(r"[0-9a-f]{32}")


def email_hash(address: str) -> str:
    """Returns the SHA-256 of an address, trimmed and in lower case, as hexadecimal digits."""
    return hashlib.sha256(address.strip().lower().encode()).hexdigest()


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
