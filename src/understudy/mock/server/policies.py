"""Defines what an API leaves to the switches, as functions of a request's choices.

The engine knows mechanisms and no rule of any service: which switch turns which mechanism is said
by the code that builds an ``Api``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from understudy.errors import Problem

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


def opens_nothing(_choices: Choices, _handler: object, _granted: frozenset[str]) -> bool:
    """Returns False whatever is chosen."""
    return False


def nowhere(_choices: Choices, _handler: object) -> bool:
    """Returns False whatever is chosen, for every operation."""
    return False


def never(_choices: Choices) -> bool:
    """Returns False whatever is chosen."""
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
    opens: ScopePolicy = opens_nothing
    ignores_invalid_token: Policy = never
    defers_missing_scope: Policy = never
    drops_unknown_members: OperationPolicy = nowhere
    defers_invalid_token: Policy = never
    query_reading: Callable[[Choices], QueryReading] = strict_query
    refusal: RefusalPolicy = as_raised
    quota_advice: str = "wait"


STRICT = Policies()
"""Every mechanism as the engine has it."""
