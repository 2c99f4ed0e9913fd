"""Reads what is known of the own profile when a request for it is judged; conditions that follow."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import LOOKUP, OWN_PROFILE, UPDATE_PROFILE
from understudy.verify.checks import proven
from understudy.verify.conditions import (
    document_allows,
    document_allows_no_such,
    holds_profile,
    is_of_test_accounts,
    may_manage,
)
from understudy.verify.history import History, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.shapes import EDITABLE
from understudy.verify.value_texts import Pairs, differing_pairs


def changes_in(exchange: Exchange) -> dict[str, Any]:
    """Returns the members that an update names; empty where its body is not an object."""
    body = exchange.request.json
    return body if isinstance(body, dict) else {}


def has_object(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body is a JSON object."""
    return isinstance(exchange.request.json, dict)


def names_editable_only(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body names none but the seven members."""
    return set(changes_in(exchange)) <= set(EDITABLE)


def names_others(exchange: Exchange, history: History) -> bool:
    """Tells whether the body names another member than the seven."""
    return not names_editable_only(exchange, history)


def has_texts_only(exchange: Exchange, _history: History) -> bool:
    """Tells whether every value of the body is a text."""
    return all(isinstance(value, str) for value in changes_in(exchange).values())


def has_other_value(exchange: Exchange, history: History) -> bool:
    """Tells whether a value of the body is not a text."""
    return not has_texts_only(exchange, history)


def changes_something(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body names a member."""
    return bool(changes_in(exchange))


def keeps_something(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body leaves one of the seven members out."""
    return not set(EDITABLE) <= set(changes_in(exchange))


def unsets_something(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body sets a member to an empty text."""
    return "" in changes_in(exchange).values()


def profile_was_read(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's profile was read before."""
    return history.profile_before(exchange) is not None


ABLE: Final = (may_manage, is_of_test_accounts, has_object)
"""Conditions of an update that the token allows."""

LONG: Final = 60
"""Characters from which on a deployment may refuse a text that its document does not bound."""


def has_long_text(exchange: Exchange, _history: History) -> bool:
    """Tells whether a text of the body is long."""
    texts = (text for text in changes_in(exchange).values() if isinstance(text, str))
    return any(len(text) > LONG for text in texts)


def is_not_refused_for_length(exchange: Exchange, history: History) -> bool:
    """Tells whether the update has no long text, or was not refused."""
    return not exchange.response.is_refusal or not has_long_text(exchange, history)


TEXTS: Final = (*ABLE, names_editable_only, has_texts_only, document_allows)
"""Conditions of an update that must succeed, if no text is too long."""

SOUND: Final = (*TEXTS, is_not_refused_for_length)
"""Conditions of an update that must succeed."""


def last_update(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest update of the account that a profile is of, by a token that may update."""
    account = exchange.identity.account
    if exchange.operation == LOOKUP and history.is_own(exchange.value):
        account = "own"
    for before in history.of(UPDATE_PROFILE):
        if account is not None and before.identity.account == account:
            return before if all(holds(before, history) for holds in ABLE) else None
    return None


def update_shown(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the update that a profile must show the outcome of."""
    before = last_update(exchange, history)
    if before is None or not before.response.is_success:
        return None
    is_same = profile_in(exchange).get("hash") == before.json_object.get("hash")
    is_sound = all(holds(before, history) for holds in SOUND)
    return before if is_same and is_sound else None


def update_must_show(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's last update was accepted, and names just the seven members."""
    return update_shown(exchange, history) is not None


def something_was_unset(exchange: Exchange, history: History) -> bool:
    """Tells whether the last update set a member to an empty text."""
    return unsets_something(proven(update_shown(exchange, history)), history)


def last_update_named_others(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's last update named another member than the seven."""
    before = last_update(exchange, history)
    return before is not None and names_others(before, history)


def last_update_had_other_value(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's last update gave one of the seven members a value of another type."""
    before = last_update(exchange, history)
    if before is None or not names_editable_only(before, history):
        return False
    return has_other_value(before, history) and document_allows_no_such(before, history)


def profile_before_update(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the account's newest profile before its last update."""
    update = proven(last_update(exchange, history))
    for before in history.of(OWN_PROFILE, UPDATE_PROFILE):
        is_earlier = before.number < update.number and before.response.is_success
        if is_earlier and before.identity.account == exchange.identity.account:
            return before
    return None


def profile_before_update_was_seen(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's profile was seen before its last update."""
    return profile_before_update(exchange, history) is not None


BEFORE_AND_AFTER: Final = (holds_profile, profile_before_update_was_seen)
"""Conditions of a profile that can be compared with the one before the last update."""


def differing(exchange: Exchange, before: Exchange, names: Iterable[str]) -> Pairs:
    """Returns which of these members differ from those before, each with the value before and now."""
    return differing_pairs(before.json_object, exchange.json_object, names)


def not_as_wanted(exchange: Exchange, wanted: Mapping[str, Any]) -> Pairs:
    """Returns which members differ from what was wanted, each with the value wanted and its own."""
    return differing_pairs(wanted, exchange.json_object, wanted)


def update(client: ProbeClient, **changes: object) -> Exchange:
    """Updates the own profile."""
    return client.send("PATCH", "/me/profile", "owner", json=changes)
