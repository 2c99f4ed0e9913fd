"""Sends commands and scripts to a store over one pipelined connection.

Every call is written at once, and replies come in order (RESP2), so that a hundred worlds share one
connection without a pool. Existing clients for Python take ten times the CPU time per call: 47 to 64
microseconds instead of 5.
"""

import asyncio
import hashlib
import re
import socket
import ssl
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from importlib.resources import files
from ssl import SSLCertVerificationError
from struct import Struct
from typing import Any, Final, NamedTuple

import hiredis

from understudy.errors import InsufficientStorage, Problem, StoreUnavailable
from understudy.store_address import AUTHORITY_VARIABLE, PASSWORD_VARIABLE, StoreAddress

SCHEMA: Final = 3
"""Version of the format of stored data; replicas with another version cannot join."""


def reason_against_joining(address: StoreAddress, reply: Sequence[Any]) -> str:
    """Returns a message on why a replica cannot join, from a reply of the script ``JOIN``."""
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
    """Returns a message that the store is in use by a version with another schema."""
    order = "an older" if schema < SCHEMA else "a newer"
    return (
        f"The store at {address} is in use by {order} version of understudy ({version.decode()}); "
        "run that version here, or name another database."
    )


# The MessagePack decoder of the store's Lua (cmsgpack) has no binary type, so bytes are encoded as
# strings, as MessagePack did before 2013; msgspec's encoder cannot do that.

Packable = bool | int | str | bytes | Sequence["Packable"] | Mapping[str, "Packable"]
"""A value that a message may hold."""

_sized = Struct(">BI").pack
_number = Struct(">Bq").pack


def packed(value: Packable) -> bytes:
    """Returns a value encoded as MessagePack for the store's scripts."""
    parts: list[bytes] = []
    _pack(value, parts)
    return b"".join(parts)


def _pack(value: Packable, parts: list[bytes]) -> None:
    if isinstance(value, bytes):  # the most frequent type comes first
        parts += (_sized(0xDB, len(value)), value)
    elif isinstance(value, str):
        parts.append(_text(value))
    elif isinstance(value, int):
        parts.append(_whole_number(value))
    elif isinstance(value, (dict, Mapping)):  # dict first, as the check for Mapping is slow
        parts.append(_sized(0xDF, len(value)))
        for key, member in value.items():
            parts.append(_text(key))
            _pack(member, parts)
    else:
        parts.append(_sized(0xDD, len(value)))
        for item in value:
            _pack(item, parts)


def _whole_number(value: int) -> bytes:
    if value is True or value is False:
        return b"\xc3" if value else b"\xc2"
    return _number(0xD3, value)


@lru_cache(1024)  # messages repeat the same names of members and worlds
def _text(text: str) -> bytes:
    """Returns an encoded string."""
    encoded = text.encode()
    return _sized(0xDB, len(encoded)) + encoded


class Script(NamedTuple):
    """A Lua script for the store.

    Attributes:
        text: The source text.
        digest: SHA-1 of the text, by which EVALSHA runs a script that the store has cached.
    """

    text: str
    digest: str


def _script(name: str) -> Script:
    """Returns a script, with the functions that all scripts share in front."""
    directory = files(__package__) / "lua"
    text = "".join((directory / f"{part}.lua").read_text("utf-8") for part in ("shared", name))
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


JOIN = _script("join")
"""Lets a replica join the fleet, or replies why it cannot."""

COMMIT = _script("commit")
"""Commits a transaction, or replies with the state that differs from the replica's."""

PASS_TURN = _script("turn")
"""Passes the turn at a contended world on to the next replica."""

HISTORY = _script("history")
"""Replies with the stored changes of a world, for undoing them."""

STORED = _script("stored")
"""Lists the worlds with their size, or deletes one."""


_ADVICE: Final = {
    "WRONGPASS": f"Mend the user or the password in the URL, or {PASSWORD_VARIABLE}.",
    "NOAUTH": f"It requires a password: put it into the URL, or into {PASSWORD_VARIABLE}.",
    "NOPERM": "Give its user the rights that docs/how-to/fleet.md lists.",
    "READONLY": "It is a replica that takes no writes; name the primary.",
    "MASTERDOWN": "It is a replica without its primary; name the primary.",
    "LOADING": "It is still reading its files; wait a moment.",
    "MISCONF": "It cannot write to its disk, and takes no writes until it can.",
    "OOM": "Its memory is used up: end worlds, or give it a larger maxmemory.",
    "CROSSSLOT": "It is a cluster; a fleet needs one server.",
    "NOPASSWORD": f"Leave the password out of the URL and {PASSWORD_VARIABLE}, or set requirepass.",
    "NODATABASE": "Name a lower database number at the end of the URL, such as 0.",
}
"""Kind of error to advice for the user."""

_PHRASES: Final = {
    "ACL failure": "NOPERM",
    "can't run this command": "NOPERM",
    "The user executing the script can't": "NOPERM",
    "without any password configured": "NOPASSWORD",
    "DB index is out of range": "NODATABASE",
}
"""Phrase in an error message to the kind of error, for messages that begin with ``ERR``."""

_REST: Final = re.compile(r"\. | script: ([0-9a-f]{40}|on @)|, with args")
"""The place to cut an error message: script digests and arguments follow, maybe with a password."""

_MOST_SHOWN: Final = 160
"""Largest number of characters of the store's error in a message."""


class StoreRefusal(Exception):
    """Raised for an error reply of the store.

    Attributes:
        code: The kind of error: its first word, such as ``NOPERM``, or a key of ``_ADVICE``.
        words: The first sentence, without script digest and arguments.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        kind = next((kind for phrase, kind in _PHRASES.items() if phrase in message), None)
        # in an error within a script, the word comes after "ERR"
        kind = kind or next((it for it in _ADVICE if it in message), None)
        self.code = kind or message.partition(" ")[0]
        self.words = _REST.split(message, maxsplit=1)[0][:_MOST_SHOWN].rstrip(". ")


class OtherProtocol(ConnectionError):
    """Raised when one side of a connection uses TLS and the other does not.

    Attributes:
        advice: Advice for the user.
    """

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.advice = advice


def described(address: StoreAddress, error: Exception) -> str:
    """Returns a message about a failure of the store, with advice."""
    if isinstance(error, StoreRefusal):
        advice = _ADVICE.get(error.code, "It must be Valkey, or Redis 7 or newer.")
        return f"The store at {address} refuses: {error.words}. {advice}"
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    advice = "Start Valkey there, or correct the URL."
    if isinstance(error, OtherProtocol):
        advice = error.advice
    elif isinstance(error, SSLCertVerificationError):
        advice = f"Name the file with the authority of its certificate in {AUTHORITY_VARIABLE}."
    return f"The store at {address} does not respond: {reason}. {advice}"


def as_problem(address: StoreAddress, error: Exception) -> Problem:
    """Returns the error response to a request that needed the store."""
    if isinstance(error, StoreRefusal) and error.code == "OOM":
        return InsufficientStorage(described(address, error), code="insufficient_storage")
    return StoreUnavailable(described(address, error))


PATIENCE: Final = 2.0
"""Seconds that a call waits for its reply; then the connection is closed."""

Argument = bytes | str | int


class Connection(asyncio.Protocol):
    """A connection to a store, bound to one event loop."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader(protocolError=ConnectionError, replyError=StoreRefusal)
        self._calls: deque[asyncio.Future[Any]] = deque()
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self._notify: Callable[[bytes], object] | None = None
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, address: StoreAddress) -> "Connection":
        """Opens a connection, and signs in.

        Raises:
            OSError: The store does not respond.
            StoreRefusal: The store refuses to authenticate, or has no such database.
        """
        loop = asyncio.get_running_loop()
        context = _tls(address)
        async with asyncio.timeout(PATIENCE):
            _, connection = await loop.create_connection(
                cls, address.host, address.port, ssl=context
            )
            try:
                for command in _greeting(address):
                    await connection.call(*command)
            except BaseException:
                connection.close()
                raise
        return connection

    @property
    def is_usable(self) -> bool:
        """True if the connection is open and belongs to the running event loop."""
        return self._transport is not None and self._loop is asyncio.get_running_loop()

    def close(self) -> None:
        """Closes the connection; pending calls fail."""
        if self._transport is not None:
            self._transport.abort()
        self._end(ConnectionError("the connection was closed"))

    async def call(self, *command: Argument) -> Any:
        """Returns the reply to a command.

        Raises:
            OSError: The connection was lost, or no reply came in time; the command may or may not
                have been executed.
            StoreRefusal: The store refuses it.
        """
        if self._transport is None:
            msg = "the connection was lost"
            raise ConnectionError(msg)
        reply: asyncio.Future[Any] = self._loop.create_future()
        self._calls.append(reply)
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(_packed(command))
        timer = self._loop.call_later(PATIENCE, self._give_up)
        try:
            return await reply
        finally:
            timer.cancel()

    async def run(self, script: Script, message: bytes) -> Any:
        """Runs a script, and returns its reply; sends the text only if the store has not cached it.

        Raises:
            OSError: As ``call``.
            StoreRefusal: As ``call``.
        """
        try:
            return await self.call("EVALSHA", script.digest, 0, message)
        except StoreRefusal as refusal:
            if refusal.code != "NOSCRIPT":
                raise
        return await self.call("EVAL", script.text, 0, message)

    async def subscribe(self, channel: str, notify: Callable[[bytes], object]) -> None:
        """Subscribes to a channel; afterwards the connection cannot be used for other calls.

        Raises:
            OSError: As ``call``.
            StoreRefusal: As ``call``.
        """
        self._notify = notify
        await self.call("SUBSCRIBE", channel)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP has it
        """Stores the transport."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Assigns replies to calls in order, or hands messages of the channel to ``notify``."""
        self._reader.feed(data)
        try:
            while (reply := self._reader.gets()) is not False:
                if self._notify is not None and not self._calls:
                    self._notify(reply[2])
                    continue
                waiting = self._calls.popleft()
                if waiting.done():
                    continue
                if isinstance(reply, StoreRefusal):
                    waiting.set_exception(reply)
                else:
                    waiting.set_result(reply)
        except (ConnectionError, IndexError):
            self._end(ConnectionError("what it sends is not the protocol of Valkey"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Fails the pending calls."""
        self._end(exc or ConnectionError("the connection was lost"))

    def _flush(self) -> None:
        if self._transport is not None:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def _give_up(self) -> None:
        self._end(TimeoutError(f"no reply within {PATIENCE:g} seconds"))

    def _end(self, error: Exception) -> None:
        """Ends the connection, as after a lost reply, replies could not be assigned to calls."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
        while self._calls:
            waiting = self._calls.popleft()
            if not waiting.done():
                waiting.set_exception(error)


def send_once(address: StoreAddress, command: Sequence[Argument]) -> Any:
    """Opens a connection, and returns the reply to one command; needs no event loop.

    Raises:
        OSError: The store does not respond.
        StoreRefusal: The store refuses the command.
    """
    with ExitStack() as stack:
        plain = socket.create_connection((address.host, address.port), PATIENCE)
        connected = stack.enter_context(plain)
        context = _tls(address)
        if context is not None:
            connected = stack.enter_context(_secured(plain, context, address))
        reader = hiredis.Reader(protocolError=ConnectionError, replyError=StoreRefusal)
        first, *others = (*_greeting(address), command)
        try:
            reply = _reply(connected, reader, first)
        except (ConnectionResetError, BrokenPipeError) as error:
            if context is not None:
                raise
            msg = "it ends the connection at the first command, as a port for TLS does"
            advice = "Begin the URL with valkeys:// or rediss:// for TLS, or correct the port."
            raise OtherProtocol(msg, advice) from error
        for each in others:
            reply = _reply(connected, reader, each)
        return reply


def _secured(plain: socket.socket, context: ssl.SSLContext, address: StoreAddress) -> ssl.SSLSocket:
    """Returns a TLS connection over a plain one.

    Raises:
        OtherProtocol: The store does not use TLS at this port.
        ssl.SSLCertVerificationError: The store's certificate is not trusted.
    """
    try:
        return context.wrap_socket(plain, server_hostname=address.host)
    except ssl.SSLCertVerificationError:
        raise
    except OSError as error:  # a timeout: a plain port waits for the rest of an invalid command
        msg = "it does not begin TLS, as a port without it does not"
        advice = "Begin the URL with valkey:// or redis:// for none, or correct the port."
        raise OtherProtocol(msg, advice) from error


def _packed(command: Sequence[Argument]) -> bytes:
    encoded: bytes = hiredis.pack_command(tuple(command))  # type: ignore[arg-type]  # its stub says one item
    return encoded


def _reply(connected: socket.socket, reader: hiredis.Reader, command: Sequence[Argument]) -> Any:
    connected.sendall(_packed(command))
    while (reply := reader.gets()) is False:
        data = connected.recv(1 << 16)
        if not data:
            msg = "the connection was closed"
            raise ConnectionResetError(msg)
        reader.feed(data)
    if isinstance(reply, StoreRefusal):
        raise reply
    return reply


def _greeting(address: StoreAddress) -> list[tuple[Argument, ...]]:
    commands: list[tuple[Argument, ...]] = []
    if address.password is not None:
        user = (address.user,) if address.user else ()
        commands.append(("AUTH", *user, address.password))
    if address.database:
        commands.append(("SELECT", address.database))
    return commands


def _tls(address: StoreAddress) -> ssl.SSLContext | None:
    return ssl.create_default_context(cafile=address.authority) if address.is_tls else None
