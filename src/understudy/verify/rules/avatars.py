"""The caller's avatars: listed, changed, assigned, deleted (interface, Authenticated avatar operations)."""

from typing import Any

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import (
    AVATAR_CHANGES,
    DELETE_AVATAR,
    LIST_AVATARS,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPLOAD_AVATAR,
)
from understudy.verify.checks import (
    CheckResult,
    check,
    expect,
    expect_accepted,
    expect_equal,
    expect_refused,
    expect_status,
)
from understudy.verify.history import History, avatars_in

MEMBERS = ("rating", "alt_text")
RATINGS = ("G", "PG", "R", "X")


def _ids(exchange: Exchange) -> list[Any]:
    return [avatar.get("image_id") for avatar in avatars_in(exchange)]


def _is_able(exchange: Exchange) -> bool:
    """Tells whether the caller may change avatars, so that only the request decides."""
    return exchange.identity.may("avatar-profile:manage")


def _is_live(exchange: Exchange, history: History) -> bool:
    is_own = history.owner_of(exchange.value) == exchange.identity.account
    return is_own and not history.is_gone(exchange.value)


def _said_of(exchange: Exchange | None, image_id: str) -> dict[str, Any]:
    """Returns what an answer says of an avatar; empty where it says nothing."""
    found = avatars_in(exchange) if exchange else []
    return next((dict(avatar) for avatar in found if avatar.get("image_id") == image_id), {})


def _before(exchange: Exchange, history: History, image_id: str) -> Exchange | None:
    """Returns the newest answer that speaks of an avatar."""
    found = (
        before
        for before in history.of(LIST_AVATARS, UPLOAD_AVATAR, UPDATE_AVATAR)
        if _said_of(before, image_id) and before.identity.account == exchange.identity.account
    )
    return max(found, key=lambda before: before.number, default=None)


@check("avatar-list-of-caller", on=[LIST_AVATARS])
def _of_caller(exchange: Exchange, history: History) -> CheckResult | None:
    if not exchange.response.is_success or not isinstance(exchange.body, list):
        return None
    found, account = _ids(exchange), exchange.identity.account
    if account is None:
        return None
    foreign = [image for image in found if history.owner_of(image) not in {None, account}]
    gone = [image for image in found if history.is_gone(str(image))]
    twin = history.avatars_before(exchange)
    lacking = [image for image in _ids(twin) if image not in found] if twin else []
    twice = len(found) != len(set(map(str, found)))
    actual = f"foreign {foreign}, deleted {gone}, lacking {lacking}, twice: {twice}"
    return expect(not (foreign or gone or lacking or twice), "all of the account's", actual, twin)


@check("unknown-selected-email-hash", on=[LIST_AVATARS, UPLOAD_AVATAR])
def _unknown_hash(exchange: Exchange, history: History) -> CheckResult | None:
    asked = exchange.request.query.get("selected_email_hash")
    if asked == "" and exchange.operation == LIST_AVATARS and exchange.identity.may("auth"):
        return (
            expect_status(exchange, 200) if exchange.identity.may("avatar-profile:read") else None
        )
    is_foreign = asked is not None and (
        history.is_made_up(asked)
        or (exchange.identity.account == "own" and history.is_others(asked))
    )
    scope = "read" if exchange.operation == LIST_AVATARS else "manage"
    is_able = exchange.identity.may(f"avatar-profile:{scope}")
    return expect_status(exchange, 403) if is_foreign and is_able else None


@check("foreign-avatars-invisible", on=AVATAR_CHANGES)
def _foreign(exchange: Exchange, history: History) -> CheckResult | None:
    owner = history.owner_of(exchange.value)
    if owner in {None, exchange.identity.account} or not _is_able(exchange):
        return None
    if history.is_gone(exchange.value):
        return None
    return expect_status(exchange, 404)


@check("avatar-unknown-404", on=AVATAR_CHANGES)
def _unknown(exchange: Exchange, history: History) -> CheckResult | None:
    is_unknown = history.is_made_up(exchange.value) or history.is_gone(exchange.value)
    is_sound = exchange.operation == DELETE_AVATAR or _is_sound(exchange)
    return expect_status(exchange, 404) if is_unknown and is_sound and _is_able(exchange) else None


def _is_sound(exchange: Exchange) -> bool:
    asked = exchange.request.json
    if not isinstance(asked, dict):
        return False
    if exchange.operation == SET_AVATAR:
        return isinstance(asked.get("email_hash"), str)
    return (
        set(asked) <= set(MEMBERS)
        and asked.get("rating", "G") in RATINGS
        and isinstance(asked.get("alt_text", ""), str)
    )


@check("avatar-delete-no-content", on=[DELETE_AVATAR, LIST_AVATARS])
def _deleted(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.operation == LIST_AVATARS:
        before = history.last(DELETE_AVATAR, account=exchange.identity.account)
        if before is None or not exchange.response.is_success:
            return None
        is_listed = before.value in _ids(exchange)
        return expect(not is_listed, "a list without it", "it is listed still", before)
    if not (_is_able(exchange) and _is_live(exchange, history)):
        return None
    is_right = exchange.response.is_success and not exchange.response.body
    actual = f"status {exchange.status}, {len(exchange.response.body)} bytes"
    return expect(is_right, "success without content", actual)


@check("avatar-delete-status", on=[DELETE_AVATAR])
def _delete_status(exchange: Exchange, _history: History) -> CheckResult | None:
    return expect_status(exchange, 204) if exchange.response.is_success else None


@check("avatar-delete-unselects", on=[LIST_AVATARS])
def _unselects(exchange: Exchange, history: History) -> CheckResult | None:
    if not exchange.response.is_success or not _says_selected(exchange):
        return None
    deleted = history.last(DELETE_AVATAR, account=exchange.identity.account)
    if deleted is None:
        return None
    asked = exchange.request.query.get("selected_email_hash", "")
    later = history.last(UPLOAD_AVATAR, SET_AVATAR, account=exchange.identity.account)
    for before in history.of(LIST_AVATARS):
        is_twin = before.request.query.get("selected_email_hash", "") == asked
        if not is_twin or before.identity.account != exchange.identity.account:
            continue
        is_stale = later is not None and later.number > before.number
        is_later = before.number > deleted.number
        if is_stale or is_later or not _said_of(before, deleted.value).get("selected"):
            return None
        chosen = [a.get("image_id") for a in avatars_in(exchange) if a.get("selected")]
        return expect(not chosen, "no other takes its place", chosen, before, deleted)
    return None


@check("avatar-patch-rating-and-alt-text", on=[UPDATE_AVATAR, LIST_AVATARS])
def _patched(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.operation == UPDATE_AVATAR:
        if not (_is_able(exchange) and _is_live(exchange, history) and _is_sound(exchange)):
            return None
        asked = exchange.request.json
        wrong = {
            n: exchange.json_object.get(n) for n in asked if exchange.json_object.get(n) != asked[n]
        }
        is_right = exchange.response.is_success and not wrong
        return expect(is_right, f"an avatar with {asked}", f"status {exchange.status}, {wrong}")
    before = history.last(UPDATE_AVATAR, account=exchange.identity.account)
    said = _said_of(exchange, before.value) if before else {}
    if before is None or not said:
        return None
    differing = [name for name in MEMBERS if said.get(name) != before.json_object.get(name)]
    return expect(not differing, "what the update answered", differing, before)


@check("avatar-patch-partial", on=[UPDATE_AVATAR])
def _partial(exchange: Exchange, history: History) -> CheckResult | None:
    if not (_is_able(exchange) and _is_live(exchange, history) and _is_sound(exchange)):
        return None
    before = _before(exchange, history, exchange.value)
    left = [name for name in MEMBERS if name not in exchange.request.json]
    if before is None or not left:
        return None
    said = _said_of(before, exchange.value)
    changed = [name for name in left if exchange.json_object.get(name) != said.get(name)]
    is_right = exchange.response.is_success and not changed
    return expect(is_right, f"{left} as before", f"status {exchange.status}, {changed}", before)


@check("avatar-patch-members", on=[UPDATE_AVATAR])
def _members(exchange: Exchange, history: History) -> CheckResult | None:
    asked = exchange.request.json
    if not isinstance(asked, dict) or set(asked) <= set(MEMBERS):
        return None
    return (
        expect_status(exchange, 400) if _is_able(exchange) and _is_live(exchange, history) else None
    )


@check("avatar-email-assign", on=[SET_AVATAR, LIST_AVATARS])
def _assigned(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.operation == SET_AVATAR:
        if not (_is_live(exchange, history) and _owns_hash(exchange, history)):
            return None
        if not _is_able(exchange):
            return None
        is_right = exchange.response.is_success and not exchange.response.body
        return expect(is_right, "success without content", f"status {exchange.status}")
    return _follows_assignment(exchange, history)


def _says_selected(exchange: Exchange) -> bool:
    """Tells whether an answer says of each avatar whether it is selected, as it need not always."""
    return all("selected" in avatar for avatar in avatars_in(exchange))


def _follows_assignment(exchange: Exchange, history: History) -> CheckResult | None:
    if not exchange.response.is_success or not _says_selected(exchange):
        return None
    asked = exchange.request.query.get("selected_email_hash") or _primary(exchange, history)
    for before in history.of(SET_AVATAR):
        is_same = (
            before.response.is_success and before.identity.account == exchange.identity.account
        )
        body = before.request.json
        if not (is_same and isinstance(body, dict) and body.get("email_hash") == asked):
            continue
        later = history.last(UPLOAD_AVATAR, DELETE_AVATAR, account=exchange.identity.account)
        if later is not None and later.number > before.number:
            return None
        chosen = [a.get("image_id") for a in avatars_in(exchange) if a.get("selected")]
        return expect_equal(chosen, [before.value], "what is selected there", before)
    return None


def _primary(exchange: Exchange, history: History) -> str | None:
    own, others = history.known.own_hashes, history.known.others_hashes
    found = {"own": own, "other": others}.get(exchange.identity.account or "", ())
    return found[0] if found else None


def _owns_hash(exchange: Exchange, history: History) -> bool:
    asked = exchange.request.json
    given = asked.get("email_hash") if isinstance(asked, dict) else None
    known = history.known
    hashes = {"own": known.own_hashes, "other": known.others_hashes}
    return given in hashes.get(exchange.identity.account or "", ())


@check("avatar-email-status", on=[SET_AVATAR])
def _assign_status(exchange: Exchange, _history: History) -> CheckResult | None:
    return expect_status(exchange, 204) if exchange.response.is_success else None


@check("avatar-email-hash-required", on=[SET_AVATAR])
def _hash_required(exchange: Exchange, history: History) -> CheckResult | None:
    asked = exchange.request.json
    if not _is_able(exchange) or not _is_live(exchange, history):
        return None
    if isinstance(asked, dict) and "email_hash" not in asked:
        return expect_refused(exchange)
    return expect_accepted(exchange) if _owns_hash(exchange, history) else None


@check("avatar-email-unknown-hash", on=[SET_AVATAR])
def _foreign_hash(exchange: Exchange, history: History) -> CheckResult | None:
    asked = exchange.request.json
    given = asked.get("email_hash") if isinstance(asked, dict) else None
    if not isinstance(given, str) or not (_is_able(exchange) and _is_live(exchange, history)):
        return None
    is_others = exchange.identity.account == "own" and history.is_others(given)
    return expect_status(exchange, 403) if is_others or history.is_made_up(given) else None
