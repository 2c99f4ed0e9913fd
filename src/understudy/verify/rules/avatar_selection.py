"""Judges which avatar is selected for an e-mail address (interface, Authenticated avatar operations)."""

from understudy.exchange.messages import Exchange
from understudy.interface.operations import (
    DELETE_AVATAR,
    LIST_AVATARS,
    SET_AVATAR,
    UPLOAD_AVATAR,
)
from understudy.verify.account_history import (
    address_of,
    assigned_hash,
    avatar_in,
    is_live,
    names_own_address,
    own_hashes,
    selected_in,
    shows_selection,
)
from understudy.verify.causes import latest_attempts
from understudy.verify.checks import (
    CheckResult,
    check,
    expect,
    expect_accepted,
    expect_equal,
    expect_refused,
    expect_status,
    may_manage,
    proven,
    succeeded,
)
from understudy.verify.history import History, avatars_in, made_up_hash
from understudy.verify.pictures import an_avatar, avatars, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.avatar_uploads import last_upload


def last_assignment(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest assignment for the address of a list, if it must still be in force.

    None where an avatar was uploaded or deleted since, as that may change what is selected.
    """
    account = exchange.identity.account
    primary = (*own_hashes(exchange, history), None)[0]
    hash_ = address_of(exchange) or primary
    for before in history.of(SET_AVATAR):
        is_same = before.response.is_success and before.identity.account == account
        if not is_same or assigned_hash(before) != hash_ or hash_ is None:
            continue
        later = history.last(UPLOAD_AVATAR, DELETE_AVATAR, account=account)
        is_stale = later is not None and later.number > before.number
        return None if is_stale else before
    return None


def avatar_was_assigned(exchange: Exchange, history: History) -> bool:
    """Tells whether an avatar was set for the address, and none was uploaded or deleted since."""
    return last_assignment(exchange, history) is not None


def has_body_without_hash(exchange: Exchange, _history: History) -> bool:
    """Tells whether the body is an object without email_hash."""
    body = exchange.request.json
    return isinstance(body, dict) and "email_hash" not in body


def names_hash_of_other(exchange: Exchange, history: History) -> bool:
    """Tells whether the body names another account's address."""
    return exchange.identity.account == "own" and history.is_others(str(assigned_hash(exchange)))


def names_foreign_hash(exchange: Exchange, history: History) -> bool:
    """Tells whether the body names an unknown address, or another account's."""
    is_unknown = history.is_made_up(str(assigned_hash(exchange)))
    return is_unknown or names_hash_of_other(exchange, history)


def states_whether_selected(exchange: Exchange, _history: History) -> bool:
    """Tells whether the new avatar says whether it is selected."""
    return exchange.response.is_success and "selected" in exchange.json_object


def makes_a_choice(exchange: Exchange, _history: History) -> bool:
    """Tells whether select_avatar is true or false."""
    return exchange.request.query.get("select_avatar") in {"true", "false"}


def makes_no_choice(exchange: Exchange, _history: History) -> bool:
    """Tells whether select_avatar was left out."""
    return not exchange.request.query.get("select_avatar")


def list_before(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the list for the same address before an upload, if it says what was selected."""
    before = history.avatars_before(exchange)
    is_twin = before is not None and address_of(before) == address_of(exchange)
    if before is None or not is_twin or not shows_selection(before, history):
        return None
    return before


def selection_was_seen(exchange: Exchange, history: History) -> bool:
    """Tells whether the list for the same address was seen just before."""
    return list_before(exchange, history) is not None


def follows_upload(exchange: Exchange, history: History) -> bool:
    """Tells whether an avatar was uploaded for the same address, is listed, and nothing changed."""
    before = last_upload(exchange, history)
    if before is None or not states_whether_selected(before, history):
        return False
    if not history.still_since(before):
        return False
    is_listed = bool(avatar_in(exchange, str(before.json_object.get("image_id"))))
    return is_listed and address_of(before) == address_of(exchange)


@check("select-avatar", on=[UPLOAD_AVATAR], when=[makes_a_choice, states_whether_selected])
def choice_is_followed(exchange: Exchange, _history: History) -> CheckResult:
    """An uploaded avatar is selected just if select_avatar is true."""
    choice = exchange.request.query["select_avatar"] == "true"
    return expect_equal(exchange.json_object["selected"], choice, "selected")


@check(
    "select-avatar",
    on=[UPLOAD_AVATAR],
    when=[makes_no_choice, states_whether_selected, selection_was_seen],
)
def first_avatar_is_selected(exchange: Exchange, history: History) -> CheckResult:
    """Without a choice, an uploaded avatar is selected just if none was for the address."""
    before = proven(list_before(exchange, history))
    had_one = any(avatar.get("selected") for avatar in avatars_in(before))
    return expect_equal(exchange.json_object["selected"], not had_one, "selected", before)


@check("select-avatar", on=[LIST_AVATARS], when=[follows_upload])
def list_agrees_with_upload(exchange: Exchange, history: History) -> CheckResult:
    """The list shows a new avatar as the response to its upload did."""
    before = proven(last_upload(exchange, history))
    listed = avatar_in(exchange, str(before.json_object.get("image_id"))).get("selected")
    return expect_equal(listed, before.json_object.get("selected"), "selected in the list", before)


@check("avatar-email-assign", on=[SET_AVATAR], when=[names_own_address, may_manage, is_live])
def assignment_has_no_content(exchange: Exchange, _history: History) -> CheckResult:
    """Setting an own avatar for an own address succeeds and has no body."""
    is_right = exchange.response.is_success and not exchange.response.body
    return expect(is_right, "success without content", f"status {exchange.status}")


@check("avatar-email-assign", on=[LIST_AVATARS], when=[shows_selection, avatar_was_assigned])
def assigned_avatar_is_selected(exchange: Exchange, history: History) -> CheckResult:
    """The avatar that was set for an address is the one selected for it."""
    before = proven(last_assignment(exchange, history))
    deletion = history.last(DELETE_AVATAR, account=exchange.identity.account)
    causes = (deletion, before, *latest_attempts(before, history))
    return expect_equal(selected_in(exchange), [before.value], "what is selected there", *causes)


@check("avatar-email-status", on=[SET_AVATAR], when=[succeeded])
def assignment_is_204(exchange: Exchange, _history: History) -> CheckResult:
    """Setting an avatar has status 204."""
    return expect_status(exchange, 204)


@check(
    "avatar-email-hash-required", on=[SET_AVATAR], when=[has_body_without_hash, may_manage, is_live]
)
def assignment_without_hash_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """Setting an avatar without naming an address is refused."""
    return expect_refused(exchange)


@check("avatar-email-hash-required", on=[SET_AVATAR], when=[names_own_address, may_manage, is_live])
def assignment_with_hash_is_accepted(exchange: Exchange, _history: History) -> CheckResult:
    """Setting an avatar takes nothing but the address."""
    return expect_accepted(exchange)


@check(
    "avatar-email-unknown-hash", on=[SET_AVATAR], when=[names_hash_of_other, may_manage, is_live]
)
def assignment_for_other_account_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """Setting an avatar for another account's address is refused."""
    return expect_refused(exchange)


@check(
    "avatar-email-unknown-hash",
    on=[SET_AVATAR],
    when=[names_foreign_hash, may_manage, is_live],
    is_choice=True,
)
def assignment_for_foreign_hash_is_forbidden(exchange: Exchange, _history: History) -> CheckResult:
    """Setting an avatar for an unknown address, or another account's, is forbidden."""
    return expect_status(exchange, 403)


@probe("select-avatar", needs=("owner", "writes", "uploads", "two_emails"))
def uploads_with_every_choice(client: ProbeClient) -> Parts:
    """Uploads with every choice of select_avatar, for an address with an avatar and without."""
    second = {"selected_email_hash": client.known.own_hashes[-1]}
    for address in ({}, second):
        for choice in (None, "true", None if address else "false"):
            if choice is None:
                client.recall("/me/avatars", "owner", address)
            select = {"select_avatar": choice} if choice else {}
            upload(client, picture(), **address, **select)
            yield client.get("/me/avatars", "owner", address)


@probe(
    *("avatar-email-assign", "avatar-email-status", "avatar-email-hash-required"),
    *("avatar-selected-for-email", "avatar-email-unknown-hash", "error-unknown-address"),
    needs=("owner", "writes", "uploads", "hashes"),
)
def assignments_of_avatar(client: ProbeClient) -> Parts:
    """Sets an avatar for an address twice, lists, and tries others that are refused."""
    path = f"/me/avatars/{an_avatar(client)}/email"
    last = client.known.own_hashes[-1]
    client.send("POST", path, "owner", json={"email_hash": last})
    yield client.send("POST", path, "owner", json={"email_hash": last})
    yield avatars(client, last)
    yield client.send("POST", path, "owner", json={"email_hash": made_up_hash(6)})
    yield client.send("POST", path, "owner", json={})
    for hash_ in client.known.others_hashes[:1]:
        yield client.send("POST", path, "owner", json={"email_hash": hash_})
