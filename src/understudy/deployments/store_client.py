"""Opens a Valkey or Redis server by its URL, for what runs on several machines share."""

import os
from typing import Any, Final
from urllib.parse import urlsplit

import redis

from understudy.deployments.ledger import STORE_SCHEMES
from understudy.errors import StartupError

PASSWORD_VARIABLE: Final = "UNDERSTUDY_STATE_PASSWORD"
"""Environment variable of the store's password, for those who want it in no file."""

AUTHORITY_VARIABLE: Final = "UNDERSTUDY_STATE_CA"
"""Environment variable of the file with the authorities that the store's certificate is held to."""

PATIENCE: Final = 5.0
"""Seconds that a store may take to respond."""


def opened_store(url: str) -> redis.Redis:
    """Returns a client of a store; nothing is sent to it yet.

    Args:
        url: URL of the store; the password may be in the environment instead.

    Raises:
        ValueError: It is not a URL of a store.
    """
    return redis.Redis.from_url(_library_url(url), **_options(url))


def expect_store(url: str, option: str) -> None:
    """Accepts a store that responds.

    Args:
        url: URL of the store.
        option: The option that names it.

    Raises:
        StartupError: It does not respond, or refuses.
    """
    try:
        with opened_store(url) as store:
            store.ping()
    except (redis.RedisError, ValueError, OSError) as error:
        msg = f"{option}: {shown_url(url)} cannot be used: {str(error).rstrip('.')}."
        raise StartupError(msg) from error


def shown_url(url: str) -> str:
    """Returns the URL of a store without its password."""
    parts = urlsplit(url)
    user = f"{parts.username}@" if parts.username else ""
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{user}{place}{parts.path}"


def _library_url(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{STORE_SCHEMES[scheme.lower()]}://{rest}"


def _options(url: str) -> dict[str, Any]:
    """Returns what the URL leaves to the environment, and how long the store may take."""
    options: dict[str, Any] = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
    password, authority = os.environ.get(PASSWORD_VARIABLE), os.environ.get(AUTHORITY_VARIABLE)
    if password and urlsplit(url).password is None:
        options["password"] = password
    if authority and _library_url(url).startswith("rediss:"):
        options["ssl_ca_certs"] = authority
    return options
