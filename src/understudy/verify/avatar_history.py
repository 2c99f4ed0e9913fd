"""Reads what is known of an avatar when a request for it is judged; conditions that follow from it."""

from typing import Any, Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import (
    DELETE_AVATAR,
    LIST_AVATARS,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPLOAD_AVATAR,
)
from understudy.verify.history import History, avatars_in

MEMBERS: Final = ("rating", "alt_text")
"""The members that an update may change (interface, Authenticated avatar operations)."""

RATINGS: Final = ("G", "PG", "R", "X")


def ids_in(exchange: Exchange) -> list[Any]:
    """Returns the ids of the avatars that a response holds."""
    return [avatar.get("image_id") for avatar in avatars_in(exchange)]


def selected_in(exchange: Exchange) -> list[Any]:
    """Returns the ids of the avatars that a response marks as selected."""
    return [avatar.get("image_id") for avatar in avatars_in(exchange) if avatar.get("selected")]


def avatar_in(exchange: Exchange | None, image_id: str) -> dict[str, Any]:
    """Returns what a response says of an avatar; empty where it does not mention it."""
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
        changes.get(each.operation, 0)
        for each in history.since(listed)
        if each.identity.account == account and each.response.is_success
    )
    return len(ids_in(listed)) + sum(since)


def address_of(exchange: Exchange) -> str:
    """Returns the hash that a request names as the address to select for; empty for none."""
    return exchange.request.query.get("selected_email_hash", "")


def own_hashes(exchange: Exchange, history: History) -> tuple[str, ...]:
    """Returns the hashes of the account's addresses, as far as the target names them."""
    hashes = {"own": history.known.own_hashes, "other": history.known.others_hashes}
    return tuple(hashes.get(exchange.identity.account or "", ()))


def assigned_hash(exchange: Exchange) -> Any:
    """Returns the hash that an avatar is to be set for; None where the body names none."""
    body = exchange.request.json
    return body.get("email_hash") if isinstance(body, dict) else None


def is_live(exchange: Exchange, history: History) -> bool:
    """Tells whether the avatar is the account's own and was not deleted."""
    is_own = history.owner_of(exchange.value) == exchange.identity.account
    return is_own and not history.is_gone(exchange.value)


def is_sound_update(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body changes rating and text alternative only, to values that exist."""
    body = exchange.request.json
    return (
        isinstance(body, dict)
        and set(body) <= set(MEMBERS)
        and body.get("rating", "G") in RATINGS
        and isinstance(body.get("alt_text", ""), str)
    )


def is_sound_change(exchange: Exchange, history: History) -> bool:
    """Tells whether nothing but the avatar can be wrong with the request."""
    if exchange.operation == SET_AVATAR:
        return names_own_address(exchange, history)
    return exchange.operation != UPDATE_AVATAR or is_sound_update(exchange, history)


def names_unknown_address(exchange: Exchange, history: History) -> bool:
    """Tells whether the body names an e-mail address that nobody has."""
    return history.is_made_up(str(assigned_hash(exchange)))


def names_unknown_rating(exchange: Exchange, _history: History) -> bool:
    """Tells whether the update names a rating that does not exist."""
    body = exchange.request.json
    return isinstance(body, dict) and "rating" in body and body["rating"] not in RATINGS


def names_own_address(exchange: Exchange, history: History) -> bool:
    """Tells whether the body names an e-mail address of the account."""
    return assigned_hash(exchange) in own_hashes(exchange, history)


def shows_selection(exchange: Exchange, _history: History) -> bool:
    """Tells whether the list says of each avatar whether it is selected, as it need not always."""
    return exchange.response.is_success and all("selected" in each for each in avatars_in(exchange))
