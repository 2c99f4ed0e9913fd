"""Changing and deleting an avatar (interface, Authenticated avatar operations)."""

from understudy.exchange.messages import GRANTEE, Exchange
from understudy.interface.operations import (
    AVATAR_CHANGES,
    DELETE_AVATAR,
    LIST_AVATARS,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPLOAD_AVATAR,
)
from understudy.verify.account_history import (
    address_of,
    avatar_in,
    changes_in,
    ids_in,
    is_live,
    is_sound_change,
    is_sound_update,
    last_mention,
    names_own_address,
    names_unknown_address,
    names_unknown_rating,
    selected_in,
    shows_selection,
)
from understudy.verify.causes import update_before
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    document_allows,
    expect,
    expect_refused,
    expect_status,
    found,
    may_manage,
    proven,
    succeeded,
    tells,
    unless,
)
from understudy.verify.history import MADE_UP, History, made_up_hash
from understudy.verify.pictures import an_avatar, assign, avatars, id_of, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import AVATAR_FIELDS
from understudy.verify.switches import (
    DELETED,
    UPLOADING,
    experiment,
    reading,
    status_of,
    two_errors,
)
from understudy.verify.value_texts import BITING, as_json, as_pairs, differing_pairs


def _kept(exchange: Exchange) -> list[str]:
    return [name for name in AVATAR_FIELDS if name not in exchange.request.json]


keeps_a_member = tells(
    "the update leaves rating or text alternative as it was", lambda it, _: bool(_kept(it))
)
changes_a_member = tells(
    "the update names rating or text alternative", lambda it, _: bool(it.request.json)
)
changes_nothing = unless(changes_a_member, "the update names nothing")


avatar_was_seen = found(last_mention, "an earlier response mentions the avatar")


has_unknown_member = tells(
    "the body has a member beside rating and text alternative",
    lambda it, _: not set(changes_in(it)) <= set(AVATAR_FIELDS),
)


def last_update(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the account's newest successful update of an avatar."""
    return history.last(UPDATE_AVATAR, account=exchange.identity.account)


def lists_updated_avatar(exchange: Exchange, history: History) -> bool:
    """Tells whether the list mentions the avatar that was updated last."""
    before = last_update(exchange, history)
    return before is not None and bool(avatar_in(exchange, before.value))


_SOUND = (may_manage, is_live, is_sound_update, document_allows)


@check("avatar-patch-rating-and-alt-text", on=[UPDATE_AVATAR], when=_SOUND)
def update_is_carried_out(exchange: Exchange, history: History) -> CheckResult:
    """An update returns the avatar with the requested values."""
    wanted, returned = exchange.request.json, exchange.json_object
    wrong = {name: returned.get(name) for name in wanted if returned.get(name) != wanted[name]}
    is_right = exchange.response.is_success and not wrong
    return expect(
        is_right,
        f"an avatar with {as_json(wanted)}",
        f"status {exchange.status}, {as_json(wrong)}",
        update_before(exchange, history, wanted),
    )


@check("avatar-patch-rating-and-alt-text", on=[LIST_AVATARS], when=[lists_updated_avatar])
def update_is_listed(exchange: Exchange, history: History) -> CheckResult:
    """The list shows the avatar as the last update returned it."""
    before = proven(last_update(exchange, history))
    listed = avatar_in(exchange, before.value)
    returned = before.json_object
    differing = differing_pairs(returned, listed, AVATAR_FIELDS)
    actual = as_pairs(differing, "returned", "listed")
    return expect(not differing, "what the update returned", actual, before)


def _expect_kept(exchange: Exchange, history: History) -> CheckResult:
    """An update keeps the members that its body leaves out (RFC 5789, 2)."""
    before, kept = proven(last_mention(exchange, history)), _kept(exchange)
    known = avatar_in(before, exchange.value)
    changed = [name for name in kept if exchange.json_object.get(name) != known.get(name)]
    is_right = exchange.response.is_success and not changed
    return expect(
        is_right,
        f"{as_json(kept)} as before",
        f"status {exchange.status}, {as_json(changed)}",
        before,
        update_before(exchange, history, kept),
    )


check(
    "avatar-patch-partial",
    on=[UPDATE_AVATAR],
    when=[*_SOUND, changes_a_member, keeps_a_member, avatar_was_seen],
)(_expect_kept)
# A choice, since a deployment may refuse an update of nothing.
check(
    "avatar-patch-partial",
    on=[UPDATE_AVATAR],
    when=[*_SOUND, changes_nothing, avatar_was_seen],
    is_choice=True,
)(_expect_kept)


@probe(
    "avatar-patch-rating-and-alt-text",
    "avatar-patch-partial",
    "avatar-patch-members",
    "avatar-members",
    "rating-values",
    "updated-date-utc",
    "error-unknown-member",
    needs=("owner", "writes", "uploads"),
)
def updates_of_avatar(client: ProbeClient) -> Parts:
    """Changes rating and text alternative alone and together, and reads them back."""
    path = f"/me/avatars/{an_avatar(client)}"
    yield client.send("PATCH", path, "owner", json={"alt_text": "An understudy"})
    for change in (
        {"rating": "G", "title": "not a member"},
        {"rating": "M"},
        {"rating": "PG"},
        {},
        {"rating": "R", "alt_text": "Another"},
        {"rating": "R", "alt_text": "Another"},
        {"rating": "X"},
        {"rating": "pg"},
    ):
        yield client.send("PATCH", path, "owner", json=change)
    client.send("PATCH", path, "owner", json={"alt_text": ""})
    yield avatars(client)


@probe(
    "avatar-patch-rating-and-alt-text",
    "avatar-patch-partial",
    "rating-values",
    needs=("owner", "writes", "uploads"),
)
def unusual_text_alternatives(client: ProbeClient) -> Parts:
    """Sets text alternatives that servers often alter, and a valid one beside an unknown rating."""
    path = f"/me/avatars/{an_avatar(client)}"
    for text in (BITING[0], f"{BITING[1]} {BITING[2]}"):
        yield client.send("PATCH", path, "owner", json={"alt_text": text})
    avatars(client)
    client.send("PATCH", path, "owner", json={"alt_text": "beside", "rating": "unknown"})
    yield avatars(client)


@probe("avatar-patch-partial", needs=("owner", "writes", "uploads"))
def two_updates_at_once(client: ProbeClient) -> None:
    """Updates two members of an avatar by two requests at the same moment, and lists it."""
    path = f"/me/avatars/{an_avatar(client)}"
    client.send("PATCH", path, "owner", json={"rating": "G", "alt_text": "Understudy"})
    changes = ({"rating": "PG"}, {"alt_text": "Understudy at once"})
    client.send_together("PATCH", path, "owner", *({"json": change} for change in changes))
    avatars(client)


# Deleting an avatar, and avatars that do not exist or belong to another account.


def last_deletion(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the account's newest successful deletion, if no upload brought its avatar back."""
    deleted = history.last(DELETE_AVATAR, account=exchange.identity.account)
    return deleted if deleted is not None and history.is_gone(deleted.value) else None


something_was_deleted = found(last_deletion, "the account deleted an avatar before")


def list_with_deleted_selected(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest list for the same address, if the avatar deleted since was selected in it.

    None where another avatar was uploaded or set since, as that may rightly be selected now.
    """
    deleted, account = proven(last_deletion(exchange, history)), exchange.identity.account
    later = history.last(UPLOAD_AVATAR, SET_AVATAR, account=account)
    for before in history.of(LIST_AVATARS):
        if address_of(before) != address_of(exchange) or before.identity.account != account:
            continue
        is_stale = later is not None and later.number > before.number
        is_later = before.number > deleted.number
        was_selected = avatar_in(before, deleted.value).get("selected")
        return before if was_selected and not (is_stale or is_later) else None
    return None


selected_avatar_was_deleted = found(
    list_with_deleted_selected, "the avatar that was selected for the address was deleted since"
)


def is_of_other_account(exchange: Exchange, history: History) -> bool:
    """Tells whether the avatar is known to be another account's."""
    owner, account = history.owner_of(exchange.value), exchange.identity.account
    is_others = account != GRANTEE and owner not in {None, account}
    return is_others and not history.is_gone(exchange.value)


was_deleted = tells("the avatar was deleted", lambda it, history: history.is_gone(it.value))
does_not_exist = tells(
    "the avatar is made up or was deleted",
    lambda it, history: history.is_made_up(it.value) or history.is_gone(it.value),
)


@check("avatar-delete-no-content", on=[DELETE_AVATAR], when=[may_manage, is_live], is_shape=True)
def deletion_has_no_content(exchange: Exchange, _history: History) -> CheckResult:
    """A deletion succeeds and has no body."""
    is_right = exchange.response.is_success and not exchange.response.body
    actual = f"status {exchange.status}, {len(exchange.response.body)} bytes"
    return expect(is_right, "success without content", actual)


@check("avatar-delete-no-content", on=[LIST_AVATARS], when=[succeeded, something_was_deleted])
def deleted_avatar_is_not_listed(exchange: Exchange, history: History) -> CheckResult:
    """A deleted avatar is no longer listed."""
    before = proven(last_deletion(exchange, history))
    is_listed = before.value in ids_in(exchange)
    return expect(not is_listed, "a list without the deleted avatar", "it is still listed", before)


@check(
    "avatar-delete-no-content",
    on=[UPDATE_AVATAR, SET_AVATAR],
    when=[was_deleted, is_sound_change, may_manage],
)
def deleted_avatar_cannot_be_changed(exchange: Exchange, history: History) -> CheckResult:
    """An update or an assignment of a deleted avatar is refused."""
    actual = f"status {exchange.status}"
    deletions = (before for before in history.of(DELETE_AVATAR) if before.value == exchange.value)
    return expect(exchange.response.is_refusal, "a refusal", actual, next(deletions, None))


@check(
    "avatar-delete-unselects",
    on=[LIST_AVATARS],
    when=[shows_selection, something_was_deleted, selected_avatar_was_deleted],
)
def no_other_avatar_is_selected(exchange: Exchange, history: History) -> CheckResult:
    """After the selected avatar was deleted, no other avatar is selected in its place."""
    before, deleted = (
        list_with_deleted_selected(exchange, history),
        last_deletion(exchange, history),
    )
    selected = selected_in(exchange)
    return expect(not selected, "no other avatar is selected", selected, before, deleted)


@probe(
    "avatar-unknown-404",
    "avatar-email-both-unknown",
    "error-unknown-avatar",
    "avatar-body-both-wrong",
    needs=("owner", "writes"),
)
def changes_of_unknown_avatars(client: ProbeClient) -> Parts:
    """Updates, deletes and assigns an avatar that does not exist, also to an unknown address."""
    yield client.send("PATCH", f"/me/avatars/{MADE_UP}", "owner", json={"rating": "G"})
    yield client.send("PATCH", f"/me/avatars/{MADE_UP}", "owner", json={"rating": "M"})
    yield client.send("DELETE", f"/me/avatars/{MADE_UP}", "owner")
    for hash_ in (*client.known.own_hashes[:1], made_up_hash(5)):
        yield assign(client, MADE_UP, hash_)


@probe(
    "avatar-delete-no-content",
    "avatar-delete-status",
    "avatar-list-of-caller",
    "avatar-unknown-404",
    "avatar-urls-resolve",
    needs=("owner", "writes", "uploads"),
)
def deletion_twice(client: ProbeClient) -> Parts:
    """Deletes an avatar, lists both accounts' avatars, and tries to change the deleted one."""
    image = id_of(upload(client, picture(), select_avatar="false"))
    avatars(client)
    if client.has("other"):
        client.recall("/me/avatars", "other")
    client.send("DELETE", f"/me/avatars/{image}", "owner")
    yield avatars(client)
    if client.has("other"):
        yield avatars(client, who="other")
    yield client.send("DELETE", f"/me/avatars/{image}", "owner")
    yield client.send("PATCH", f"/me/avatars/{image}", "owner", json={"rating": "G"})
    yield assign(client, image, (client.known.own_hashes or (made_up_hash(5),))[0])


@probe(
    "avatar-delete-unselects",
    "avatar-email-assign",
    "profile-by-hash-or-slug",
    needs=("owner", "writes", "uploads", "hashes"),
)
def deletion_of_selected_avatar(client: ProbeClient) -> None:
    """Deletes the avatar of every address, lists before and after, and looks the person up."""
    hashes = client.known.own_hashes
    image = id_of(upload(client, picture(), select_avatar="true"))
    for hash_ in hashes[1:]:
        assign(client, image, hash_)
    for hash_ in hashes:
        avatars(client, hash_)
    client.send("DELETE", f"/me/avatars/{image}", "owner")
    for hash_ in hashes:
        avatars(client, hash_)
    client.get(f"/profiles/{hashes[0]}")


@probe(
    "foreign-avatars-invisible",
    "avatar-list-of-caller",
    "avatar-email-assign",
    needs=("owner", "other", "writes", "uploads"),
)
def changes_by_other_account(client: ProbeClient) -> Parts:
    """Has another account update, assign and delete an avatar of the test account."""
    image, own = an_avatar(client), client.known.own_hashes
    client.recall("/me/avatars", "owner")
    yield client.send("PATCH", f"/me/avatars/{image}", "other", json={"rating": "X"})
    for who, hashes in (("owner", own[:1]), ("other", client.known.others_hashes[:1])):
        for hash_ in hashes:
            client.recall("/me/avatars", who, {"selected_email_hash": hash_})
            assign(client, image, hash_, "other")
            yield client.get("/me/avatars", who, {"selected_email_hash": hash_})
    client.send("DELETE", f"/me/avatars/{image}", "other")
    yield avatars(client)


def _is_own_avatar(exchange: Exchange, history: History) -> bool:
    return history.owner_of(exchange.value) == exchange.identity.account


reading("avatar-delete-status", on=[DELETE_AVATAR], when=[succeeded], read=status_of)
two_errors(
    "avatar-body-both-wrong",
    UPDATE_AVATAR,
    400,
    when=[may_manage, does_not_exist, names_unknown_rating],
    alone={
        "avatar": [may_manage, does_not_exist, is_sound_update],
        "body": [may_manage, _is_own_avatar, names_unknown_rating],
    },
)
two_errors(
    "avatar-email-both-unknown",
    SET_AVATAR,
    404,
    when=[may_manage, does_not_exist, names_unknown_address],
    alone={
        "avatar": [may_manage, does_not_exist, names_own_address],
        "email": [may_manage, _is_own_avatar, names_unknown_address],
    },
)


@experiment("avatar-body-both-wrong", needs=UPLOADING, requests=5, undo=DELETED)
def updates_with_errors(client: ProbeClient) -> None:
    """Updates an unknown avatar, sets an unknown rating, and makes both errors at once."""
    avatar = an_avatar(client)
    for image, rating in ((MADE_UP, "G"), (avatar, "M"), (MADE_UP, "M")):
        client.send("PATCH", f"/me/avatars/{image}", "owner", json={"rating": rating})


@experiment("avatar-email-both-unknown", needs=(*UPLOADING, "hashes"), requests=5, undo=DELETED)
def assignments_of_unknowns(client: ProbeClient) -> None:
    """Assigns an unknown avatar, assigns to an unknown address, and makes both errors at once."""
    avatar, own, unknown = an_avatar(client), client.known.own_hashes[0], made_up_hash(6)
    for image, hash_ in ((MADE_UP, own), (avatar, unknown), (MADE_UP, unknown)):
        assign(client, image, hash_)


# Rules that demand one outcome wherever their conditions hold.

of_update_avatar = demands(UPDATE_AVATAR)
of_update_avatar("avatar-patch-members", [has_unknown_member, may_manage, is_live], expect_refused)
demands(DELETE_AVATAR)("avatar-delete-status", [succeeded], expect_status, 204)
of_avatar_changes = demands(*AVATAR_CHANGES)
of_avatar_changes("foreign-avatars-invisible", [is_of_other_account, may_manage], expect_refused)
of_avatar_changes(
    "foreign-avatars-invisible",
    [is_of_other_account, is_sound_change, may_manage],
    expect_status,
    404,
    is_choice=True,
)
of_avatar_changes(
    "avatar-unknown-404", [does_not_exist, is_sound_change, may_manage], expect_status, 404
)
