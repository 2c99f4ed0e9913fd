"""All limits of the mock on the size and number of things, by name.

No small request may delay others, and no client may exhaust the memory. A limit is far above ordinary
use; a response to a request beyond it has the limit's status, its name in ``X-Mock-Limit``, and its
number. The limits of the service itself are in ``rules.yaml``.
"""

from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from understudy.errors import LimitExceeded


class Limit(NamedTuple):
    """An upper bound on a size or number.

    Attributes:
        name: Name of the limit in responses.
        most: Largest number allowed.
        of: Unit or kind of the counted things, for messages.
        status: Status of the response beyond the limit.
    """

    name: str
    most: int
    of: str
    status: int = 400

    def check(self, count: int) -> None:
        """Checks that a number is within the limit.

        Raises:
            LimitExceeded: The number is greater than the limit.
        """
        if count > self.most:
            raise self.exceeded()

    def exceeded(self) -> LimitExceeded:
        """Returns the exception for a number beyond the limit."""
        return LimitExceeded(self.status, self.name, f"At most {self.most:,} {self.of}.")


Count = Annotated[int, Meta(ge=0, le=2**53)]
"""A count up to the largest integer that every JSON parser reads exactly (RFC 8259, 6)."""

Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer of 64 bits, as orjson writes no larger ones."""

# a request's head (RFC 6585, 5; RFC 9110, 15.5.15)
HEADER_FIELDS: Final = Limit("header-fields", 200, "header fields", 431)
HEADER_BYTES: Final = Limit("header-bytes", 64 * 1024, "bytes of header fields", 431)
TARGET_BYTES: Final = Limit("target-bytes", 16 * 1024, "bytes of path and query", 414)
HEADER_SECONDS: Final = Limit("header-seconds", 20, "seconds until the header is whole", 408)

IDLE_SECONDS: Final = Limit("idle-seconds", 5, "seconds between two requests of a connection")
"""Then the connection is closed without a response, as no request is pending (RFC 9112, 9.5)."""
READING_SECONDS: Final = Limit("reading-seconds", 60, "seconds in which a client reads nothing")
"""Then the connection is closed; the client would not read an error response."""
HALF_CLOSED_SECONDS: Final = Limit(
    "half-closed-seconds", 5, "seconds for responses to a client that has closed its side"
)
"""Then the connection is closed without a response, as the client may have left."""
SPARE_DESCRIPTORS: Final = Limit("spare-descriptors", 16, "file descriptors left", 503)
"""Descriptors kept free for files; a connection that would take one gets 503 (RFC 9110, 15.6.4)."""

# a request's body (RFC 9110, 15.5.14)
BODY_BYTES: Final = Limit("body-bytes", 11 * 1024 * 1024, "bytes of a body", 413)
"""Enough for an upload of 10 MB with its multipart framing."""
BODY_SECONDS: Final = Limit("body-seconds", 60, "seconds until the body is whole", 408)
FORM_FIELDS: Final = Limit("form-fields", 1000, "fields of a form or a query")
FORM_BYTES: Final = Limit("form-bytes", 256 * 1024, "bytes of a URL-encoded form", 413)
MULTIPART_PARTS: Final = Limit("multipart-parts", 200, "parts of a multipart body")
JSON_BYTES: Final = Limit("json-bytes", 1024 * 1024, "bytes of JSON", 413)
JSON_VALUES: Final = Limit("json-values", 10_000, "values in a JSON body")
JSON_DEPTH: Final = Limit("json-depth", 100, "levels of nested JSON")
JSON_INTEGER: Final = Limit("json-integer", 2**63 - 1, "as a whole number: 64 bits")

# files: documents, fixtures and imports
FILE_BYTES: Final = Limit("file-bytes", 256 * 1024 * 1024, "bytes of a document or a fixture")
"""Bounds symbolic links to devices, too, which can be read for ever."""
YAML_DEPTH: Final = Limit("yaml-depth", 100, "levels of nested YAML")
DOCUMENT_FILES: Final = Limit("document-files", 10_000, "files that a document refers to")
YAML_VALUES: Final = Limit("yaml-values", 1_000_000, "values in a YAML file, aliases counted out")
SAMPLE_VALUES: Final = Limit("sample-values", 10_000, "values in a generated response", 501)
SAMPLE_SECONDS: Final = Limit("sample-seconds", 5, "seconds for a generated response", 501)
SAMPLE_CHARACTERS: Final = Limit(
    "sample-characters", 1_000_000, "characters of a generated text", 501
)
BACKTRACKED_CHARACTERS: Final = Limit(
    "backtracked-characters",
    256,
    "characters of a text held to a pattern that looks around or back",
)
"""Longer texts are not matched against such a pattern, which takes quadratic time."""
COMPOSED_SCHEMAS: Final = Limit("composed-schemas", 100_000, "schemas that apply to one value")
ARCHIVE_ENTRIES: Final = Limit("archive-entries", 5_000, "entries of an archive", 413)
ARCHIVE_BYTES: Final = Limit("archive-bytes", 128 * 1024 * 1024, "bytes of an archive", 413)
IMPORT_SECONDS: Final = Limit("import-seconds", 20, "seconds for an import", 413)

# traffic that `record` forwards
PROXIED_CONNECTIONS: Final = Limit("proxied-connections", 64, "connections to a deployment")
"""Further requests wait for a free connection."""
PENDING_EXCHANGES: Final = Limit("pending-exchanges", 64, "exchanges that wait for the judge")
PENDING_BYTES: Final = Limit("pending-bytes", 64 * 1024 * 1024, "bytes that wait for the judge")
"""Beyond either limit, a response is sent only after it is judged."""
JUDGED_BYTES: Final = Limit("judged-bytes", 128 * 1024 * 1024, "bytes that exchanges are judged by")
"""Beyond it, the evaluator drops its earlier exchanges, and continues."""
RECORDED_BYTES: Final = Limit("recorded-bytes", 256 * 1024 * 1024, "bytes of a recording")
"""Further exchanges are forwarded and judged, but not recorded."""

# searches in the journal
PATTERN_CHARACTERS: Final = Limit("pattern-characters", 1000, "characters of a regular expression")
PATTERN_BYTES: Final = Limit("pattern-bytes", 64 * 1024, "bytes of a compiled regular expression")
PATTERNS: Final = Limit("patterns", 50, "comparisons in a request pattern")
SEARCH_SECONDS: Final = Limit("search-seconds", 5, "seconds for a search in the journal", 413)

EVENT_STREAMS: Final = Limit("event-streams", 100, "event streams open at a time", 503)

# contents of a mock and of a world
WORLDS: Final = Limit("worlds", 10_000, "worlds")
SNAPSHOTS: Final = Limit("snapshots", 1_000, "snapshots")
WORLD_COPIES: Final = Limit("world-copies", 1_000, "copies of shared worlds in a replica")
"""Beyond it, a replica drops the least recently used copies, and loads them again when needed."""
FAULTS: Final = Limit("faults", 1_000, "faults in a world")
RECORDS: Final = Limit("records", 100_000, "records of one kind that a world adds to its fixtures")
PICTURE_BYTES: Final = Limit("picture-bytes", 256 * 1024 * 1024, "bytes of uploads in a world", 413)
PICTURE_MEMORY: Final = Limit(
    "picture-memory", 640 * 1024 * 1024, "bytes of memory to decode a picture", 413
)
PICTURE_SECONDS: Final = Limit("picture-seconds", 20, "seconds to decode a picture", 413)
ITEMS: Final = Limit("items", 10_000, "inferred items in a world", 413)
ITEM_BYTES: Final = Limit("item-bytes", 64 * 1024 * 1024, "bytes of inferred items in a world", 413)
JOURNAL_BYTES: Final = Limit("journal-bytes", 32 * 1024 * 1024, "bytes of a world's journal")
"""Beyond it, the journal drops its oldest entries; no request is refused."""
HISTORY_BYTES: Final = Limit("history-bytes", 32 * 1024 * 1024, "bytes of a world's history")
"""Beyond it, the history drops its oldest changes; no request is refused."""
JOURNAL_BODY_BYTES: Final = Limit("journal-body-bytes", 64 * 1024, "bytes of a body in the journal")
"""The journal truncates longer bodies."""
