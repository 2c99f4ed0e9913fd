"""Describes how a document is served: everything that the document itself does not say."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from understudy.errors import Problem
from understudy.mock.server.call import HandlerResponse, Principal
from understudy.mock.server.document_handlers import DocumentHandler
from understudy.mock.server.handlers import Handlers, PageHandlers
from understudy.mock.server.policies import STRICT, Choices, Policies
from understudy.mock.server.worlds import World
from understudy.openapi.loader import Document

Authenticate = Callable[[World, str, datetime], Principal | None]
"""Looks up a bearer token: returns whom it speaks for, or None where it is not valid."""


Precondition = Callable[[World, Principal, Choices, Mapping[str, str]], None]
"""Refuses a request by its path arguments and the choices in force."""


ErrorResponse = Callable[[Problem], HandlerResponse]


ExplainToken = Callable[[World, str, datetime], str]
"""Returns the reason against a bearer token that is not valid."""

AuthenticateAccount = Callable[[World, str, str], Principal | None]
"""Checks a user name and a password: returns whom they speak for, or None."""

ANYONE = Principal("anyone", "api_key", frozenset(), "")
"""Whoever sends a credential that is not checked."""


def knows_no_token(_world: World, _token: str, _now: datetime) -> Principal | None:
    """Returns None, as no token is valid."""
    return None


def calls_token_unknown(_world: World, _token: str, _now: datetime) -> str:
    """Returns the reason against a token of which no more is known."""
    return "there is no such token"


def takes_any_token(_world: World, _token: str, _now: datetime) -> Principal:
    """Returns ``ANYONE``, as every token is valid."""
    return ANYONE


def takes_any_account(_world: World, _name: str, _password: str) -> Principal:
    """Returns ``ANYONE``, as every user name and password are valid."""
    return ANYONE


@dataclass(frozen=True, slots=True, eq=False)
class Api:
    """A document in force. Operations are named by method and path, as in ``Handlers``.

    Attributes:
        document: The OpenAPI document.
        base_path: Where it is served; paths without it are served too.
        handlers: The handler of each operation; without one, the response is generated from the
            document.
        error_response: Puts a problem into this API's error shape.
        has_usual_errors: Whether a path without an operation is refused in the error shape that the
            operations of the document usually declare.
        authenticate: Looks up a bearer token.
        explain_token: Says why a bearer token is not valid.
        token_hint: What a refusal says of the bearer tokens that are valid.
        authenticate_key: Looks up an API key of one of the document's security schemes.
        authenticate_account: Checks the user name and password of Basic authentication (RFC 7617).
        checks_declared_scopes: Whether an OAuth token must have been granted the scopes that the
            document names for an operation without a handler.
        credential_hint: What a refusal says of the credentials that are valid.
        scopes: The operations that take OAuth tokens only, and the scopes that each requires.
        limited: The operations that count towards the quota.
        quota: Requests an hour of a principal; None: an anonymous client's.
        aliases: Names of one and the same member of a body; whichever the document
            declares is the one that the handler sees.
        json_as_form: The operations that read JSON sent under a form's content type.
        numeric_booleans: The operations whose boolean parameters are also written 1 and 0.
        header_names: Other names for response headers of the engine, in lower case, where the document
            declares none.
        pages: The operations that a person sees, and what responds where none has to; the pages
            validate the request themselves, as their refusals are pages too.
        document_handlers: What responds to operations without a handler by the state that was inferred
            from the document.
        preconditions: Handler to what may be looked at before the document's validation refuses.
        policies: How the readings in force change what the engine does.
        is_lenient: Whether requests are read as far as they can be: of a repeated parameter the first
            counts, what is not UTF-8 is replaced, and Accept is not judged.
        is_steering: Whether this is the admin API, in which no faults are injected.
    """

    document: Document
    base_path: str
    handlers: Handlers
    error_response: ErrorResponse
    has_usual_errors: bool = False
    authenticate: Authenticate = knows_no_token
    explain_token: ExplainToken = calls_token_unknown
    token_hint: str = ""
    authenticate_key: Authenticate = takes_any_token
    authenticate_account: AuthenticateAccount = takes_any_account
    checks_declared_scopes: bool = False
    credential_hint: str = "any value will do here"
    scopes: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    limited: frozenset[tuple[str, str]] = frozenset()
    quota: Callable[[Principal | None], int] = lambda _: 0
    aliases: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    json_as_form: frozenset[tuple[str, str]] = frozenset()
    numeric_booleans: frozenset[tuple[str, str]] = frozenset()
    header_names: Mapping[str, str] = field(default_factory=dict)
    pages: PageHandlers = field(default_factory=dict)
    document_handlers: Mapping[tuple[str, str], DocumentHandler] = field(default_factory=dict)
    preconditions: Mapping[Any, Precondition] = field(default_factory=dict)
    policies: Policies = STRICT
    is_lenient: bool = False
    is_steering: bool = False

    @property
    def paths(self) -> Mapping[str, Any]:
        """The document's path templates."""
        paths: Mapping[str, Any] = self.document.raw.get("paths", {})
        return paths
