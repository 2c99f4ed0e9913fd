"""Reads which scopes open each operation that reads the account, from tokens that lack the read scope.

That says something only where scopes are checked at all, which a refusal for want of one has shown.
"""

from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import UPDATE_PROFILE
from understudy.verify.account_history import has_texts_only, names_editable_only
from understudy.verify.history import History
from understudy.verify.needed_scopes import ALONE, SCOPE_RULES, lacks_an_assumed_scope
from understudy.verify.readings.switch_reading import SwitchReading
from understudy.verify.rules.bearer import is_oauth
from understudy.verify.rules.read_scopes import has_no_scope_but_to_manage

_SHOWING: Final = (*SCOPE_RULES, UPDATE_PROFILE)


def _is_lacking(exchange: Exchange, history: History) -> bool:
    """Tells whether an OAuth token with known scopes was refused for want of one."""
    is_known = is_oauth(exchange, history) and exchange.identity.scopes is not None
    is_sound = names_editable_only(exchange, history) and has_texts_only(exchange, history)
    is_refused = is_known and is_sound and exchange.response.is_refusal
    return is_refused and lacks_an_assumed_scope(exchange, history)


def scopes_are_checked(exchange: Exchange, history: History) -> bool:
    """Tells whether this or an earlier request was refused for want of a scope."""
    earlier = (exchange, *history.of(*_SHOWING))
    return any(_is_lacking(each, history) for each in earlier)


def has_auth_alone(exchange: Exchange, _history: History) -> bool:
    """Tells whether the token has the scope auth, and no other."""
    return exchange.identity.scopes == ALONE


def auth_alone_was_refused(exchange: Exchange, history: History) -> bool:
    """Tells whether a token with the scope auth alone was refused by the same operation."""
    return any(
        has_auth_alone(each, history) and each.response.is_refusal
        for each in history.of(exchange.operation)
    )


def _is_taken(exchange: Exchange, _history: History) -> bool:
    return exchange.response.is_success


def _of_auth(_exchange: Exchange) -> str:
    return "auth"


def _of_managing(exchange: Exchange) -> str:
    return "any" if exchange.response.is_success else "read"


SCOPE_READINGS: Final = tuple(
    reading
    for operation, rule in SCOPE_RULES.items()
    for reading in (
        SwitchReading(
            rule,
            (operation,),
            (is_oauth, has_auth_alone, _is_taken, scopes_are_checked),
            _of_auth,
        ),
        SwitchReading(
            rule,
            (operation,),
            (
                *(is_oauth, has_no_scope_but_to_manage),
                *(auth_alone_was_refused, scopes_are_checked),
            ),
            _of_managing,
        ),
    )
)
"""The exchanges that show which scopes open an operation."""
