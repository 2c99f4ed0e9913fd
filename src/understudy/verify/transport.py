"""The HTTP transport to a deployment, with a total timeout for a whole response.

httpcore keeps the connections, and writes and reads every message. Its timeouts are for single reads,
so that a response could arrive byte by byte for ever. Here no read waits beyond the deadline of its
response.
"""

import os
import re
import ssl
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cached_property, lru_cache
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import Any, Final, NamedTuple

import httpcore
import httpx

from understudy.errors import StartupError
from understudy.exchange.messages import Headers, Request, Response, headers_of, media_type


class Deadline(threading.local):
    """The moment, for each thread, at which the response that it waits for is cut off.

    Attributes:
        at: The moment, on the clock of ``time.monotonic``.
    """

    at: float = inf

    def bounded(self, timeout: float | None) -> float:
        """Returns a timeout, or the seconds until the deadline if these are fewer.

        Raises:
            httpcore.ReadTimeout: The deadline is over.
        """
        left = self.at - monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left if timeout is None else min(timeout, left)


class TimedStream(httpcore.NetworkStream):
    """A connection whose reads and writes do not wait beyond a deadline.

    Args:
        stream: The connection.
        deadline: The deadline of the running thread.
    """

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Reads the bytes that have arrived."""
        return self._stream.read(max_bytes, self._deadline.bounded(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Writes in pieces, and looks at the deadline before each."""
        for begin in range(0, len(buffer), _PIECE):
            piece = buffer[begin : begin + _PIECE]
            self._stream.write(piece, self._deadline.bounded(timeout))

    def close(self) -> None:
        """Closes the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Returns the connection with TLS."""
        secured = self._stream.start_tls(
            ssl_context, server_hostname, self._deadline.bounded(timeout)
        )
        return TimedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """Returns a property of the connection, such as its socket."""
        return self._stream.get_extra_info(info)


class TimedBackend(httpcore.SyncBackend):
    """Opens connections whose reads and writes do not wait beyond a deadline.

    Args:
        deadline: The deadline of the running thread.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def connect_tcp(self, *place: Any, **options: Any) -> httpcore.NetworkStream:
        """Opens a connection."""
        options["timeout"] = self._deadline.bounded(options.get("timeout"))
        return TimedStream(super().connect_tcp(*place, **options), self._deadline)


_PIECE: Final = 2**16
"""Bytes that are written at once."""

_CLOSE: Final = 0.01
"""Seconds before the deadline from which a timeout is attributed to it."""

LARGEST: Final = 8 * 2**20
"""Bytes of a response body; a larger one is cut, as judging it would take seconds."""

LARGEST_PICTURE: Final = 4 * LARGEST
"""The same of a picture, which is not parsed."""


class ValueTransport(httpx.BaseTransport, ABC):
    """A transport of understudy's own requests and responses, without conversion to httpx's."""

    @abstractmethod
    def respond(self, request: Request) -> Response:
        """Sends a request, and returns its response.

        Raises:
            httpx.HTTPError: No response was received, or one that is too large.
        """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request of httpx, for a client of httpx or a transport that wraps this one.

        Raises:
            httpx.HTTPError: No response was received, or one that is too large.
        """
        headers = headers_of(request.headers.multi_items())
        response = self.respond(Request(request.method, str(request.url), headers, request.read()))
        # The body is decoded already.
        kept = [(name, text) for name, text in response.headers if name != "content-encoding"]
        return httpx.Response(response.status, headers=kept, content=response.body)


def received(transport: httpx.BaseTransport, request: Request) -> Response:
    """Sends a request, and returns its response.

    Raises:
        httpx.HTTPError: No response was received, or one that is too large.
    """
    if isinstance(transport, ValueTransport):
        return transport.respond(request)
    sending = httpx.Request(
        request.method, request.url, headers=list(request.headers), content=request.body
    )
    with closing(transport.handle_request(sending)) as response:
        headers = headers_of(response.headers.multi_items())
        body = bounded(response.iter_bytes(), headers)
    return Response(response.status_code, headers, body)


def bounded(chunks: Iterable[bytes], headers: Headers) -> bytes:
    """Returns the body that is received in chunks, below these headers.

    Raises:
        httpx.ReadError: The body is too large.
    """
    body = bytearray()
    most = LARGEST_PICTURE if media_type(headers).startswith("image/") else LARGEST
    for chunk in chunks:
        body += chunk
        if len(body) > most:
            msg = f"the response is larger than {most // 2**20} MiB and was cut"
            raise httpx.ReadError(msg)
    return bytes(body)


TOTAL_TIMEOUT = timedelta(seconds=60)
"""The total timeout of one response, from its request to its last byte."""

AFTER_END = timedelta(seconds=5)
"""The same after the end of the run's time: for requests under way, and for undoing changes."""

WITH_BODY: Final = frozenset({"PATCH", "POST", "PUT"})
"""Methods whose requests have ``Content-Length: 0`` if the body is empty (RFC 9110, 8.6)."""

ENCODINGS: Final = ("ascii", "utf-8")
"""Encodings of headers: the first that all of them fit, and otherwise ISO 8859-1."""

_TIMEOUT: Final = httpx.Timeout(30.0).as_dict()
"""Seconds until a connection is made, and of each read and write."""

_POOL: Final[dict[str, Any]] = {"max_connections": None, "keepalive_expiry": 5.0}
"""Threads that send at once get a connection each; many servers close one that is idle for longer."""

_AUTHORITIES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""The variables that name the certificates of trusted authorities instead of the usual ones."""

_URLS: Final = 1024
"""Parsed URLs that are cached: more than a run requests repeatedly."""


class RequestAddress(NamedTuple):
    """A URL as a request needs it: in the parts that httpcore takes, and the ``Host`` header."""

    url: httpcore.URL
    authority: bytes


@lru_cache(maxsize=_URLS)
def address_of(url: str) -> RequestAddress:
    """Returns the address of a URL, with its target percent-encoded as necessary.

    Raises:
        httpx.InvalidURL: The text is not a URL.
        httpx.UnsupportedProtocol: The scheme is neither http nor https.
    """
    parsed = httpx.URL(url)
    if parsed.scheme not in {"http", "https"}:
        msg = f"the URL {url!r} begins with neither http:// nor https://"
        raise httpx.UnsupportedProtocol(msg)
    parts = httpcore.URL(
        scheme=parsed.raw_scheme,
        host=parsed.raw_host,
        port=parsed.port,
        target=parsed.raw_path,
    )
    return RequestAddress(parts, parsed.netloc)


class DeploymentTransport(ValueTransport):
    """Sends requests over sockets; it follows no redirect, keeps no cookie and uses no proxy.

    Args:
        timeout: The total timeout of one response.
        trusted: The authorities that are trusted; None for those of httpx, or of the environment.
    """

    def __init__(
        self, timeout: timedelta = TOTAL_TIMEOUT, trusted: ssl.SSLContext | None = None
    ) -> None:
        self._trusted = trusted
        self._timeout = timeout
        self._end = inf
        self._deadline = Deadline()
        self._pool = {**_POOL, "network_backend": TimedBackend(self._deadline)}
        self._plain = httpcore.ConnectionPool(**self._pool)

    @cached_property
    def _secured(self) -> httpcore.ConnectionPool:
        """The connections over TLS; reading the trusted authorities takes 20 ms.

        Raises:
            StartupError: The authorities that the environment names cannot be read.
        """
        try:
            trusted = self._trusted or httpx.create_ssl_context()
        except OSError as error:  # ssl.SSLError is one
            named = [f"{it}={os.environ[it]}" for it in _AUTHORITIES if it in os.environ]
            why = error.strerror or error
            msg = f"{', '.join(named)}: the trusted authorities cannot be read: {why}."
            raise StartupError(msg) from error
        return httpcore.ConnectionPool(trusted, **self._pool)

    def end_after(self, span: timedelta) -> None:
        """Cuts responses off soon after a span from now, when the run is over."""
        self._end = monotonic() + span.total_seconds()

    def _seconds(self) -> float:
        """Returns the seconds after which a response is cut off."""
        left = max(self._end - monotonic(), AFTER_END.total_seconds())
        return min(self._timeout.total_seconds(), left)

    def respond(self, request: Request) -> Response:
        """Sends a request, and returns its response, which is cut off when the timeout ends.

        Raises:
            httpx.InvalidURL: The request's URL is not valid.
            httpx.HTTPError: The request cannot be sent; or no response was received, not in time, or
                one that is too large.
            UnicodeEncodeError: A header is not ASCII.
        """
        address = address_of(request.url)
        pool = self._secured if address.url.scheme == b"https" else self._plain
        sending = httpcore.Request(
            request.method.upper(),
            address.url,
            headers=_sent_headers(request, address.authority),
            content=request.body,
            extensions={"timeout": _TIMEOUT},
        )
        seconds = self._seconds()
        self._deadline.at = monotonic() + seconds
        try:
            with _errors_of_httpx():
                return _exchanged(pool, sending)
        except httpx.TimeoutException as error:
            if self._deadline.at - monotonic() > _CLOSE:
                raise
            msg = f"the response took longer than {seconds:.3g} s and was cut"
            raise httpx.ReadTimeout(msg) from error

    def close(self) -> None:
        """Closes every connection."""
        self._plain.close()
        if "_secured" in vars(self):
            self._secured.close()


def _exchanged(pool: httpcore.ConnectionPool, sending: httpcore.Request) -> Response:
    with closing(pool.handle_request(sending)) as response:
        headers = _texts(response.headers)
        chunks: Iterator[bytes] = response.iter_stream()
        if any(name == "content-encoding" for name, _ in headers):
            whole = httpx.Response(response.status, headers=headers, content=chunks)
            chunks = whole.iter_bytes()
        return Response(response.status, headers, bounded(chunks, headers))


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """Converts errors of httpcore into those of httpx, which have the same names."""
    try:
        yield
    except (
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.TimeoutException,
    ) as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error


def _sent_headers(request: Request, authority: bytes) -> list[tuple[bytes, bytes]]:
    """Returns the headers of a request with those that it lacks (RFC 9112, 3.2 and 6.3).

    Raises:
        httpx.LocalProtocolError: ``Content-Length`` is not the length of the body.
        UnicodeEncodeError: A header is not ASCII.
    """
    names = {name for name, _ in request.headers}
    headers = [(name.encode("ascii"), text.encode("ascii")) for name, text in request.headers]
    length = str(len(request.body))
    if any(name == "content-length" and text != length for name, text in request.headers):
        msg = f"the body has {length} bytes, and Content-Length says otherwise"
        raise httpx.LocalProtocolError(msg)
    if names.isdisjoint({"content-length", "transfer-encoding"}):
        if request.body:
            headers.append((b"Content-Length", length.encode()))
        elif request.method.upper() in WITH_BODY:
            headers.insert(0, (b"Content-Length", b"0"))
    if "host" not in names:
        headers.insert(0, (b"Host", authority))
    return headers


def _texts(headers: list[tuple[bytes, bytes]]) -> Headers:
    """Returns headers with their names in lower case, as an exchange keeps them."""
    for encoding in ENCODINGS:
        try:
            return _decoded(headers, encoding)
        except UnicodeDecodeError:
            continue
    return _decoded(headers, "iso-8859-1")


def _decoded(headers: list[tuple[bytes, bytes]], encoding: str) -> Headers:
    return tuple((name.decode(encoding).lower(), text.decode(encoding)) for name, text in headers)


_MOST_NEEDLESS: Final = 3
"""Logins in a row that changed no refusal, before none follows until a token is accepted again."""


class RenewingTransport(ValueTransport):
    """Logs in again when a token is no longer accepted, and sends the newest one in its place.

    Tokens of logins are often short-lived, and an operation that a run tries may end the session; all
    later responses would be 401 then. Reports and checks see the first token only.

    Args:
        transport: Sends the requests.
        renewals: The first token of each login to a function that logs in again.
    """

    def __init__(
        self, transport: httpx.BaseTransport, renewals: Mapping[str, Callable[[], str]]
    ) -> None:
        self._transport = transport
        self._renewals = renewals
        self._newest = {first: first for first in renewals}
        self._needless = dict.fromkeys(renewals, 0)
        self._lock = threading.Lock()

    def respond(self, request: Request) -> Response:
        """Sends a request; once more after a login, if its token was refused with 401.

        If the login is refused, too, the 401 stands, and no further login follows.

        Raises:
            httpx.HTTPError: No response was received, or one that is too large.
        """
        first = next((it for it in self._renewals if _has(request, it)), None)
        if first is None:
            return received(self._transport, request)
        newest = self._newest[first]
        response = received(self._transport, _with(request, first, newest))
        if response.status != HTTPStatus.UNAUTHORIZED:
            self._needless[first] = 0
            return response
        with self._lock:
            if self._newest[first] == newest and self._needless[first] < _MOST_NEEDLESS:
                try:
                    self._newest[first] = self._renewals[first]()
                except StartupError:  # the run goes on, as its changes have to be undone
                    self._needless[first] = _MOST_NEEDLESS
        if self._newest[first] == newest:
            return response
        response = received(self._transport, _with(request, first, self._newest[first]))
        self._needless[first] += response.status == HTTPStatus.UNAUTHORIZED
        return response

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()


def _has(request: Request, token: str) -> bool:
    """Tells whether a request has a token once, in a header as clients usually write it."""
    usual = re.compile(rf"(?:(?:Bearer )?|.*=){re.escape(token)}(?:;.*)?")
    return sum(usual.fullmatch(text) is not None for _, text in request.headers) == 1


def _with(request: Request, first: str, newest: str) -> Request:
    headers = tuple((name, text.replace(first, newest)) for name, text in request.headers)
    return replace(request, headers=headers)
