"""The configuration of a served document: everything that the document itself does not contain.

The server has mechanisms and no rules of a service: the code that builds an ``Api`` connects switches
with mechanisms.
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
"""Decides for an operation, which its handler identifies."""

ScopePolicy = Callable[[Choices, object, frozenset[str]], bool]
"""Tells whether a token's scopes permit an operation, which its handler identifies."""

RefusalPolicy = Callable[[Choices, Problem], Problem]


class QueryReading(NamedTuple):
    """The treatment of empty and repeated query parameters.

    Attributes:
        drops_empty: Whether an empty text is treated as absent where the schema does not allow it.
        repeated: Which of several values is used; ``none`` refuses the request.
    """

    drops_empty: bool = False
    repeated: Literal["first", "last", "none"] = "none"


STRICT_QUERY: Final = QueryReading()
"""Refuses empty and repeated parameters, unless the schema allows them."""


def never(_choices: Choices, *_request: object) -> bool:
    """Returns False: the default of most policies."""
    return False


@dataclass(frozen=True, slots=True)
class Policies:
    """Functions of the options in force that relax or change the engine's mechanisms.

    Attributes:
        lifts_quota: Whether requests are not counted, so that none gets 429.
        warns_of_quota: Whether requests beyond the quota get a warning instead of 429.
        aligns_windows: Whether the hour of a quota is that of the clock, and not an hour from the first
            request.
        limit_headers: Prefix of the names of the rate-limit headers; empty: as the document declares
            them.
        ignores_scopes: Whether a token permits operations whose scopes it was not granted.
        opens: Whether other scopes than the required ones permit an operation.
        ignores_invalid_token: Whether an invalid token on an operation with optional
            authentication is treated as no token, instead of 401.
        defers_missing_scope: Whether a missing scope is refused only after the body was validated.
        drops_unknown_members: Whether body members that the schema excludes are dropped, instead
            of 400.
        defers_invalid_token: Whether an invalid token on an operation with optional authentication
            is refused only if the request is otherwise valid.
        query_reading: Treatment of empty and repeated query parameters.
        refusal: Returns a refusal with the chosen status and code.
        quota_advice: Advice in a 429's message, besides the call that resets the count.
    """

    lifts_quota: Policy = never
    warns_of_quota: Policy = never
    aligns_windows: Policy = never
    limit_headers: Callable[[Choices], str] = lambda _choices: ""
    ignores_scopes: Policy = never
    opens: ScopePolicy = never
    ignores_invalid_token: Policy = never
    defers_missing_scope: Policy = never
    drops_unknown_members: OperationPolicy = never
    defers_invalid_token: Policy = never
    query_reading: Callable[[Choices], QueryReading] = lambda _choices: STRICT_QUERY
    refusal: RefusalPolicy = lambda _choices, problem: problem
    quota_advice: str = "wait"


STRICT = Policies()
"""No policy relaxes anything."""


Authenticate = Callable[[World, str, datetime], Principal | None]
"""Returns the principal of a bearer token; None if the token is invalid."""


Precondition = Callable[[World, Principal, Choices, Mapping[str, str]], None]
"""Raises a Problem for path arguments that must be checked before validation, by the choices in force."""


ErrorResponse = Callable[[Problem], HandlerResponse]

Complete = Callable[[Mapping[str, Any]], Any]
"""Computes a member of a response's body from the object's other members; None: it cannot."""


ExplainToken = Callable[[World, str, datetime], str]
"""Returns why a bearer token is invalid."""

AuthenticateAccount = Callable[[World, str, str], Principal | None]
"""Returns the principal of a user name and password; None if they are invalid."""

ANYONE = Principal("anyone", "api_key", frozenset(), "")
"""Principal of a credential that is not checked."""


_MISTAKES: Final = (
    (r"undefined|null|nil|None|NaN|\[object \w+\]", "a variable of the client has no value"),
    (r"\$\w+|\$?\{.*\}|<.*>|%\w+%", "the name of a variable was sent in place of its value"),
    (r"'.*'|\".*\"", "it stands in quotes, which are not part of it"),
    (r"(?i:bearer) .*", "the word Bearer is written twice"),
)
"""Patterns of texts that clients send by mistake instead of a token, and the probable mistakes."""


def calls_token_unknown(_world: World, token: str, _now: datetime) -> str:
    """Returns the reason that a token is unknown, with the client's probable mistake."""
    mistakes = (mistake for form, mistake in _MISTAKES if re.fullmatch(form, token))
    return ": ".join(["there is no such token", *islice(mistakes, 1)])


def takes_any_token(_world: World, _token: str, _now: datetime) -> Principal:
    """Returns ``ANYONE``: every token is valid."""
    return ANYONE


@dataclass(frozen=True, slots=True, eq=False)
class Api:
    """A served document. Method and path identify operations, as in ``Handlers``.

    Attributes:
        document: OpenAPI document.
        base_path: Prefix of the served paths; requests may omit it.
        handlers: Handlers of operations; without one, the response is generated from the document.
        error_response: Returns a problem in this API's default error shape.
        has_usual_errors: Whether a path without an operation is refused in the error shape that the
            operations of the document usually declare.
        authenticate: Looks up a bearer token.
        explain_token: Returns why a bearer token is invalid.
        token_hint: Hint at valid bearer tokens, for a refusal's message.
        authenticate_key: Looks up an API key of one of the document's security schemes.
        authenticate_account: Checks the user name and password of Basic authentication (RFC 7617).
        checks_declared_scopes: Whether an OAuth token must have been granted the scopes that the
            document names for an operation without a handler.
        credential_hint: Hint at valid credentials of other kinds, for a refusal's message.
        scopes: Operations that accept OAuth tokens only, with their required scopes.
        limited: Operations that count towards the quota.
        quota: Returns the hourly quota of a principal, or of an anonymous client (None).
        aliases: Synonymous names of one body member of an operation; a handler gets the member under
            the name that the document declares.
        json_as_form: Operations that read JSON sent under a form's content type.
        numeric_booleans: Operations whose boolean parameters may also be sent as 1 and 0.
        header_names: Other names for response headers of the engine, in lower case, where the document
            declares none.
        fills_headers: Whether handlers' responses get generated values for all missing declared
            headers, and not only for required ones.
        completions: Member name to the function that computes the member, where the document requires
            it and the handler's body lacks it or has it in another form.
        pages: Operations that show a page, and the handlers that may respond without one; pages
            validate the request themselves, as their refusals are pages, too.
        document_handlers: Handlers that respond from the state that was inferred from the document.
        preconditions: Handler to the check that runs before a validation error is reported.
        policies: Policies that follow from the options in force.
        is_lenient: Whether requests are read tolerantly: a repeated parameter has its first value,
            invalid UTF-8 is replaced, and Accept is not checked.
        needs_acceptable: Whether a request that accepts no declared media type gets 406 where the
            document does not declare it either.
        is_steering: Whether this is the admin API, in which no faults are injected.
    """

    document: Document
    base_path: str
    handlers: Handlers
    error_response: ErrorResponse
    has_usual_errors: bool = False
    authenticate: Authenticate = lambda _world, _token, _now: None
    explain_token: ExplainToken = calls_token_unknown
    token_hint: str = ""
    authenticate_key: Authenticate = takes_any_token
    authenticate_account: AuthenticateAccount = lambda _world, _name, _password: ANYONE
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
    needs_acceptable: bool = False
    is_steering: bool = False

    @property
    def paths(self) -> Mapping[str, Any]:
        """Path templates of the document, with their path items."""
        paths: Mapping[str, Any] = self.document.raw.get("paths", {})
        return paths

    @property
    def needs_tokens(self) -> bool:
        """True if only tokens that the authorization server issued are valid."""
        return self.authenticate is not takes_any_token
