"""Talks to a store over one connection, on which calls do not wait for one another.

Every call is written at once and responded to in order (RESP2), so that a hundred worlds need one
connection and no pool. The clients for Python take ten times the processor time of a call: 47 to 64
microseconds, where this takes 5.
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


# The decoder of the store's scripts knows no binary type, so bytes are written as text, as
# MessagePack had it before 2013; no encoder of ours does that.

Packable = bool | int | str | bytes | Sequence["Packable"] | Mapping[str, "Packable"]
"""A value that a message may hold."""

_sized = Struct(">BI").pack
_number = Struct(">Bq").pack


def packed(value: Packable) -> bytes:
    """Returns a value as MessagePack."""
    parts: list[bytes] = []
    _pack(value, parts)
    return b"".join(parts)


def _pack(value: Packable, parts: list[bytes]) -> None:
    if isinstance(value, bytes):  # most values of a message are
        parts += (_sized(0xDB, len(value)), value)
    elif isinstance(value, str):
        parts.append(_text(value))
    elif isinstance(value, int):
        parts.append(_whole_number(value))
    elif isinstance(value, (dict, Mapping)):  # the first is told at once
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


@lru_cache(1024)  # replies repeat the same names
def _text(text: str) -> bytes:
    """Returns a text, which is a member's name or that of a world as a rule."""
    encoded = text.encode()
    return _sized(0xDB, len(encoded)) + encoded


class Script(NamedTuple):
    """A script in Lua.

    Attributes:
        text: The whole of it.
        digest: What the store knows it by once it has run.
    """

    text: str
    digest: str


def _script(name: str) -> Script:
    """Returns a script behind the functions that all of them share."""
    directory = files(__package__) / "lua"
    text = "".join((directory / f"{part}.lua").read_text("utf-8") for part in ("shared", name))
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


JOIN = _script("join")
"""Lets a replica join the fleet, or says why it cannot."""

COMMIT = _script("commit")
"""Commits a transaction, or says what is not as the replica believes."""

PASS_TURN = _script("turn")
"""Passes on the turn at a world that several replicas change at once."""

HISTORY = _script("history")
"""Says how to undo the last changes of a world."""

STORED = _script("stored")
"""Lists the worlds, with what they take of the store, or ends one."""


NO_SCRIPT: Final = "NOSCRIPT"

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
"""The kind of an error of the store to what to do."""

_PHRASES: Final = {
    "ACL failure": "NOPERM",
    "can't run this command": "NOPERM",
    "The user executing the script can't": "NOPERM",
    "without any password configured": "NOPASSWORD",
    "DB index is out of range": "NODATABASE",
}
"""A phrase of the store to the kind of error, where its first word is only ``ERR``."""

_REST: Final = re.compile(r"\. | script: ([0-9a-f]{40}|on @)|, with args")
"""Ends the first sentence of an error; the number of a script follows, or arguments, which may be a password."""

_MOST_SHOWN: Final = 160
"""Characters of an error of the store that a message has."""


class StoreRefusal(Exception):
    """An error that the store replied with.

    Attributes:
        code: Its kind: its first word, such as ``NOPERM``, or one of ours where that is only ``ERR``.
        words: Its first sentence, without the number of a script and the arguments of a command.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        kind = next((kind for phrase, kind in _PHRASES.items() if phrase in message), None)
        # an error within a script has its word after "ERR"
        kind = kind or next((it for it in _ADVICE if it in message), None)
        self.code = kind or message.partition(" ")[0]
        self.words = _REST.split(message, maxsplit=1)[0][:_MOST_SHOWN].rstrip(". ")


class OtherProtocol(ConnectionError):
    """The failure of a connection that one side began with TLS and the other one without.

    Attributes:
        advice: What to do.
    """

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.advice = advice


def described(address: StoreAddress, error: Exception) -> str:
    """Returns what is wrong with a store, and what to do."""
    if isinstance(error, StoreRefusal):
        advice = _ADVICE.get(error.code, "It must be Valkey, or Redis 7 or newer.")
        return f"The store at {address} refuses: {error.words}. {advice}"
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    advice = "Start Valkey there, or mend the URL."
    if isinstance(error, OtherProtocol):
        advice = error.advice
    elif isinstance(error, SSLCertVerificationError):
        advice = f"Name the file with the authority of its certificate in {AUTHORITY_VARIABLE}."
    return f"The store at {address} does not respond: {reason}. {advice}"


def as_problem(address: StoreAddress, error: Exception) -> Problem:
    """Returns the response to a request that needed the store."""
    if isinstance(error, StoreRefusal) and error.code == "OOM":
        return InsufficientStorage(described(address, error), code="insufficient_storage")
    return StoreUnavailable(described(address, error))


PATIENCE: Final = 2.0
"""Seconds that a call waits for its reply; afterwards the connection is given up."""

Argument = bytes | str | int


class Connection(asyncio.Protocol):
    """A connection to a store, of one event loop."""

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
            StoreRefusal: It does not let this process in.
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
        """True if calls can be made, on the running event loop."""
        return self._transport is not None and self._loop is asyncio.get_running_loop()

    def close(self) -> None:
        """Closes the connection; calls that wait get an error."""
        if self._transport is not None:
            self._transport.abort()
        self._end(ConnectionError("the connection was closed"))

    async def call(self, *command: Argument) -> Any:
        """Returns the reply to a command.

        Raises:
            OSError: The connection is lost, or the reply does not come; nobody knows whether the
                command was carried out.
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
        """Returns what a script returns; the store is sent its text when it does not know it.

        Raises:
            OSError: As ``call``.
            StoreRefusal: As ``call``.
        """
        try:
            return await self.call("EVALSHA", script.digest, 0, message)
        except StoreRefusal as refusal:
            if refusal.code != NO_SCRIPT:
                raise
        return await self.call("EVAL", script.text, 0, message)

    async def subscribe(self, channel: str, notify: Callable[[bytes], object]) -> None:
        """Subscribes to a channel; the connection takes no other calls from then on.

        Args:
            channel: The name of the channel.
            notify: Takes each message.

        Raises:
            OSError: As ``call``.
            StoreRefusal: As ``call``.
        """
        self._notify = notify
        await self.call("SUBSCRIBE", channel)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP has it
        """Takes the transport."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Takes replies."""
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
        """Fails the calls that wait."""
        self._end(exc or ConnectionError("the connection was lost"))

    def _flush(self) -> None:
        if self._transport is not None:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def _give_up(self) -> None:
        self._end(TimeoutError(f"no reply within {PATIENCE:g} seconds"))

    def _end(self, error: Exception) -> None:
        """Ends the connection: after a lost reply nobody could tell whose the next one is."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
        while self._calls:
            waiting = self._calls.popleft()
            if not waiting.done():
                waiting.set_exception(error)


def send_once(address: StoreAddress, command: Sequence[Argument]) -> Any:
    """Returns the reply to a command, for those who have no event loop.

    Raises:
        OSError: The store does not respond.
        StoreRefusal: It refuses.
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
            advice = "Begin the URL with valkeys:// or rediss:// for TLS, or mend the port."
            raise OtherProtocol(msg, advice) from error
        for each in others:
            reply = _reply(connected, reader, each)
        return reply


def _secured(plain: socket.socket, context: ssl.SSLContext, address: StoreAddress) -> ssl.SSLSocket:
    """Returns the connection with TLS.

    Raises:
        OtherProtocol: The store does not begin TLS.
        ssl.SSLCertVerificationError: Its certificate is not trusted.
    """
    try:
        return context.wrap_socket(plain, server_hostname=address.host)
    except ssl.SSLCertVerificationError:
        raise
    except OSError as error:  # Valkey and Redis wait for the end of what is not a command to them
        msg = "it does not begin TLS, as a port without it does not"
        advice = "Begin the URL with valkey:// or redis:// for none, or mend the port."
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
