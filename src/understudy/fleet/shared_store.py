"""Shares worlds with other replicas, through a Valkey or Redis server.

Each replica keeps copies of the worlds that its requests select. A request is handled on a copy, and
committed by one script in the store: it compares the tags of the worlds, and then either applies the
changes and appends to the journal, or replies with the newer state, and the request is repeated.
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
from understudy.mock.server.worlds import DEFAULT, Snapshot, World, WorldSelection
from understudy.mock.settings import Settings
from understudy.mock.store.state_rows import Rows
from understudy.store_address import StoreAddress, store_address

LISTING: Final = (f"{BASE_PATH}/worlds", f"{BASE_PATH}/snapshots", f"{BASE_PATH}/exercised")
"""Prefixes of the paths whose handlers use the list of worlds or of snapshots."""

HISTORIES: Final = f"{BASE_PATH}/changes"
"""Prefix of the paths whose handlers use the whole history of a world."""


_log = logging.getLogger(__name__)

_REPLICA_BYTES = 8  # half of a tag; the other half counts commits

SNAPSHOTS: Final = "understudy:snapshots"


class SharedWorldStore:
    """A replica's access to the shared store.

    Args:
        address: The server.
        worlds: The worlds of the mock, with the default world in its initial state.
        pinned: Name to digest of the files and options that all replicas must have in common.

    Attributes:
        rows: Encodes and decodes records.
        copies: The copies of the worlds.
        listed: The replica's copy of the list of worlds and snapshots.
        link: The connection to the store, and its clock.
        turns: The turns at worlds that several replicas change at once.
    """

    def __init__(
        self,
        address: StoreAddress,
        worlds: ReplicatedWorlds,
        pinned: Mapping[str, str],
    ) -> None:
        self._address = address
        self._worlds = worlds
        self._pinned = pinned
        self.rows = Rows(worlds.default.baseline)
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

    def join(self) -> None:
        """Joins the fleet; called before the event loop starts.

        Raises:
            StartupError: The store does not respond, or the replica differs from the others.
        """
        try:
            reply = send_once(self._address, ("EVAL", JOIN.text, 0, self._join_message()))
            clock = self.link.clock
            clock.measure(clock.begin(), send_once(self._address, ("TIME",)))
            # so that a missing permission is reported at the start
            send_once(self._address, ("SUBSCRIBE", CHANNEL))
        except (OSError, StoreRefusal) as error:
            msg = f"--state: {described(self._address, error)}"
            raise StartupError(msg) from error
        try:
            with self.decoding():
                reason = self._joined(reply)
        except StoreUnavailable as problem:
            reason = problem.message
        if reason is not None:
            msg = f"--state: {reason}"
            raise StartupError(msg)
        worlds = self._worlds
        worlds.default.clock = clock.of(worlds.default.clock.setting)
        worlds.store = worlds.default.store = ChangeGatherer(self.rows, self.refresh)

    def _join_message(self) -> bytes:
        tag = self.next_tag()
        default = self._worlds.default
        return packed(
            {
                "id": tag,
                "schema": SCHEMA,
                "version": version(),
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
        """Handles the reply to an attempt to join; returns the reason of a refusal, or None."""
        if reply[0] == b"joined":
            self._fleet = reply[1]
            self._worlds.started = datetime.fromtimestamp(reply[2] / 1e6, UTC)
            return None
        return reason_against_joining(self._address, reply)

    def serve(self, endpoints: Iterable[Endpoint]) -> None:
        """Sets the operations of the served documents, which journals refer to."""
        self._endpoints.clear()
        self._endpoints.update((endpoint_name(endpoint), endpoint) for endpoint in endpoints)

    async def close(self) -> None:
        """Closes the connections to the store; the next request opens new ones."""
        self.link.close()

    def next_tag(self) -> bytes:
        """Returns a tag for a commit, which is unique in the fleet."""
        return self._replica + next(self._commits).to_bytes(_REPLICA_BYTES)

    async def prepare(self, selected: WorldSelection) -> frozenset[str]:
        """Loads the world that a request selects; returns the names for its transaction.

        Raises:
            StoreUnavailable: The store does not respond.
            Superseded: The store was replaced or emptied.
        """
        with self.decoding():
            name = await self._loaded(selected)
        if selected.path.startswith(HISTORIES) and self.copies.of(name).changed:
            await self._load_history(name)
        return frozenset({name, LIST} if selected.path.startswith(LISTING) else {name})

    async def _load_history(self, name: str) -> None:
        """Loads the history of a world from before it was loaded."""
        message = packed({"name": name, "id": self.copies.of(name).id})
        try:
            reply = await (await self.link.connected()).run(HISTORY, message)
        except (OSError, StoreRefusal) as error:
            raise as_problem(self._address, error) from error
        if reply[0] == b"history" and self.copies.of(name).changed:
            with self.decoding():
                self.copies.add_history(name, *reply[1:])

    async def _loaded(self, selected: WorldSelection) -> str:
        """Loads a selected world if it is not known here; returns its name, or the default one's."""
        name = selected.name or DEFAULT
        if not self.copies.of(name).id and name != DEFAULT:
            await self._refresh(name)
            if self._worlds.find(name) is None and selected.is_certain:
                await self._refresh(name, LIST)  # the error message suggests similar names
        return DEFAULT if self._worlds.find(name) is None else name

    async def _refresh(self, name: str, *others: str, is_steering: bool = False) -> None:
        transaction = await self.begin(frozenset({name, *others}))
        try:
            await transaction.refresh([name], is_steering=is_steering)
        finally:
            transaction.end()

    def ended(self, names: Iterable[str]) -> None:
        """Ends the transaction on these worlds."""
        self._used -= Counter(names)

    def drop_copies(self) -> None:
        """Drops some of the copies beyond the limit, unless a request uses the list of worlds."""
        if not self._locks.of(LIST).locked():
            self.copies.drop(self._used, is_listed=bool(self.listed.tag))

    async def begin(self, names: frozenset[str]) -> ReplicaTransaction:
        """Begins a transaction on these worlds, once no other transaction uses them."""
        self._used.update(names)  # before waiting, so that the copies are not dropped meanwhile
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
        """Waits for the turn at a contended world, and updates the copy with the changes."""
        try:
            news = await self.turns.wait(name, self.copies.of(name).tag)
            if news is not None:
                _, states, windows, _ = news
                with self.decoding():
                    self.copies.update_all(states, windows)
        except (asyncio.CancelledError, StoreUnavailable):
            for lock in locks:
                lock.release()
            self.ended((name,))
            raise

    async def refresh(self, world: World) -> None:
        """Updates the copy of a world with its journal, and the list of worlds.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        with suppress(Superseded):
            await self._refresh(world.name, LIST, is_steering=True)

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Returns a context manager for decoding replies of the store.

        Raises:
            StoreUnavailable: The reply cannot be decoded, as no replica has written the data.
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
        """Runs the commit script, and returns its reply.

        Raises:
            StoreUnavailable: The store does not respond.
            InsufficientStorage: The store is full.
            Superseded: The store was replaced or emptied; this replica has joined the new fleet.
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
                with self.decoding():
                    await self._rejoin(connection)
            raise Superseded
        return reply

    async def _snapshot(self, name: str) -> Snapshot | None:
        """Loads a snapshot; None if it was deleted.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        try:
            row = await (await self.link.connected()).call("HGET", SNAPSHOTS, name)
        except (OSError, StoreRefusal) as error:
            raise as_problem(self._address, error) from error
        with self.decoding():
            return None if row is None else self.rows.decoded_snapshot(row)

    async def _rejoin(self, connection: Connection) -> None:
        """Joins the new fleet of a store that was replaced or emptied.

        Raises:
            StoreUnavailable: Other replicas began a fleet that this one cannot join.
        """
        worlds = self._worlds
        self.copies.forget_all()
        self.listed.forget()
        store, worlds.default.store = worlds.default.store, None
        worlds.default.become(worlds.default.beginning)
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
"""The maxmemory-policy of a store that deletes only expired keys by itself."""


def joined(
    default: World, url: str, settings: Settings, pinned: Mapping[str, str]
) -> tuple[ReplicatedWorlds, SharedWorldStore]:
    """Joins the fleet of a store; returns the worlds and the store.

    Args:
        default: The default world in its initial state.
        url: The URL of the store.
        settings: The settings of the mock.
        pinned: Name to digest of the files and options that all replicas must have in common.

    Raises:
        StartupError: The store cannot be used, evicts keys, or the replica differs from others.
    """
    address = store_address(url)
    worlds = ReplicatedWorlds(
        default, requires_name=settings.require_world, capacity=settings.journal
    )
    store = SharedWorldStore(address, worlds, pinned)
    store.join()
    _expect_no_eviction(address)
    return worlds, store


def _expect_no_eviction(address: StoreAddress) -> None:
    """Expects a store that refuses writes when its memory is used up, or whose policy is unknown.

    Raises:
        StartupError: The store evicts keys instead, and would lose worlds.
    """
    try:
        about = send_once(address, ("INFO", "memory")).decode()
    except (OSError, StoreRefusal):  # the permission for INFO is optional
        return
    facts = dict(line.partition(":")[::2] for line in about.splitlines())
    policy = facts.get("maxmemory_policy", _KEEPING)
    if policy != _KEEPING:
        msg = (
            f"--state: The store at {address} deletes worlds when its memory is used up "
            f"(maxmemory-policy {policy}); set its maxmemory-policy to {_KEEPING}."
        )
        raise StartupError(msg)
