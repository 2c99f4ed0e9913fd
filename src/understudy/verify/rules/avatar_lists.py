"""The list of avatars, and the selected one (interface, Authenticated avatar operations)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from understudy.exchange.messages import GRANTEE, Exchange
from understudy.interface.operations import (
    AVATARS,
    DELETE_AVATAR,
    LIST_AVATARS,
    PROFILES,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPLOAD_AVATAR,
)
from understudy.verify.account_history import (
    RATINGS,
    address_of,
    assigned_hash,
    avatar_in,
    has_object,
    ids_in,
    is_live,
    names_own_address,
    names_unknown_rating,
    own_hashes,
    selected_in,
    shows_selection,
)
from understudy.verify.causes import latest_attempts, same_request_before
from understudy.verify.checks import (
    CheckResult,
    check,
    declares,
    demands,
    expect,
    expect_accepted,
    expect_equal,
    expect_refused,
    expect_status,
    found,
    holds_avatars,
    may_manage,
    may_read,
    proven,
    succeeded,
    tells,
)
from understudy.verify.history import History, avatars_in, made_up_hash, profile_in
from understudy.verify.pictures import an_avatar, assign, avatars, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.avatar_uploads import SAFE_UPLOAD, last_upload
from understudy.verify.rules.profiles import expect_fit
from understudy.verify.switches import by_success, reading, status_of
from understudy.verify.value_texts import as_pairs, differing_pairs, in_parts

is_list = tells(
    "the response is a list, and the account known",
    lambda it, _: isinstance(it.body, list) and it.identity.account not in {None, GRANTEE},
)
lists_anything = tells("the list has an item", lambda it, _: bool(it.body != []))
names_address = tells(
    "the list is requested for an e-mail address",
    lambda it, _: bool(it.request.query.get("selected_email_hash")),
)
names_empty_address = tells(
    "the requested address is empty",
    lambda it, _: it.request.query.get("selected_email_hash") == "",
)


def names_foreign_address(exchange: Exchange, history: History) -> bool:
    """Tells whether the requested address is unknown or of another account."""
    hash_ = exchange.request.query.get("selected_email_hash")
    if hash_ is None:
        return False
    is_others = exchange.identity.account == "own" and history.is_others(hash_)
    return is_others or history.is_made_up(hash_)


@check("avatar-members", on=[UPLOAD_AVATAR, UPDATE_AVATAR], when=[succeeded], is_shape=True)
def avatar_is_whole(exchange: Exchange, _history: History) -> CheckResult:
    """An upload or an update returns an avatar with its six members, each of its type."""
    return expect_fit([exchange.body], "Avatar")


@check("avatar-members", on=[LIST_AVATARS], when=[succeeded, lists_anything], is_shape=True)
def listed_avatars_are_whole(exchange: Exchange, _history: History) -> CheckResult:
    """Each avatar of the list has its six members, each of its type."""
    return expect_fit(
        exchange.body if isinstance(exchange.body, list) else [exchange.body], "Avatar"
    )


@check("rating-values", on=AVATARS, when=[holds_avatars], is_shape=True)
def ratings_are_known(exchange: Exchange, _history: History) -> CheckResult:
    """A rating is G, PG, R or X."""
    ratings = [avatar.get("rating") for avatar in avatars_in(exchange)]
    wrong = [rating for rating in ratings if rating not in RATINGS]
    return expect(not wrong, f"one of {', '.join(RATINGS)}", wrong)


@check("avatar-list-of-caller", on=[LIST_AVATARS], when=[succeeded, is_list])
def list_is_of_the_account(exchange: Exchange, history: History) -> CheckResult:
    """The list holds every avatar of the account exactly once, and no other."""
    listed, account = ids_in(exchange), exchange.identity.account
    foreign = [image for image in listed if history.owner_of(image) not in {None, account}]
    gone = [image for image in listed if history.is_gone(str(image))]
    before = history.avatars_before(exchange)
    lacking = [image for image in ids_in(before) if image not in listed] if before else []
    twice = [image for image, count in Counter(map(str, listed)).items() if count > 1]
    actual = in_parts(lacking=lacking, deleted=gone, of_another_account=foreign, twice=twice)
    earlier = before or history.last(LIST_AVATARS, account=account)
    causes = (earlier, *latest_attempts(earlier, history)) if earlier else ()
    return expect(
        not (foreign or gone or lacking or twice), "all avatars of the account", actual, *causes
    )


def mention_before(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest response that mentions one of the same avatars, with no write since."""
    images = set(ids_in(exchange))
    for before in history.near(*AVATARS):
        if not history.still_since(before):
            return None
        if images & set(ids_in(before)):
            return before
    return None


was_mentioned_before = found(
    mention_before, "another response mentions one of the avatars, with no write since"
)


@check("avatar-urls-resolve", on=[LIST_AVATARS], when=[holds_avatars, was_mentioned_before])
def avatar_has_one_address(exchange: Exchange, history: History) -> CheckResult:
    """An avatar has the same address in every response, apart from a signature in its query."""
    before = proven(mention_before(exchange, history))
    earlier, now = _addresses(before), _addresses(exchange)
    differing = differing_pairs(earlier, now, sorted(earlier.keys() & now.keys()))
    return expect(not differing, "one address for each avatar", as_pairs(differing), before)


def _addresses(exchange: Exchange) -> dict[str, str]:
    """Returns avatar ids to image URLs, without the query, which can hold a signature."""
    return {
        str(avatar.get("image_id")): str(avatar.get("image_url")).partition("?")[0]
        for avatar in avatars_in(exchange)
    }


@check("avatar-selected-for-email", on=[LIST_AVATARS], when=[holds_avatars, names_address])
def selection_is_stated(exchange: Exchange, _history: History) -> CheckResult:
    """In a list for an address, each avatar states whether it is selected, and at most one is."""
    marks = [avatar.get("selected") for avatar in avatars_in(exchange)]
    is_stated = all(isinstance(mark, bool) for mark in marks) and marks.count(True) <= 1
    return expect(is_stated, "each says whether it is selected, one at most", marks)


def other_view_of_selection(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the profile that belongs to a list for its primary address, or the list to a profile.

    None where the resources may have changed in between.
    """
    for before in history.near(*({LIST_AVATARS} if is_profile(exchange) else PROFILES)):
        if not history.still(before):
            return None
        listed, shown = (before, exchange) if is_profile(exchange) else (exchange, before)
        is_own = address_of(listed) in own_hashes(listed, history)
        if is_own and profile_in(shown).get("hash") == address_of(listed):
            return before if shows_selection(listed, history) and _selected(listed) else None
    return None


def _selected(listed: Exchange) -> list[Mapping[str, Any]]:
    """Returns the selected avatar in a list; empty unless rated G, as profiles show no other."""
    return [item for item in avatars_in(listed) if item["selected"] and item.get("rating") == "G"]


def is_profile(exchange: Exchange) -> bool:
    """Returns whether the operation of an exchange returns a profile."""
    return exchange.operation in PROFILES


selection_was_seen_in_both = found(
    other_view_of_selection,
    "a profile and the list for its primary address were seen, with no write between",
)


@check(
    "avatar-selected-for-email",
    on=[LIST_AVATARS, *PROFILES],
    when=[selection_was_seen_in_both, declares("avatar_alt_text")],
)
def profile_shows_selected_avatar(exchange: Exchange, history: History) -> CheckResult:
    """A profile has the text alternative of the avatar that is selected for its primary address."""
    before = proven(other_view_of_selection(exchange, history))
    listed, shown = (before, exchange) if is_profile(exchange) else (exchange, before)
    wanted = _selected(listed)[0].get("alt_text")
    actual = profile_in(shown).get("avatar_alt_text")
    earlier = same_request_before(shown, history, before) if actual != wanted else None
    causes = (earlier, *latest_attempts(earlier, history)) if earlier else ()
    return expect_equal(actual, wanted, "avatar_alt_text", before, *causes)


@probe(
    "avatar-list-of-caller",
    "avatar-members",
    "rating-values",
    "updated-date-utc",
    "json-bodies",
    "scope-per-operation",
    "unknown-selected-email-hash",
    "avatar-selected-for-email",
    "error-unknown-address",
    needs=("owner",),
)
def lists_for_every_address(client: ProbeClient) -> Parts:
    """Lists the avatars without an address, and for unknown, own and empty addresses."""
    yield avatars(client)
    yield avatars(client, made_up_hash(4))
    for hash_ in client.known.own_hashes:
        yield avatars(client, hash_)
    yield client.get("/me/avatars", "owner", {"selected_email_hash": ""})


@probe("avatar-list-of-caller", needs=("owner", "other"))
def lists_of_both_accounts(client: ProbeClient) -> None:
    """Lists the avatars of two accounts, which must have none in common."""
    client.recall("/me/avatars", "owner", is_lasting=True)
    avatars(client, who="other")


@probe("unknown-selected-email-hash", needs=("owner", "other_hashes"))
def list_for_address_of_other(client: ProbeClient) -> None:
    """Lists the avatars for another account's address."""
    avatars(client, client.known.others_hashes[0])


@probe("avatar-selected-for-email", needs=("owner", "writes", "uploads", "hashes"))
def profile_of_selected_avatar(client: ProbeClient) -> None:
    """Selects an avatar for the primary address, changes its text, and reads the profile."""
    image, primary = an_avatar(client), client.known.own_hashes[0]
    client.recall("/me/profile", "owner")
    assign(client, image, primary)
    changes = {"rating": "G", "alt_text": "An understudy's face"}
    client.send("PATCH", f"/me/avatars/{image}", "owner", json=changes)
    avatars(client, primary)
    client.get("/me/profile", "owner")


# Which avatar is selected for an e-mail address (interface, Authenticated avatar operations).


def last_assignment(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest assignment to the address of a list, if it must still be in force.

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


avatar_was_assigned = found(
    last_assignment, "an avatar was set for the address, and none was uploaded or deleted since"
)


has_body_without_hash = tells(
    "the body is an object without email_hash",
    lambda it, history: has_object(it, history) and "email_hash" not in it.request.json,
)
names_hash_of_other = tells(
    "the body names another account's address",
    lambda it, history: it.identity.account == "own" and history.is_others(str(assigned_hash(it))),
)


def names_foreign_hash(exchange: Exchange, history: History) -> bool:
    """Tells whether the body names an unknown address, or another account's."""
    is_unknown = history.is_made_up(str(assigned_hash(exchange)))
    return is_unknown or names_hash_of_other(exchange, history)


states_whether_selected = tells(
    "the new avatar says whether it is selected",
    lambda it, _: it.response.is_success and "selected" in it.json_object,
)
makes_a_choice = tells(
    "select_avatar is true or false",
    lambda it, _: it.request.query.get("select_avatar") in {"true", "false"},
)
makes_no_choice = tells(
    "select_avatar was left out", lambda it, _: not it.request.query.get("select_avatar")
)


def list_before(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the list for the same address before an upload, if it says what was selected."""
    before = history.avatars_before(exchange)
    if before is None or address_of(before) != address_of(exchange):
        return None
    return before if shows_selection(before, history) else None


selection_was_seen = found(list_before, "the list for the same address was seen just before")


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
    """An uploaded avatar is selected if and only if select_avatar is true."""
    choice = exchange.request.query["select_avatar"] == "true"
    return expect_equal(exchange.json_object["selected"], choice, "selected")


@check(
    "select-avatar",
    on=[UPLOAD_AVATAR],
    when=[makes_no_choice, states_whether_selected, selection_was_seen],
)
def first_avatar_is_selected(exchange: Exchange, history: History) -> CheckResult:
    """Without select_avatar, an uploaded avatar is selected only if the address had none."""
    before = proven(list_before(exchange, history))
    had_one = any(avatar.get("selected") for avatar in avatars_in(before))
    return expect_equal(exchange.json_object["selected"], not had_one, "selected", before)


@check("select-avatar", on=[LIST_AVATARS], when=[follows_upload])
def list_agrees_with_upload(exchange: Exchange, history: History) -> CheckResult:
    """The list states the same selection of a new avatar as the response to its upload."""
    before = proven(last_upload(exchange, history))
    listed = avatar_in(exchange, str(before.json_object.get("image_id"))).get("selected")
    return expect_equal(listed, before.json_object.get("selected"), "selected in the list", before)


@check(
    "avatar-email-assign",
    on=[SET_AVATAR],
    when=[names_own_address, may_manage, is_live],
    is_shape=True,
)
def assignment_has_no_content(exchange: Exchange, _history: History) -> CheckResult:
    """Assigning an own avatar to an own address succeeds without a body."""
    is_right = exchange.response.is_success and not exchange.response.body
    return expect(is_right, "success without content", f"status {exchange.status}")


@check("avatar-email-assign", on=[LIST_AVATARS], when=[shows_selection, avatar_was_assigned])
def assigned_avatar_is_selected(exchange: Exchange, history: History) -> CheckResult:
    """The avatar that was assigned to an address is selected for it."""
    before = proven(last_assignment(exchange, history))
    deletion = history.last(DELETE_AVATAR, account=exchange.identity.account)
    causes = (deletion, before, *latest_attempts(before, history))
    return expect_equal(selected_in(exchange), [before.value], "what is selected there", *causes)


def refused_assignment(exchange: Exchange, history: History) -> tuple[Exchange, Exchange] | None:
    """Returns the last list for the same address and an assignment since, if all changes were refused."""
    account, address = exchange.identity.account, address_of(exchange)
    lists = (
        it
        for it in history.of(LIST_AVATARS)
        if it.identity.account == account and address_of(it) == address
    )
    before = next(lists, None)
    if before is None or not shows_selection(before, history):
        return None
    changes = history.of(SET_AVATAR, UPLOAD_AVATAR, DELETE_AVATAR)
    later = [it for it in changes if it.number > before.number]
    refused = next((it for it in later if it.operation == SET_AVATAR), None)
    is_all_refused = all(it.response.is_refusal for it in later)
    return (before, refused) if refused is not None and is_all_refused else None


assignment_was_refused = found(
    refused_assignment, "every change since the last list for the address was refused"
)


@check("avatar-email-assign", on=[LIST_AVATARS], when=[shows_selection, assignment_was_refused])
def refused_assignment_selects_nothing(exchange: Exchange, history: History) -> CheckResult:
    """An assignment that is refused leaves the selection as it was."""
    before, refused = proven(refused_assignment(exchange, history))
    expected, words = selected_in(before), "what is selected there, as before the refusal"
    return expect_equal(selected_in(exchange), expected, words, before, refused)


@probe("select-avatar", needs=("owner", "writes", "uploads", "two_emails"))
def uploads_with_every_choice(client: ProbeClient) -> Parts:
    """Uploads with and without select_avatar, for the primary and for another own address."""
    second = {"selected_email_hash": client.known.own_hashes[-1]}
    for address in ({}, second):
        for choice in (None, "true", None if address else "false"):
            if choice is None:
                client.recall("/me/avatars", "owner", address)
            select = {"select_avatar": choice} if choice else {}
            upload(client, picture(), **address, **select)
            yield client.get("/me/avatars", "owner", address)


@probe(
    "avatar-email-assign",
    "avatar-email-status",
    "avatar-email-hash-required",
    "avatar-selected-for-email",
    "avatar-email-unknown-hash",
    "error-unknown-address",
    needs=("owner", "writes", "uploads", "hashes"),
)
def assignments_of_avatar(client: ProbeClient) -> Parts:
    """Assigns an avatar to an address twice, lists, and tries assignments that must be refused."""
    image, last = an_avatar(client), client.known.own_hashes[-1]
    assign(client, image, last)
    yield assign(client, image, last)
    yield avatars(client, last)
    yield assign(client, image, made_up_hash(6))
    yield client.send("POST", f"/me/avatars/{image}/email", "owner", json={})
    for hash_ in client.known.others_hashes[:1]:
        yield assign(client, image, hash_)


reading(
    "unknown-selected-email-hash",
    on=[LIST_AVATARS],
    when=[names_foreign_address],
    able=[may_read],
    read=by_success("ignore", "refuse"),
)
reading("avatar-email-status", on=[SET_AVATAR], when=[succeeded], read=status_of)


# Rules that demand one outcome wherever their conditions hold.

demands(UPDATE_AVATAR)("rating-values", [names_unknown_rating], expect_refused)
of_list_avatars = demands(LIST_AVATARS)
of_list_avatars("unknown-selected-email-hash", [names_empty_address, may_read], expect_status, 200)
of_list_avatars(
    "unknown-selected-email-hash", [names_foreign_address, may_read], expect_status, 403
)
demands(UPLOAD_AVATAR)(
    "unknown-selected-email-hash",
    [names_foreign_address, *SAFE_UPLOAD],
    expect_status,
    403,
)
of_set_avatar = demands(SET_AVATAR)
of_set_avatar("avatar-email-status", [succeeded], expect_status, 204)
of_set_avatar(
    "avatar-email-hash-required", [has_body_without_hash, may_manage, is_live], expect_refused
)
of_set_avatar(
    "avatar-email-hash-required", [names_own_address, may_manage, is_live], expect_accepted
)
of_set_avatar(
    "avatar-email-unknown-hash", [names_hash_of_other, may_manage, is_live], expect_refused
)
of_set_avatar(
    "avatar-email-unknown-hash",
    [names_foreign_hash, may_manage, is_live],
    expect_status,
    403,
    is_choice=True,
)
