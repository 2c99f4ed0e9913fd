"""Conditions that checks of several sections share: what must hold before there is anything to judge.

Each is a predicate of an exchange and what was exchanged before, and its docstring says of what:
the report of a rule that was not checked names the condition that never held.
"""

from understudy.exchange.messages import Exchange
from understudy.interface.operations import LOOKUP
from understudy.interface.scopes import MANAGE_PROFILE, READ_PROFILE
from understudy.verify.checks import Condition, named
from understudy.verify.history import History, avatars_in, profile_in

TOKENS = frozenset({"oauth", "api_key"})
"""Kinds of credentials that a deployment accepts."""

UNSURE = frozenset({"invalid", "unknown"})
"""Kinds of credentials that a deployment may refuse for any request."""


def succeeded(exchange: Exchange, _history: History) -> bool:
    """Tells whether the request succeeded."""
    return exchange.response.is_success


def was_refused(exchange: Exchange, _history: History) -> bool:
    """Tells whether the request was refused with 4XX."""
    return exchange.response.is_refusal


def document_allows(exchange: Exchange, history: History) -> bool:
    """Tells whether the deployment's own document, if there is one, allows the request."""
    return history.allows is None or history.allows(exchange)


def document_allows_no_such(exchange: Exchange, history: History) -> bool:
    """Tells whether the deployment's own document, if there is one, does not allow the request."""
    return history.allows is None or not history.allows(exchange)


def is_get(exchange: Exchange, _history: History) -> bool:
    """Tells whether the method is GET."""
    return exchange.request.method == "GET"


def holds_profile(exchange: Exchange, _history: History) -> bool:
    """Tells whether the response holds a profile."""
    return bool(profile_in(exchange))


def holds_avatars(exchange: Exchange, _history: History) -> bool:
    """Tells whether the response holds avatars."""
    return bool(avatars_in(exchange))


def is_anonymous(exchange: Exchange, _history: History) -> bool:
    """Tells whether the client is anonymous."""
    return exchange.identity.kind == "none"


def sends_no_credentials(exchange: Exchange, _history: History) -> bool:
    """Tells whether no Authorization header was sent."""
    return exchange.identity.kind == "none" and not exchange.request.header("authorization")


def has_token(exchange: Exchange, _history: History) -> bool:
    """Tells whether a valid token or API key was sent."""
    return exchange.identity.kind in TOKENS


def credentials_are_certain(exchange: Exchange, _history: History) -> bool:
    """Tells whether the credentials, if any, are known to be valid."""
    return exchange.identity.kind not in UNSURE


def is_public_profile(exchange: Exchange, history: History) -> bool:
    """Tells whether the identifier is of a public profile that the target names."""
    return history.is_public(exchange.value)


def is_unknown_identifier(exchange: Exchange, history: History) -> bool:
    """Tells whether the identifier is made up."""
    return history.is_made_up(exchange.value)


def is_lookup(exchange: Exchange, _history: History) -> bool:
    """Tells whether the profile is looked up by an identifier."""
    return exchange.operation == LOOKUP


def may_read(exchange: Exchange, _history: History) -> bool:
    """Tells whether the token has the scope to read profiles and avatars."""
    return exchange.identity.may(READ_PROFILE)


def may_manage(exchange: Exchange, _history: History) -> bool:
    """Tells whether the token has the scope to change profiles and avatars."""
    return exchange.identity.may(MANAGE_PROFILE)


def is_of_test_accounts(exchange: Exchange, _history: History) -> bool:
    """Tells whether the token is of one of the two test accounts."""
    return exchange.identity.account in {"own", "other"}


def status_is(*statuses: int) -> Condition:
    """Returns the condition that the response has one of these statuses."""
    words = " or ".join(map(str, statuses))
    return named(lambda exchange, _history: exchange.status in statuses, f"the status is {words}")


def profile_has(name: str) -> Condition:
    """Returns the condition that the response holds a profile with a member that is not null."""
    return named(
        lambda exchange, _history: profile_in(exchange).get(name) is not None,
        f"the profile has {name}",
    )
