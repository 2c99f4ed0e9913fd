"""Defines what a handler gets and returns: plain values, independent of the web framework."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from understudy.errors import Headers
from understudy.mock.server.json_bodies import json_bytes
from understudy.mock.server.worlds import World


class Principal(NamedTuple):  # made for each request with a token, at a third of a dataclass's cost
    """The account and the credential that a request is authenticated by.

    Attributes:
        person: Slug of the account.
        kind: An API key or an OAuth access token.
        scopes: What an OAuth token was granted.
        token: The token itself, as the key of its record.
    """

    person: str
    kind: Literal["oauth", "api_key"]
    scopes: frozenset[str]
    token: str


class OperationSummary(NamedTuple):
    """A summary of what the document in force declares for an operation, for handlers that follow it.

    Attributes:
        sent: Names of the members of the request's body.
        returned: Names of the members of the first success.
        is_list: Whether that success is a list.
        statuses: The statuses that it names.
    """

    sent: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    is_list: bool = False
    statuses: frozenset[str] = frozenset()


NOT_DECLARED: Final = OperationSummary()


class Call(Struct):  # made for each request, at no call of Python
    """One call of an operation, after everything that the document can check.

    Attributes:
        world: The world that the request selected.
        site_url: Base of the URLs in responses, without a path: ``http://127.0.0.1:8080``, or with the
            world's prefix. Taken from the request, so that it resolves for the client.
        choices: Switch name to the option in force (``rules.yaml``).
        principal: Whom the request speaks for; None: an anonymous client.
        notes: Remarks for the journal, such as a parameter that was ignored.
        authorization: The Authorization header, unchanged; security has read it as a bearer, the
            token endpoint also looks for what does not belong there.
        undeclared_query: Names of query parameters that the document does not know.
        authorization_url: Base URL of the authorization server, as ``site_url``.
        client: The client's address.
        declared: What the document in force says of the operation.
        started: When the request arrived, by the world's clock.
    """

    world: World
    site_url: str
    choices: Mapping[str, str]
    principal: Principal | None = None
    notes: list[str] = []  # each call has its own
    authorization: str | None = None
    undeclared_query: tuple[str, ...] = ()
    authorization_url: str = ""
    client: str = "unknown"
    declared: OperationSummary = NOT_DECLARED
    started: datetime | None = None

    def now(self) -> datetime:
        """Returns the moment that the response speaks of: one for a request, so that replays are alike."""
        return self.world.clock.now() if self.started is None else self.started


class Upload(NamedTuple):
    """A file part of a multipart body.

    Attributes:
        filename: Its name, as the client gives it.
        content: Its bytes.
        field: Name of the field that it was sent as.
    """

    filename: str
    content: bytes
    field: str


class SharedBody:
    """A JSON body that many responses share, since it was built from a frozen record.

    It is encoded once, and validated once by each validator.

    Args:
        value: What it says; nobody changes it.
        record: The record that it was built from.

    Attributes:
        content: The body as JSON, once it was encoded.
        valid_by: The validator that found it valid last.
    """

    __slots__ = ("content", "record", "valid_by", "value")

    def __init__(self, value: Any, record: object = None) -> None:
        self.value = value
        self.record = record
        self.valid_by: object = None
        self.content: bytes | None = None

    def encoded(self) -> bytes:
        """Returns the body as JSON."""
        if self.content is None:
            self.content = json_bytes(self.value)
        return self.content


class HandlerResponse(NamedTuple):
    """The response of a handler.

    Attributes:
        status: The mock's choice; where the document in force declares explicit success codes and
            this is not among them, the first declared one is sent instead.
        body: A value that JSON can express, such a value as a SharedBody, bytes of ``media_type``, an asynchronous iterator of such bytes
            that goes on until the client leaves, or None for no content.
        media_type: The media type of ``body``.
        headers: Further headers, names in lower case.
    """

    body: Any = None
    status: int = 200
    media_type: str = "application/json"
    headers: Headers = ()
