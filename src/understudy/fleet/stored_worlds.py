"""Lists the worlds in a store, and deletes one, without a running replica."""

from os import urandom  # no fixture: the tag of a list is of no world
from typing import Any

from understudy.errors import StartupError, nearest
from understudy.fleet import connection
from understudy.mock.server.worlds import DEFAULT
from understudy.store_address import store_address

_TAG_BYTES = 16  # as copies.TAG_BYTES, without the code of replicas


WorldRow = tuple[str, int, int, int, float, float | None]
"""The values of a ``PrintedWorld``, which `understudy worlds` prints."""


def stored_worlds(url: str) -> list[WorldRow]:
    """Returns the worlds of a store, by its URL, in the order of their creation.

    Raises:
        StartupError: The store does not respond, or another version of understudy uses it.
    """
    reply = _reply(url, b"", b"")
    return [_world(row) for row in reply[1]] if reply[0] == b"worlds" else []


def end_stored_world(url: str, name: str) -> None:
    """Deletes a world and its journal; replicas notice at their next request to it.

    Raises:
        StartupError: The world does not exist or is the default one, or the store does not respond.
    """
    if name == DEFAULT:
        msg = "--end default: every mock has this world; reset it by its admin API instead."
        raise StartupError(msg)
    if _reply(url, name.encode(), urandom(_TAG_BYTES))[0] == b"ended":
        return
    names = [world for world, *_ in stored_worlds(url)]
    hint = nearest(name, names) or "; `understudy worlds` lists them."
    msg = f"--end {name}: the store has no such world{hint}"
    raise StartupError(msg)


def _reply(url: str, ended: bytes, tag: bytes) -> Any:
    address = store_address(url, "--store")
    message = connection.packed({"schema": connection.SCHEMA, "ended": ended, "tag": tag})
    try:
        reply = connection.send_once(address, ("EVAL", connection.STORED.text, 0, message))
    except (OSError, connection.StoreRefusal) as error:
        msg = f"--store: {connection.described(address, error)}"
        raise StartupError(msg) from error
    if reply[0] == b"schema":
        msg = f"--store: {connection.other_version(address, reply[1], reply[2])}"
        raise StartupError(msg)
    return reply


def _world(row: Any) -> WorldRow:
    name, size, records, requests, rested, lifetime, left = row
    if not lifetime:
        return name.decode(), size, records, requests, float(rested), None
    idle = max(0, lifetime - left) / 1000
    return name.decode(), size, records, requests, idle, left / 1000
