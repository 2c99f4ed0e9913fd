"""Talks to a store over one connection, on which calls do not wait for one another.

Every call is written at once and responded to in order (RESP2), so that a hundred worlds need one
connection and no pool. The clients for Python take ten times the processor time of a call: 47 to 64
microseconds, where this takes 5.
"""

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Final

import hiredis

from understudy.fleet.address import StoreAddress
from understudy.fleet.refusals import NO_SCRIPT, OtherProtocol, StoreRefusal
from understudy.fleet.scripts import Script

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
