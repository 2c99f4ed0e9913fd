"""Tells which scopes open an operation of the account, as far as the interface or facts say.

The interface names the scope that edits, and ``auth`` for everything (Scopes); which scopes open
what is read is not shown (Bearer tokens, 6), so facts of a deployment decide there.
"""

from collections.abc import Mapping
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import ASSOCIATED_EMAIL, LIST_AVATARS, OWN_PROFILE
from understudy.interface.scopes import AUTH, MANAGE_PROFILE, READ_PROFILE
from understudy.verify.history import History

SCOPE_RULES: Final[Mapping[str, str]] = {
    OWN_PROFILE: "scope-of-own-profile",
    LIST_AVATARS: "scope-of-avatar-list",
    ASSOCIATED_EMAIL: "scope-of-associated-email",
}
"""Operation that reads the account to the rule that assumes which scopes open it."""

ALONE: Final = frozenset({AUTH})
READING: Final = frozenset({AUTH, READ_PROFILE})
MANAGING: Final = frozenset({AUTH, MANAGE_PROFILE})

_OPENED_BY: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    "read": (READING,),
    "any": (READING, MANAGING),
    "auth": (ALONE,),
}
"""Option of the rules' switches to the sets of scopes of which each is enough."""


def has_the_scopes(exchange: Exchange, history: History) -> bool:
    """Tells whether the token has the scopes that the operation needs."""
    granted = exchange.identity.scopes or frozenset(())
    return any(granted >= scopes for scopes in _opened_by(exchange.operation, history))


def lacks_a_scope(exchange: Exchange, history: History) -> bool:
    """Tells whether the token lacks a scope that the operation needs."""
    rule = SCOPE_RULES.get(exchange.operation)
    if history.facts and rule is not None and rule not in history.facts:
        return AUTH not in (exchange.identity.scopes or ())  # the rest was not learnt
    return not has_the_scopes(exchange, history)


def lacks_an_assumed_scope(exchange: Exchange, _history: History) -> bool:
    """Tells whether the token lacks a scope that is assumed to be needed, whatever was learnt."""
    assumed = READING if exchange.operation in SCOPE_RULES else MANAGING
    return not (exchange.identity.scopes or frozenset(())) >= assumed


def scopes_are_needed(_exchange: Exchange, history: History) -> bool:
    """Tells whether no fact says that the deployment opens everything to any token."""
    fact = history.facts.get("scope-per-operation")
    return fact is None or fact.reading != "ignored"


def _opened_by(operation: str, history: History) -> tuple[frozenset[str], ...]:
    rule = SCOPE_RULES.get(operation)
    if rule is None:
        return (MANAGING,)
    fact = history.facts.get(rule)
    return _OPENED_BY.get("read" if fact is None else fact.reading, (READING,))
