"""Every limit on what a request, a file or a world may hold: named, in one place.

No small request may keep others waiting, and no client may fill the memory. A limit is far above
what a client means to send; beyond it the response says which one it was: its status, its name in
``X-Mock-Limit``, and its number. None of them is a limit of the service (``rules.yaml`` has those).
"""

from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from understudy.errors import LimitExceeded


class Limit(NamedTuple):
    """The most of something that is accepted.

    Attributes:
        name: What the response calls it.
        most: The greatest number that is accepted.
        of: What is counted.
        status: Of the response beyond it.
    """

    name: str
    most: int
    of: str
    status: int = 400

    def check(self, count: int) -> None:
        """Accepts a number.

        Raises:
            LimitExceeded: It is greater than the limit.
        """
        if count > self.most:
            raise self.exceeded()

    def exceeded(self) -> LimitExceeded:
        """Returns the refusal of whatever is beyond the limit."""
        return LimitExceeded(self.status, self.name, f"At most {self.most:,} {self.of}.")


Count = Annotated[int, Meta(ge=0, le=2**53)]
"""Largest count that every reader of JSON keeps exactly (RFC 8259, 6)."""

Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number that the writer of JSON takes."""

# a request's head (RFC 6585, 5; RFC 9110, 15.5.15)
HEADER_FIELDS: Final = Limit("header-fields", 200, "header fields", 431)
HEADER_BYTES: Final = Limit("header-bytes", 64 * 1024, "bytes of header fields", 431)
TARGET_BYTES: Final = Limit("target-bytes", 16 * 1024, "bytes of path and query", 414)
HEADER_SECONDS: Final = Limit("header-seconds", 20, "seconds until the header is whole", 408)

IDLE_SECONDS: Final = Limit("idle-seconds", 5, "seconds between two requests of a connection")
"""A connection ends silently beyond it, as nothing was asked (RFC 9112, 9.5)."""
READING_SECONDS: Final = Limit("reading-seconds", 60, "seconds in which a client reads nothing")
"""A response that its client does not read ends with the connection, so it has no status."""
HALF_CLOSED_SECONDS: Final = Limit(
    "half-closed-seconds", 5, "seconds for responses to a client that has closed its side"
)
"""Nobody may be left to read them, so the connection ends silently beyond it."""
SPARE_DESCRIPTORS: Final = Limit("spare-descriptors", 16, "file descriptors left", 503)
"""Connections leave so many to files; one beyond is answered and closed (RFC 9110, 15.6.4)."""

# a request's body (RFC 9110, 15.5.14)
BODY_BYTES: Final = Limit("body-bytes", 11 * 1024 * 1024, "bytes of a body", 413)
"""An upload of 10 MB and what multipart puts around it."""
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
"""A link in a directory may lead to a device, which never ends."""
YAML_DEPTH: Final = Limit("yaml-depth", 100, "levels of nested YAML")
DOCUMENT_FILES: Final = Limit("document-files", 1_000, "files that a document refers to")
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
"""Longer texts are not held to such a pattern, as that takes the square of their length."""
COMPOSED_SCHEMAS: Final = Limit("composed-schemas", 100_000, "schemas that apply to one value")
ARCHIVE_ENTRIES: Final = Limit("archive-entries", 5_000, "entries of an archive", 413)
ARCHIVE_BYTES: Final = Limit("archive-bytes", 128 * 1024 * 1024, "bytes of an archive", 413)
IMPORT_SECONDS: Final = Limit("import-seconds", 20, "seconds for an import", 413)

# traffic that `record` passes on
PROXIED_CONNECTIONS: Final = Limit("proxied-connections", 64, "connections to a deployment")
"""Requests beyond it wait for one to be free."""
PENDING_EXCHANGES: Final = Limit("pending-exchanges", 64, "exchanges that wait for the judge")
PENDING_BYTES: Final = Limit("pending-bytes", 64 * 1024 * 1024, "bytes that wait for the judge")
"""Responses beyond either wait until they are judged themselves."""
JUDGED_BYTES: Final = Limit("judged-bytes", 128 * 1024 * 1024, "bytes that exchanges are judged by")
"""The judge forgets what passed before beyond it, and goes on."""
RECORDED_BYTES: Final = Limit("recorded-bytes", 256 * 1024 * 1024, "bytes of a recording")
"""Exchanges beyond it are passed on and judged, and not recorded."""

# searches in the journal
PATTERN_CHARACTERS: Final = Limit("pattern-characters", 1000, "characters of a regular expression")
PATTERN_BYTES: Final = Limit("pattern-bytes", 64 * 1024, "bytes of a compiled regular expression")
PATTERNS: Final = Limit("patterns", 50, "comparisons in a request pattern")
SEARCH_SECONDS: Final = Limit("search-seconds", 5, "seconds for a search in the journal", 413)

EVENT_STREAMS: Final = Limit("event-streams", 100, "event streams open at a time", 503)

# what a mock and a world hold
WORLDS: Final = Limit("worlds", 10_000, "worlds")
SNAPSHOTS: Final = Limit("snapshots", 1_000, "snapshots")
WORLD_COPIES: Final = Limit("world-copies", 1_000, "copies of shared worlds in a replica")
"""A replica drops the copies that it used longest ago beyond it, and loads them again when needed."""
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
"""The journal forgets its oldest entries beyond it; no request is refused for it."""
HISTORY_BYTES: Final = Limit("history-bytes", 32 * 1024 * 1024, "bytes of a world's history")
"""The history forgets its oldest changes beyond it; no request is refused for it."""
JOURNAL_BODY_BYTES: Final = Limit("journal-body-bytes", 64 * 1024, "bytes of a body in the journal")
"""The journal keeps the beginning of a longer body."""
