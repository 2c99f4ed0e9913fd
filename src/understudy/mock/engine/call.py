"""Defines what a handler gets and returns: plain values, independent of the web framework."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from understudy.errors import Headers
from understudy.mock.engine.worlds import World


@dataclass(frozen=True, slots=True)
class Principal:
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


@dataclass(slots=True)
class Call:
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
        body_members: Names of the members that the document in force declares for the body.
    """

    world: World
    site_url: str
    choices: Mapping[str, str]
    principal: Principal | None = None
    notes: list[str] = field(default_factory=list)
    authorization: str | None = None
    undeclared_query: tuple[str, ...] = ()
    authorization_url: str = ""
    client: str = "unknown"
    body_members: frozenset[str] = frozenset()


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


class HandlerResponse(NamedTuple):
    """The response of a handler.

    Attributes:
        status: The mock's choice; where the document in force declares explicit success codes and
            this is not among them, the first declared one is sent instead.
        body: A value that JSON can express, bytes of ``media_type``, an asynchronous iterator of such bytes
            that goes on until the client leaves, or None for no content.
        media_type: The media type of ``body``.
        headers: Further headers, names in lower case.
    """

    body: Any = None
    status: int = 200
    media_type: str = "application/json"
    headers: Headers = ()
