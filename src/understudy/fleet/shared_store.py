"""Shares worlds with other replicas, through a Valkey or Redis server.

Each replica keeps copies of the worlds that its requests select. A request is worked on with the copy,
and one script of the store commits it, if the copy was up to date: it compares the tags of the worlds,
counts the request, applies the changes and appends to the journal, or it says what is different.
A mock joins the fleet by ``joined``.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from os import urandom  # no fixture: replicas must differ
from typing import Any, Final

from understudy.errors import StartupError, StoreUnavailable
from understudy.fleet.connection import (
    COMMIT,
    HISTORY,
    JOIN,
    SCHEMA,
    Connection,
    StoreRefusal,
    as_problem,
    described,
    packed,
    reason_against_joining,
    send_once,
)
from understudy.fleet.copies import Copies, ReplicatedWorlds, WorldList
from understudy.fleet.journal_rows import endpoint_name
from understudy.fleet.link import CHANNEL, Locks, StoreLink
from understudy.fleet.transaction import CURRENT, LIST, ChangeGatherer, ReplicaTransaction
from understudy.installation import version
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.hosts import BASE_PATH
from understudy.mock.server.protocol import Episode
from understudy.mock.server.transactions import Superseded
from understudy.mock.server.worlds import DEFAULT, Collection, Snapshot, World, WorldSelection
from understudy.mock.settings import Settings
from understudy.mock.store.collections import COLLECTIONS
from understudy.mock.store.state_rows import Rows
from understudy.store_address import StoreAddress, store_address

LISTING: Final = (f"{BASE_PATH}/worlds", f"{BASE_PATH}/snapshots", f"{BASE_PATH}/exercised")
"""Beginnings of the paths whose handlers use the list of worlds or of snapshots."""

HISTORIES: Final = f"{BASE_PATH}/changes"
"""Beginning of the paths whose handlers use the whole history of a world."""


_log = logging.getLogger(__name__)

_REPLICA_BYTES = 8

SNAPSHOTS: Final = "understudy:snapshots"


class SharedWorldStore:
    """The store of one replica.

    Args:
        address: The server.
        collections: Every kind of record.
        worlds: The worlds of the mock, of which the default one is as it begins.
        pinned: What replicas must have in common, by name.
        version: The version of understudy.
        capacity: Entries that a journal keeps.

    Attributes:
        rows: Encodes and decodes.
        copies: The copies of the worlds.
        capacity: Entries that a journal keeps.
        listed: The list of worlds and snapshots, as far as it is known here.
        link: The connection to the store, and its clock.
        turns: The turns at worlds that several replicas change at once.
    """

    def __init__(
        self,
        address: StoreAddress,
        collections: Iterable[Collection[Any]],
        worlds: ReplicatedWorlds,
        pinned: Mapping[str, str],
        *,
        version: str,
        capacity: int,
    ) -> None:
        self._address = address
        self._worlds = worlds
        self._pinned = pinned
        self._version = version
        self.capacity = capacity
        self.rows = Rows(collections, worlds.default.baseline)
        self._endpoints: dict[str, Endpoint] = {}
        self.copies = Copies(worlds, self.rows, self._endpoints.get)
        self.listed = WorldList(worlds, self.copies, self._snapshot)
        self._fleet = b""
        self._used: Counter[str] = Counter()
        self._replica = urandom(_REPLICA_BYTES)
        self.link = StoreLink(address, self._replica.hex(), self._used.__contains__)
        self.turns = self.link.turns
        self._commits = count()
        self._locks = Locks()
        self._failures = Episode()
        self._beginning = worlds.default.snapshot()

    def join(self) -> None:
        """Joins the fleet, before there is an event loop.

        Raises:
            StartupError: The store does not respond, or the replica differs from the others.
        """
        try:
            reply = send_once(self._address, ("EVAL", JOIN.text, 0, self._join_message()))
            clock = self.link.clock
            clock.measure(clock.begin(), send_once(self._address, ("TIME",)))
            send_once(
                self._address, ("SUBSCRIBE", CHANNEL)
            )  # a missing permission is reported at the start
        except (OSError, StoreRefusal) as error:
            msg = f"--state: {described(self._address, error)}"
            raise StartupError(msg) from error
        try:
            with self.understood():
                reason = self._joined(reply)
        except StoreUnavailable as problem:
            reason = problem.message
        if reason is not None:
            msg = f"--state: {reason}"
            raise StartupError(msg)
        worlds = self._worlds
        worlds.default.clock = clock.of(worlds.default.clock.setting)
        worlds.store = worlds.default.store = worlds.uses = ChangeGatherer(self.rows, self.refresh)

    def _join_message(self) -> bytes:
        tag = self.next_tag()
        default = self._worlds.default
        return packed(
            {
                "id": tag,
                "schema": SCHEMA,
                "version": self._version,
                "files": self._pinned,
                "default": {
                    "id": tag,
                    "tag": tag,
                    "idle": 0,
                    "beginning": b"",
                    "settings": self.rows.settings(default),
                },
            }
        )

    def _joined(self, reply: Sequence[Any]) -> str | None:
        """Takes the reply to an attempt to join; returns why it is refused, or None."""
        if reply[0] == b"joined":
            self._fleet = reply[1]
            self._worlds.started = datetime.fromtimestamp(reply[2] / 1e6, UTC)
            return None
        return reason_against_joining(self._address, reply)

    def serve(self, endpoints: Iterable[Endpoint]) -> None:
        """Takes the operations of the documents in force, which journals refer to."""
        self._endpoints.clear()
        self._endpoints.update((endpoint_name(endpoint), endpoint) for endpoint in endpoints)

    async def close(self) -> None:
        """Closes the connection to the store; the next request opens another one."""
        self.link.close()

    def next_tag(self) -> bytes:
        """Returns a name for a commit that no other one has, of this replica or another."""
        return self._replica + next(self._commits).to_bytes(_REPLICA_BYTES)

    async def prepare(self, selected: WorldSelection) -> frozenset[str]:
        """Makes the world that a request selects known here; returns what the request needs.

        Raises:
            StoreUnavailable: The store does not respond.
            Superseded: It is another store than before.
        """
        with self.understood():
            name = await self._loaded(selected)
        if selected.path.startswith(HISTORIES) and self.copies.of(name).changed:
            await self._load_history(name)
        return frozenset({name, LIST} if selected.path.startswith(LISTING) else {name})

    async def _load_history(self, name: str) -> None:
        """Loads how to undo the changes that were made before the world was loaded."""
        message = packed({"name": name, "id": self.copies.of(name).id})
        try:
            reply = await (await self.link.connected()).run(HISTORY, message)
        except (OSError, StoreRefusal) as error:
            raise as_problem(self._address, error) from error
        if reply[0] == b"history" and self.copies.of(name).changed:
            with self.understood():
                self.copies.take_history(name, *reply[1:])

    async def _loaded(self, selected: WorldSelection) -> str:
        """Loads a world that is not known here; returns its name, or the default one's for none."""
        name = selected.name or DEFAULT
        if not self.copies.of(name).id and name != DEFAULT:
            await self._refresh(name)
            if self._worlds.copied(name) is None and selected.is_certain:
                await self._refresh(name, LIST)  # for names that are like it
        return DEFAULT if self._worlds.copied(name) is None else name

    async def _refresh(self, name: str, *others: str, is_steering: bool = False) -> None:
        transaction = await self.begin(frozenset({name, *others}))
        try:
            await transaction.refresh([name], is_steering=is_steering)
        finally:
            transaction.end()

    def ended(self, names: Iterable[str]) -> None:
        """Takes that a transaction on these worlds is over."""
        self._used -= Counter(names)

    def drop_copies(self) -> None:
        """Drops some of the copies beyond the limit, unless a request uses the list of worlds."""
        if not self._locks.of(LIST).locked():
            self.copies.drop(self._used, is_listed=bool(self.listed.tag))

    async def begin(self, names: frozenset[str]) -> ReplicaTransaction:
        """Begins a transaction on these worlds, once no other one uses them."""
        self._used.update(names)  # before it waits, so that no copy is dropped meanwhile
        try:
            locks = await self._locks.acquire(names)
        except asyncio.CancelledError:
            self.ended(names)
            raise
        if len(names) == 1:
            await self._take_turn(next(iter(names)), locks)
        transaction = ReplicaTransaction(self, self._worlds, names, locks)
        CURRENT.set(transaction)
        return transaction

    async def _take_turn(self, name: str, locks: Iterable[asyncio.Lock]) -> None:
        """Waits for the turn at a world that several replicas change, and takes what changed."""
        try:
            news = await self.turns.wait(name, self.copies.of(name).tag)
            if news is not None:
                _, states, windows, _ = news
                with self.understood():
                    self.copies.take_different(states, windows)
        except (asyncio.CancelledError, StoreUnavailable):
            for lock in locks:
                lock.release()
            self.ended((name,))
            raise

    async def refresh(self, world: World) -> None:
        """Brings the copy of a world up to date, with its journal, and the list of worlds.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        with suppress(Superseded):
            await self._refresh(world.name, LIST, is_steering=True)

    @contextmanager
    def understood(self) -> Iterator[None]:
        """Reads what the store has sent.

        Raises:
            StoreUnavailable: It is not what a replica has written; nothing can be served from it.
        """
        try:
            yield
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            problem = StoreUnavailable(
                f"The store at {self._address} holds what no replica has written ({error}). "
                "Empty its database, or name another one."
            )
            if self._failures.begins():
                _log.warning("%s Until then requests get %d.", problem, problem.status)
            raise problem from error

    async def run(self, message: Mapping[str, Any]) -> Any:
        """Returns the reply of the store to a transaction.

        Raises:
            StoreUnavailable: The store does not respond.
            InsufficientStorage: It is full.
            Superseded: It is another store than before; this replica has joined it.
        """
        fleet = self._fleet
        try:
            connection = await self.link.connected()
            reply = await connection.run(
                COMMIT, packed({"fleet": fleet, "replica": self.turns.replica, **message})
            )
        except (OSError, StoreRefusal) as error:
            problem = as_problem(self._address, error)
            if self._failures.begins():
                _log.warning("%s Until then requests get %d.", problem, problem.status)
            raise problem from error
        if reply[0] == b"lost":
            if self._fleet == fleet:
                with self.understood():
                    await self._rejoin(connection)
            raise Superseded
        return reply

    async def _snapshot(self, name: str) -> Snapshot | None:
        """Returns a snapshot of the store; None where it has been deleted.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        try:
            row = await (await self.link.connected()).call("HGET", SNAPSHOTS, name)
        except (OSError, StoreRefusal) as error:
            raise as_problem(self._address, error) from error
        with self.understood():
            return None if row is None else self.rows.decoded_snapshot(row)

    async def _rejoin(self, connection: Connection) -> None:
        """Joins the fleet of a store that was emptied.

        Raises:
            StoreUnavailable: Others have begun one that this replica does not fit into.
        """
        worlds = self._worlds
        self.copies.forget_all()
        self.listed.forget()
        store, worlds.default.store = worlds.default.store, None
        worlds.default.become(self._beginning)
        worlds.default.journal.resume(0)
        worlds.default.store = store
        try:
            reply = await connection.run(JOIN, self._join_message())
        except (OSError, StoreRefusal) as error:
            raise as_problem(self._address, error) from error
        reason = self._joined(reply)
        if reason is not None:
            raise StoreUnavailable(reason)
        _log.warning("The store at %s was emptied; its worlds begin anew.", self._address)


_KEEPING: Final = "noeviction"
"""The policy of a store that deletes nothing by itself but what is over."""


def joined(
    default: World, url: str, settings: Settings, pinned: Mapping[str, str]
) -> tuple[ReplicatedWorlds, SharedWorldStore]:
    """Joins the fleet of a store; returns the worlds and the store.

    Args:
        default: The world at the plain base address, as it begins.
        url: The URL of the store.
        settings: The settings of the mock.
        pinned: What replicas must have in common, by name.

    Raises:
        StartupError: The store cannot be used, it deletes what it should keep, or the replica
            differs from the others.
    """
    address = store_address(url)
    worlds = ReplicatedWorlds(
        default, requires_name=settings.require_world, capacity=settings.journal
    )
    store = SharedWorldStore(
        address,
        COLLECTIONS,
        worlds,
        pinned,
        version=version(),
        capacity=settings.journal,
    )
    store.join()
    _expect_no_eviction(address)
    return worlds, store


def _expect_no_eviction(address: StoreAddress) -> None:
    """Accepts a store that refuses writes where its memory is used up, or does not show what it does.

    Raises:
        StartupError: It deletes keys instead, and worlds with them.
    """
    try:
        about = send_once(address, ("INFO", "memory")).decode()
    except (OSError, StoreRefusal):  # no replica needs the right to ask
        return
    facts = dict(line.partition(":")[::2] for line in about.splitlines())
    policy = facts.get("maxmemory_policy", _KEEPING)
    if policy != _KEEPING:
        msg = (
            f"--state: The store at {address} deletes worlds when its memory is used up "
            f"(maxmemory-policy {policy}); set its maxmemory-policy to {_KEEPING}."
        )
        raise StartupError(msg)
