"""Tells which of two errors of one request a deployment refuses, beside requests with either alone."""

from collections.abc import Callable

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import SET_AVATAR
from understudy.verify.avatar_history import names_own_address, names_unknown_address
from understudy.verify.history import History
from understudy.verify.rules.avatar_deletion import does_not_exist

Refusal = tuple[int, object]
"""Status and error code."""


def _refusal(exchange: Exchange) -> Refusal:
    return exchange.status, exchange.json_object.get("code")


def _is_own_avatar(exchange: Exchange, history: History) -> bool:
    return history.owner_of(exchange.value) == exchange.identity.account


def _alone(
    exchange: Exchange, history: History, *when: Callable[[Exchange, History], bool]
) -> Refusal | None:
    """Returns how the newest assignment by the same credential was refused for one error alone."""
    for before in history.of(SET_AVATAR):
        is_of_same = before.identity == exchange.identity and before.response.is_refusal
        if is_of_same and all(condition(before, history) for condition in when):
            return _refusal(before)
    return None


def _refused_for(exchange: Exchange, history: History) -> tuple[bool, bool]:
    """Returns whether a request with both errors was refused as with the first, and as with the other."""
    is_both = does_not_exist(exchange, history) and names_unknown_address(exchange, history)
    if not is_both or not exchange.response.is_refusal:
        return False, False
    avatar = _alone(exchange, history, does_not_exist, names_own_address)
    address = _alone(exchange, history, _is_own_avatar, names_unknown_address)
    if avatar is None or address is None or avatar == address:
        return False, False
    return _refusal(exchange) == avatar, _refusal(exchange) == address


def refuses_the_avatar(exchange: Exchange, history: History) -> bool:
    """Tells whether an unknown avatar is refused before an unknown e-mail address."""
    return _refused_for(exchange, history)[0]


def refuses_the_address(exchange: Exchange, history: History) -> bool:
    """Tells whether an unknown e-mail address is refused before an unknown avatar."""
    return _refused_for(exchange, history)[1]
