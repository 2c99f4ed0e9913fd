"""Reads the URL of a store, ``valkey://user:password@host:6379/0``, with TLS as ``valkeys://``."""

import os
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from understudy.errors import StartupError

PASSWORD_VARIABLE: Final = "UNDERSTUDY_STATE_PASSWORD"
"""Environment variable for the password, which keeps it out of files and command lines."""

AUTHORITY_VARIABLE: Final = "UNDERSTUDY_STATE_CA"
"""Environment variable for the file of certificate authorities that verify the store's certificate."""

_SCHEMES: Final = ("valkey", "valkeys", "redis", "rediss")
_PORT: Final = 6379


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The address of a store.

    Attributes:
        scheme: Scheme of the URL.
        host: Host name or address.
        port: TCP port.
        database: Number of the database.
        user: User name; None for the store's default user.
        password: Password of the user; never shown.
        authority: File of certificate authorities for TLS; None for those of the system.
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
        return self.scheme in {"valkeys", "rediss"}

    def __str__(self) -> str:
        """Returns the URL without its password."""
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{user}{host}:{self.port}/{self.database}"


def is_store(text: str) -> bool:
    """Tells whether a text is the URL of a store, and not the path of a file."""
    scheme, separator, _ = text.partition("://")
    return bool(separator) and scheme.lower() in _SCHEMES


def store_address(text: str, option: str = "--state") -> StoreAddress:
    """Parses the URL of a store; the password may come from the environment instead.

    Args:
        text: URL of the store.
        option: Option with the URL, for the message.

    Raises:
        StartupError: The URL is invalid; the message does not quote it, as it may have a password.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host, port, parts = None, 0, urlsplit("")
    query = dict(parse_qsl(parts.query, keep_blank_values=True)) if host else {}
    database = query.pop("db", "") or (parts.path.strip("/") if host else "")
    if host is None or query or parts.fragment or not (database or "0").isdecimal():
        left = f"; leave out {', '.join(query)}" if query else ""
        msg = (
            f"{option}: the URL of a store is written as valkey://host:6379/0, with a database "
            f"number{left}."
        )
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
