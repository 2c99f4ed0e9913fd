"""Responds to operations that no handler was written for, with what their document says.

Some of them share a state that was inferred from the document; the responses of all others are
generated. Both are functions of the same call, so that both entrances run the same code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.worlds import World
from understudy.openapi.operations import Operation
from understudy.openapi.schemas import Schemas


@dataclass(frozen=True, slots=True)
class DocumentCall:
    """One call of an operation of any document, after everything that the document can check.

    Attributes:
        world: The world that the request selected.
        operation: What the document says of the operation.
        schemas: The document's validators.
        arguments: Parameters as the document types them, and the parsed body under ``body``.
        headers: The request's, names in lower case.
        base_url: Base URL of the API as the client reached it, without a trailing slash.
        path: The path of the request below the base URL.
        query: The raw query string.
        notes: Remarks for the journal.
    """

    world: World
    operation: Operation
    schemas: Schemas
    arguments: Mapping[str, Any]
    headers: Mapping[bytes, bytes]
    base_url: str
    path: str
    query: bytes
    notes: list[str]

    @property
    def media_type(self) -> str:
        """The media type of the request's body, in lower case and without options."""
        content_type = self.headers.get(b"content-type", b"").decode("latin-1")
        return content_type.partition(";")[0].strip().lower()

    @property
    def accept(self) -> str:
        """The Accept header; empty for none."""
        return self.headers.get(b"accept", b"").decode("latin-1")


class DocumentHandler(Protocol):
    """Responds to one operation of a document by a state that its operations share."""

    @property
    def inference(self) -> Mapping[str, Any]:
        """Explains what the state was inferred from, as JSON."""

    def path_values(self) -> Mapping[str, str]:
        """Returns the path parameters of a request that a new world has an item for."""

    def __call__(self, call: DocumentCall) -> HandlerResponse | None:
        """Returns the response; None where it is to be generated from the document."""
