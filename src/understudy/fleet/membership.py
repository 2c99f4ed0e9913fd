"""Reads the URL of a store, and says why a process cannot join its replicas.

A URL is ``valkey://user:password@host:6379/0``, with TLS as ``valkeys://``.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from understudy.errors import StartupError

PASSWORD_VARIABLE = "UNDERSTUDY_STATE_PASSWORD"
"""Environment variable of the password, for those who want it in no command line."""

AUTHORITY_VARIABLE = "UNDERSTUDY_STATE_CA"
"""Environment variable of the file with the authorities that the store's certificate is held to."""

_PORT = 6379


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The address of a store.

    Attributes:
        scheme: As the URL has it.
        host: Name or address of the machine.
        port: TCP port.
        database: The number of the database.
        user: Whom the process signs in as; None for the store's default user.
        password: The password of that user; never shown.
        authority: The file with authorities for TLS; None for those of the system.
    """

    scheme: str
    host: str
    port: int
    database: int
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    authority: str | None = None

    @property
    def is_tls(self) -> bool:
        """True if the connection is encrypted."""
        return self.scheme.endswith("s") and self.scheme != "redis"

    def __str__(self) -> str:
        """Returns the URL without its password."""
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{user}{host}:{self.port}/{self.database}"


def store_address(text: str, option: str = "--state") -> StoreAddress:
    """Reads the URL of a store; the password may be in the environment instead.

    Args:
        text: The URL.
        option: Where it was given, for the error.

    Raises:
        StartupError: It is not as it must be; the text shows no password.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host, port = None, 0
    database = parts.path.strip("/") if host else ""
    if host is None or parts.query or parts.fragment or not (database or "0").isdecimal():
        msg = f"{option}: the URL of a store is written as valkey://host:6379/0, with a database number."
        raise StartupError(msg)
    return StoreAddress(
        parts.scheme.lower(),
        host,
        port,
        int(database or 0),
        unquote(parts.username) if parts.username else None,
        unquote(parts.password) if parts.password else os.environ.get(PASSWORD_VARIABLE),
        os.environ.get(AUTHORITY_VARIABLE),
    )


SCHEMA: Final = 2
"""The version of what the store holds; replicas of another one do not join."""


def reason_against_joining(address: StoreAddress, reply: Sequence[Any]) -> str:
    """Returns why the store refuses a replica.

    Args:
        address: The store.
        reply: That of the script, which is not ``joined``.
    """
    outcome, known, *others = reply
    if outcome == b"schema":
        return other_version(address, known, others[0])
    names = ", ".join(name.decode() for name in known[:5])
    more = f" and {len(known) - 5} more" if len(known) > 5 else ""  # noqa: PLR2004 - as above
    return (
        f"The replicas at {address} have other contents of {names}{more}; start this one "
        "with the same files and options, or name another database."
    )


def other_version(address: StoreAddress, schema: int, version: bytes) -> str:
    """Returns that a store is in use by a version of understudy with another schema."""
    order = "an older" if schema < SCHEMA else "a newer"
    return (
        f"The store at {address} is in use by {order} version of understudy ({version.decode()}); "
        "run that version here, or name another database."
    )
