"""Holds what a request says before its body: the same for every client that sends the same bytes.

Clients repeat themselves, so what follows from a head alone is worked out once, and kept on it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from understudy.limits import TARGET_BYTES
from understudy.mock.server.world_names import (
    PREFIX,
    WorldSelection,
    named_by_headers,
    named_by_path,
)
from understudy.openapi.paths import ENCODED_SLASH, decoded_path

Scope = Any
"""An ASGI scope; ``Any`` because ASGI types it as a mapping that everybody may write to."""

HeaderFields = Sequence[tuple[bytes, bytes]]


class Peer(NamedTuple):
    """The two ends of a connection.

    Attributes:
        client: The client's address.
        server: Host and port that the connection came in at; the port is None where there is none.
        scheme: ``http`` or ``https``.
    """

    client: str
    server: tuple[str, int | None]
    scheme: str

    @classmethod
    def of(cls, scope: Scope) -> "Peer":
        """Returns the ends of the connection that an ASGI scope names."""
        client = scope.get("client")
        host, port = scope.get("server") or ("127.0.0.1", None)
        return cls(client[0] if client else "unknown", (host, port), scope["scheme"])


HeadArguments = tuple[object, dict[str, Any], tuple[str, ...]]
"""The operation that read arguments from a head; the arguments, as its document types them; and the
names of query parameters that the document does not know."""

Matching = tuple[object, Any, Mapping[str, str]]
"""The routes of a site, the operation that they found for a head, and the texts of its path parameters;
None: only the site's router knows the operation."""


class RequestHead:
    """The head of a request.

    Args:
        method: In upper case.
        path: The requested path as ``decoded_path`` returns it, with the prefix of a world.
        query: The raw query string.
        fields: All header fields, names in lower case, in the order they were sent.
        http_version: Such as ``1.1``.

    Attributes:
        headers: The fields by name; a name sent twice keeps the last value.
        repeated_headers: The names that were sent twice.
        named_world: The world that is selected.
        path_in_world: The path there, by which requests are routed.
        shown_path: That path with ``%2F`` where a parameter has a slash.
        byte_count: The number of bytes of the header fields.
        is_bounded: Whether it was found to be within all limits.
        reading: The arguments that were last read from it; nobody changes them.
        matching: The operation that it was last found to lead to.
    """

    __slots__ = (
        "_named_by_headers",
        "byte_count",
        "fields",
        "headers",
        "http_version",
        "is_bounded",
        "matching",
        "method",
        "named_world",
        "path",
        "path_in_world",
        "query",
        "reading",
        "repeated_headers",
        "shown_path",
    )

    def __init__(
        self, method: str, path: str, query: bytes, fields: HeaderFields, http_version: str = "1.1"
    ) -> None:
        self.method = method
        self.fields = fields
        self.http_version = http_version
        self.headers: Mapping[bytes, bytes] = dict(fields)
        self.repeated_headers = _repeated(self.headers, fields)
        self.byte_count = header_bytes(fields)
        self._named_by_headers = named_by_headers(self.headers)
        self._aim(path, query)

    def _aim(self, path: str, query: bytes) -> None:
        """Sets what the target decides."""
        self.path = path
        self.query = query
        self.named_world = self._named_by_headers
        if path.startswith(PREFIX):
            self.named_world, path = named_by_path(path)
        self.path_in_world = path
        self.shown_path = path.replace(ENCODED_SLASH, "%2F")
        self.is_bounded = False
        self.reading: HeadArguments | None = None
        self.matching: Matching | None = None

    @property
    def selection(self) -> WorldSelection:
        """The world that is selected, and the path there."""
        name, is_certain = self.named_world
        return WorldSelection(name, self.path_in_world, is_certain)

    def with_target(self, target: bytes) -> "RequestHead":
        """Returns the head of a request that differs from this one in its target alone."""
        head = object.__new__(RequestHead)
        head.method = self.method
        head.fields = self.fields
        head.http_version = self.http_version
        head.headers = self.headers
        head.repeated_headers = self.repeated_headers
        head.byte_count = self.byte_count
        head._named_by_headers = self._named_by_headers
        head._aim(*path_and_query(target))
        head.is_bounded = self.is_bounded and len(target) <= TARGET_BYTES.most
        return head

    @classmethod
    def of(cls, scope: Scope) -> "RequestHead":
        """Returns the head of the request that an ASGI scope describes."""
        path: str = scope["path"]
        if b"%2" in (scope.get("raw_path") or b""):  # the server has decoded slashes, too
            path = decoded_path(scope["raw_path"].decode("latin-1"))
        version = scope.get("http_version", "1.1")
        return cls(scope["method"], path, scope["query_string"], scope["headers"], version)


def path_and_query(target: bytes) -> tuple[str, bytes]:
    """Returns the decoded path, and the query string, of a target in origin form."""
    path, _, query = target.partition(b"?")
    return decoded_path(path.decode("ascii")), query


def header_bytes(fields: HeaderFields) -> int:
    """Returns how many bytes header fields take."""
    return sum(map(len, chain.from_iterable(fields)))


def _repeated(headers: Mapping[bytes, bytes], fields: HeaderFields) -> frozenset[bytes]:
    if len(headers) == len(fields):
        return frozenset()
    counts = Counter(name for name, _ in fields)
    return frozenset(name for name, count in counts.items() if count > 1)
