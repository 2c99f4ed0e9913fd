"""The HTTP transport to a deployment, with a total timeout for a whole response.

httpcore keeps the connections, and writes and reads every message. Its timeouts are for single reads,
so a response that arrives byte by byte would take for ever. When the total timeout ends, the
connection is shut down, which ends the read that waits for it.
"""

import os
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from functools import cached_property, lru_cache
from time import monotonic
from typing import Any, Final, NamedTuple

import httpcore
import httpx

from understudy.errors import StartupError
from understudy.exchange.messages import Headers, Request, Response, headers_of

# One thread cuts all the responses of a transport that take too long: a timer for each request would
# be a thread of the operating system for each request.


class Watch:
    """One response that is watched.

    Args:
        seconds: How long it may take.

    Attributes:
        deadline: When it is cut, on the clock of ``time.monotonic``.
        is_cut: True once it was cut.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.deadline = monotonic() + seconds
        self.is_cut = False

    def reason(self, error: httpx.HTTPError) -> httpx.HTTPError:
        """Returns the error that explains a broken connection."""
        return self.slowness if self.is_cut else error

    @property
    def slowness(self) -> httpx.ReadTimeout:
        """The error of a response that was cut."""
        return httpx.ReadTimeout(f"the response took longer than {self._seconds:g} s and was cut")


class Watchdog:
    """Watches responses; its thread ends with `close`, or when it had nothing to watch for a while.

    Args:
        seconds: How long each response may take.
        cut: Shuts down every connection; called when a response is too late.
    """

    def __init__(self, seconds: float, cut: Callable[[], None]) -> None:
        self._seconds = seconds
        self._cut = cut
        self._watches: set[Watch] = set()
        # Entered by itself: an interrupt of the main thread at the end of Condition.__enter__, which is
        # written in Python, would leave the lock taken for good.
        self._lock = threading.Lock()
        self._condition = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def begin(self) -> Watch:
        """Watches a response from now on."""
        watch = Watch(self._seconds)
        with self._lock:
            self._watches.add(watch)
            if self._thread is None:
                self._is_closed = False
                self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
                self._thread.start()
        return watch

    def end(self, watch: Watch) -> None:
        """Watches a response no longer."""
        with self._lock:
            self._watches.discard(watch)

    def close(self) -> None:
        """Ends the thread."""
        with self._lock:
            self._is_closed = True
            self._condition.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        with self._lock:
            is_idle = False
            while not self._is_closed and not (is_idle and not self._watches):
                is_idle = not self._watches
                # Nobody wakes the thread for a new watch: its deadline is later than this wait's end.
                self._condition.wait(self._until_next())
                self._cut_late()
            self._thread = None

    def _until_next(self) -> float:
        """Returns the seconds until the next deadline that there is or can be."""
        earliest = min((watch.deadline for watch in self._watches), default=None)
        return self._seconds if earliest is None else max(0.0, earliest - monotonic())

    def _cut_late(self) -> None:
        now = monotonic()
        late = {watch for watch in self._watches if watch.deadline <= now}
        if not late:
            return
        self._watches -= late
        for watch in late:
            watch.is_cut = True
        self._cut()


LARGEST = 32 * 2**20
"""Bytes of a response body; a larger one is cut."""


class ValueTransport(httpx.BaseTransport, ABC):
    """A transport of requests and responses as values, which need not become httpx's and back."""

    @abstractmethod
    def respond(self, request: Request) -> Response:
        """Sends a request, and returns its response.

        Raises:
            httpx.HTTPError: No response was received, or one that is too large.
        """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request of httpx, for a client or a transport that stands before this one.

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
        body = bounded(response.iter_bytes())
    return Response(response.status_code, headers_of(response.headers.multi_items()), body)


def bounded(chunks: Iterable[bytes]) -> bytes:
    """Returns the body that is received in chunks.

    Raises:
        httpx.ReadError: It is too large.
    """
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > LARGEST:
            msg = f"the response is larger than {LARGEST // 2**20} MiB and was cut"
            raise httpx.ReadError(msg)
    return bytes(body)


TOTAL_TIMEOUT = timedelta(seconds=60)
"""The total timeout of one response, from its request to its last byte."""

WITH_BODY: Final = frozenset({"PATCH", "POST", "PUT"})
"""Methods whose request says that its body is empty (RFC 9110, 8.6)."""

ENCODINGS: Final = ("ascii", "utf-8")
"""Encodings of headers: the first that all of them fit, and otherwise ISO 8859-1."""

_TIMEOUT: Final = httpx.Timeout(30.0).as_dict()
"""Seconds until a connection is made, and of each read and write."""

_POOL: Final[dict[str, Any]] = {"max_connections": None, "keepalive_expiry": 5.0}
"""Threads that send at once get a connection each; many servers close one that is idle for longer."""

_AUTHORITIES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""The variables that name the certificates of trusted authorities instead of the usual ones."""

_URLS: Final = 1024
"""URLs that are kept parsed; those of one run that are requested again are among them."""


class RequestAddress(NamedTuple):
    """A URL as a request needs it: in the parts that httpcore takes, and the ``Host`` header."""

    url: httpcore.URL
    authority: bytes


@lru_cache(maxsize=_URLS)
def address_of(url: str) -> RequestAddress:
    """Returns the address of a URL, whose target is percent-encoded where it has to be.

    Raises:
        httpx.InvalidURL: It is not a URL.
        httpx.UnsupportedProtocol: It is not one of HTTP.
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
    """

    def __init__(self, timeout: timedelta = TOTAL_TIMEOUT) -> None:
        self._plain = httpcore.ConnectionPool(**_POOL)
        self._streams: list[httpcore.NetworkStream] = []
        self._watchdog = Watchdog(timeout.total_seconds(), self._cut)
        self._extensions = {"timeout": _TIMEOUT, "trace": self._trace}

    @cached_property
    def _secured(self) -> httpcore.ConnectionPool:
        """The connections over TLS; reading the trusted authorities takes 20 ms.

        Raises:
            StartupError: The authorities that the environment names cannot be read.
        """
        try:
            trusted = httpx.create_ssl_context()
        except OSError as error:  # ssl.SSLError is one
            named = [f"{it}={os.environ[it]}" for it in _AUTHORITIES if it in os.environ]
            why = error.strerror or error
            msg = f"{', '.join(named)}: the trusted authorities cannot be read: {why}."
            raise StartupError(msg) from error
        return httpcore.ConnectionPool(trusted, **_POOL)

    def respond(self, request: Request) -> Response:
        """Sends a request, and returns its response, which is cut when the timeout ends.

        Raises:
            httpx.InvalidURL: The request has no URL.
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
            extensions=self._extensions,
        )
        watch = self._watchdog.begin()
        try:
            with _errors_of_httpx():
                response = _exchanged(pool, sending)
        except httpx.HTTPError as error:
            raise watch.reason(error) from error
        finally:
            self._watchdog.end(watch)
        if watch.is_cut:  # a body that ends with its connection looks whole
            raise watch.slowness
        return response

    def close(self) -> None:
        """Closes every connection, and ends the thread that watches them."""
        self._plain.close()
        if "_secured" in vars(self):
            self._secured.close()
        self._watchdog.close()

    def _trace(self, name: str, info: dict[str, Any]) -> None:
        if name in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            self._streams = [stream for stream in self._streams if _is_open(stream)]
            self._streams.append(info["return_value"])

    def _cut(self) -> None:
        """Shuts down every connection; whoever waits for one gets an error."""
        for stream in self._streams:
            with suppress(OSError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def _exchanged(pool: httpcore.ConnectionPool, sending: httpcore.Request) -> Response:
    with closing(pool.handle_request(sending)) as response:
        headers = _texts(response.headers)
        chunks: Iterator[bytes] = response.iter_stream()
        if any(name == "content-encoding" for name, _ in headers):
            whole = httpx.Response(response.status, headers=headers, content=chunks)
            chunks = whole.iter_bytes()
        return Response(response.status, headers, bounded(chunks))


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """Raises what httpx, which has the same names, raises for an error of httpcore."""
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
        httpx.LocalProtocolError: Its body has another length than it says.
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


def _is_open(stream: httpcore.NetworkStream) -> bool:
    return bool(stream.get_extra_info("socket").fileno() != -1)
