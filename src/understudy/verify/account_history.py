"""Reads an account's earlier profiles and avatars from the history; has conditions on them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import (
    DELETE_AVATAR,
    LIST_AVATARS,
    LOOKUP,
    OWN_PROFILE,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.verify.checks import (
    document_allows,
    document_allows_no_such,
    found,
    holds_profile,
    is_of_test_accounts,
    may_manage,
    proven,
    tells,
    unless,
)
from understudy.verify.history import History, avatars_in, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.shapes import AVATAR_FIELDS, EDITABLE
from understudy.verify.value_texts import Pairs, differing_pairs


def changes_in(exchange: Exchange) -> dict[str, Any]:
    """Returns the members that a request's JSON body names; empty where it is not an object."""
    body = exchange.request.json
    return body if isinstance(body, dict) else {}


has_object = tells("the body is a JSON object", lambda it, _: isinstance(it.request.json, dict))
names_editable_only = tells(
    "the body names none but the seven members", lambda it, _: set(changes_in(it)) <= set(EDITABLE)
)
names_others = unless(names_editable_only, "the body names another member than the seven")
has_texts_only = tells(
    "every value of the body is a text",
    lambda it, _: all(isinstance(value, str) for value in changes_in(it).values()),
)
has_other_value = unless(has_texts_only, "a value of the body is not a text")
changes_something = tells("the body names a member", lambda it, _: bool(changes_in(it)))
keeps_something = tells(
    "the body leaves one of the seven members out",
    lambda it, _: not set(EDITABLE) <= set(changes_in(it)),
)
unsets_something = tells(
    "the body sets a member to an empty text", lambda it, _: "" in changes_in(it).values()
)
profile_was_read = tells(
    "the account's profile was read before",
    lambda it, history: history.profile_before(it) is not None,
)

ABLE: Final = (may_manage, is_of_test_accounts, has_object)
"""Conditions of an update that the token allows."""

LONG: Final = 60
"""Length beyond which a deployment may refuse a text even if its document sets no limit."""


def has_long_text(exchange: Exchange, _history: History) -> bool:
    """Tells whether a text of the body is long."""
    texts = (text for text in changes_in(exchange).values() if isinstance(text, str))
    return any(len(text) > LONG for text in texts)


is_not_refused_for_length = tells(
    "the update has no long text, or was not refused",
    lambda it, history: not it.response.is_refusal or not has_long_text(it, history),
)

TEXTS: Final = (*ABLE, names_editable_only, has_texts_only, document_allows)
"""Conditions under which an update must succeed, if no text is too long."""

SOUND: Final = (*TEXTS, is_not_refused_for_length)
"""Conditions under which an update must succeed."""


TEST_ACCOUNTS: Final = frozenset({"own", "other"})


def account_of(exchange: Exchange, history: History) -> str | None:
    """Returns the test account that a profile belongs to; None for others."""
    if exchange.operation != LOOKUP:
        account = exchange.identity.account
        return account if account in TEST_ACCOUNTS else None
    if history.is_own(exchange.value):
        return "own"
    return "other" if history.is_others(exchange.value) else None


def last_update(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest update of the profile's account, if its token was allowed to update."""
    account = exchange.identity.account
    if exchange.operation == LOOKUP and history.is_own(exchange.value):
        account = "own"
    for before in history.of(UPDATE_PROFILE):
        if account is not None and before.identity.account == account:
            return before if all(holds(before, history) for holds in ABLE) else None
    return None


def update_shown(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the accepted update whose values the profile must show; None without one."""
    before = last_update(exchange, history)
    if before is None or not before.response.is_success:
        return None
    is_same = profile_in(exchange).get("hash") == before.json_object.get("hash")
    is_sound = all(holds(before, history) for holds in SOUND)
    return before if is_same and is_sound else None


update_must_show = found(
    update_shown, "the account's last update was accepted, and names just the seven members"
)
something_was_unset = tells(
    "the last update set a member to an empty text",
    lambda it, history: unsets_something(proven(update_shown(it, history)), history),
)


def last_update_named_others(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's last update named another member than the seven."""
    before = last_update(exchange, history)
    return before is not None and names_others(before, history)


last_update_was_refused = tells(
    "the account's last update was refused",
    lambda it, history: bool((last := last_update(it, history)) and last.response.is_refusal),
)


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


profile_before_update_was_seen = found(
    profile_before_update, "the account's profile was seen before its last update"
)

BEFORE_AND_AFTER: Final = (holds_profile, profile_before_update_was_seen)
"""Conditions for comparing a profile with the one before the last update."""


def differing(exchange: Exchange, before: Exchange, names: Iterable[str]) -> Pairs:
    """Returns the named members that differ from an earlier response, with both values."""
    return differing_pairs(before.json_object, exchange.json_object, names)


def not_as_wanted(exchange: Exchange, wanted: Mapping[str, Any]) -> Pairs:
    """Returns the members that differ from the wanted values, with the wanted and actual value."""
    return differing_pairs(wanted, exchange.json_object, wanted)


def update(client: ProbeClient, **changes: object) -> Exchange:
    """Updates the profile of the token's owner."""
    return client.send("PATCH", "/me/profile", "owner", json=changes)


RATINGS: Final = ("G", "PG", "R", "X")


def ids_in(exchange: Exchange) -> list[Any]:
    """Returns the ids of the avatars that a response holds."""
    return [avatar.get("image_id") for avatar in avatars_in(exchange)]


def selected_in(exchange: Exchange) -> list[Any]:
    """Returns the ids of the avatars that a response marks as selected."""
    return [avatar.get("image_id") for avatar in avatars_in(exchange) if avatar.get("selected")]


def avatar_in(exchange: Exchange | None, image_id: str) -> dict[str, Any]:
    """Returns the avatar of this id as a response shows it; empty if it is not mentioned."""
    listed = avatars_in(exchange) if exchange else []
    return next((dict(avatar) for avatar in listed if avatar.get("image_id") == image_id), {})


def last_mention(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest response to the account that mentions the avatar of a request."""
    mentions = (
        before
        for before in history.of(LIST_AVATARS, UPLOAD_AVATAR, UPDATE_AVATAR)
        if avatar_in(before, exchange.value)
        and before.identity.account == exchange.identity.account
    )
    return max(mentions, key=lambda before: before.number, default=None)


def avatars_owned(exchange: Exchange, history: History) -> int | None:
    """Returns the number of avatars that an account has before a request; None if it is not known."""
    account = exchange.identity.account
    listed = history.last(LIST_AVATARS, account=account)
    if listed is None:
        return None
    changes = {UPLOAD_AVATAR: 1, DELETE_AVATAR: -1}
    since = (
        changes.get(later.operation, 0)
        for later in history.since(listed)
        if later.identity.account == account and later.response.is_success
    )
    return len(ids_in(listed)) + sum(since)


def address_of(exchange: Exchange) -> str:
    """Returns the e-mail hash that a request names in ``selected_email_hash``; empty for none."""
    return exchange.request.query.get("selected_email_hash", "")


def own_hashes(exchange: Exchange, history: History) -> tuple[str, ...]:
    """Returns the hashes of the account's addresses, as far as the target names them."""
    return history.hashes_of(exchange.identity.account)


def assigned_hash(exchange: Exchange) -> Any:
    """Returns the e-mail hash to which a request assigns an avatar; None if none is named."""
    return changes_in(exchange).get("email_hash")


def is_live(exchange: Exchange, history: History) -> bool:
    """Tells whether the avatar is the account's own and was not deleted."""
    is_own = history.owner_of(exchange.value) == exchange.identity.account
    return is_own and not history.is_gone(exchange.value)


def is_sound_update(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body changes rating and text alternative only, to values that exist."""
    body = exchange.request.json
    return (
        isinstance(body, dict)
        and set(body) <= set(AVATAR_FIELDS)
        and body.get("rating", "G") in RATINGS
        and isinstance(body.get("alt_text", ""), str)
    )


def is_sound_change(exchange: Exchange, history: History) -> bool:
    """Tells whether nothing but the avatar can be wrong with the request."""
    if exchange.operation == SET_AVATAR:
        return names_own_address(exchange, history)
    return exchange.operation != UPDATE_AVATAR or is_sound_update(exchange, history)


names_unknown_address = tells(
    "the body names an e-mail address of no account",
    lambda it, history: history.is_made_up(str(assigned_hash(it))),
)
names_unknown_rating = tells(
    "the update names a rating that does not exist",
    lambda it, _: changes_in(it).get("rating", "G") not in RATINGS,
)
names_own_address = tells(
    "the body names an e-mail address of the account",
    lambda it, history: assigned_hash(it) in own_hashes(it, history),
)
shows_selection = tells(
    "the list says of each avatar whether it is selected, as it need not always",
    lambda it, _: it.response.is_success and all("selected" in each for each in avatars_in(it)),
)
