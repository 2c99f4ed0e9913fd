"""Describes how a document is served: everything that the document itself does not say.

The server knows mechanisms and no rule of any service: which switch turns which mechanism is said
by the code that builds an ``Api``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from understudy.errors import Problem
from understudy.mock.server.call import (
    DocumentHandler,
    HandlerResponse,
    Handlers,
    PageHandlers,
    Principal,
)
from understudy.mock.server.worlds import World
from understudy.openapi.loader import Document

Choices = Mapping[str, str]
"""Switch name to the option in force for a request."""

Policy = Callable[[Choices], bool]


OperationPolicy = Callable[[Choices, object], bool]
"""A policy for some operations, which are named by their handlers."""

ScopePolicy = Callable[[Choices, object, frozenset[str]], bool]
"""Tells whether scopes open an operation, which is named by its handler."""

RefusalPolicy = Callable[[Choices, Problem], Problem]


class QueryReading(NamedTuple):
    """The reading of query parameters that a request does not give just once, with a value.

    Attributes:
        drops_empty: Whether an empty text counts as left out where the schema does not allow it.
        repeated: Which of several values counts.
    """

    drops_empty: bool = False
    repeated: Literal["first", "last", "none"] = "none"


STRICT_QUERY: Final = QueryReading()
"""Refuses such parameters."""


def strict_query(_choices: Choices) -> QueryReading:
    """Returns the strict reading whatever is chosen."""
    return STRICT_QUERY


def never(_choices: Choices, *_request: object) -> bool:
    """Returns False whatever is chosen, for every operation."""
    return False


def as_declared(_choices: Choices) -> str:
    """Returns no name for the headers of a limit, whatever is chosen: the document says it."""
    return ""


def as_raised(_choices: Choices, problem: Problem) -> Problem:
    """Returns a refusal as it was raised, whatever is chosen."""
    return problem


@dataclass(frozen=True, slots=True)
class Policies:
    """Changes of the engine's mechanisms by the options in force; strict by default.

    Attributes:
        lifts_quota: Whether requests are not counted and never answered 429.
        warns_of_quota: Whether requests beyond the quota are counted, and answered all the same.
        aligns_windows: Whether the hour of a quota is that of the clock, and not an hour from the first
            request.
        limit_headers: What the names of the headers begin with that say what is left of a quota;
            empty: as the document declares them.
        ignores_scopes: Whether a token opens operations that it was not granted the scopes of.
        opens: Whether the scopes of a token open an operation, although they are not those it needs.
        ignores_invalid_token: Whether an invalid token on an operation with optional
            authentication is treated as no token, instead of 401.
        defers_missing_scope: Whether a missing scope is refused only after the body was looked at.
        drops_unknown_members: Whether body members that the schema closes out are dropped, instead
            of 400.
        defers_invalid_token: Whether an invalid token on an operation with optional authentication
            is refused only where nothing else is wrong with the request.
        query_reading: How empty and repeated query parameters are read.
        refusal: Gives a refusal the status and the code that are chosen for it.
        quota_advice: What a 429 advises, besides the call that resets the count.
    """

    lifts_quota: Policy = never
    warns_of_quota: Policy = never
    aligns_windows: Policy = never
    limit_headers: Callable[[Choices], str] = as_declared
    ignores_scopes: Policy = never
    opens: ScopePolicy = never
    ignores_invalid_token: Policy = never
    defers_missing_scope: Policy = never
    drops_unknown_members: OperationPolicy = never
    defers_invalid_token: Policy = never
    query_reading: Callable[[Choices], QueryReading] = strict_query
    refusal: RefusalPolicy = as_raised
    quota_advice: str = "wait"


STRICT = Policies()
"""Every mechanism as the engine has it."""


Authenticate = Callable[[World, str, datetime], Principal | None]
"""Looks up a bearer token: returns whom it speaks for, or None where it is not valid."""


Precondition = Callable[[World, Principal, Choices, Mapping[str, str]], None]
"""Refuses a request by its path arguments and the choices in force."""


ErrorResponse = Callable[[Problem], HandlerResponse]

Complete = Callable[[Mapping[str, Any]], Any]
"""Makes a member of a response's body of the members beside it; None: it cannot."""


ExplainToken = Callable[[World, str, datetime], str]
"""Returns the reason against a bearer token that is not valid."""

AuthenticateAccount = Callable[[World, str, str], Principal | None]
"""Checks a user name and a password: returns whom they speak for, or None."""

ANYONE = Principal("anyone", "api_key", frozenset(), "")
"""Whoever sends a credential that is not checked."""


def knows_no_token(_world: World, _token: str, _now: datetime) -> Principal | None:
    """Returns None, as no token is valid."""
    return None


_MISTAKES: Final = (
    (r"undefined|null|nil|None|NaN|\[object \w+\]", "a variable of the client has no value"),
    (r"\$\w+|\$?\{.*\}|<.*>|%\w+%", "the name of a variable was sent in place of its value"),
    (r"'.*'|\".*\"", "it stands in quotes, which are not part of it"),
    (r"(?i:bearer) .*", "the word Bearer is written twice"),
)
"""Forms of what clients send by mistake in place of a token, and what went wrong."""


def calls_token_unknown(_world: World, token: str, _now: datetime) -> str:
    """Returns the reason against a token of which no more is known."""
    mistakes = (mistake for form, mistake in _MISTAKES if re.fullmatch(form, token))
    return ": ".join(["there is no such token", *islice(mistakes, 1)])


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
        fills_headers: Whether handlers' responses have every header that the document declares, made up
            where the handler has none, and not only those that it requires.
        completions: Name of a member to what makes it of the members beside it, where the document
            requires it and the handler's body lacks it or has it in another form.
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
    fills_headers: bool = False
    completions: Mapping[str, Complete] = field(default_factory=dict)
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
