"""Judges that a write has no side effects on other members, profiles, avatars and addresses.

Each check compares a response with an earlier one to the same request, whatever was written in
between, so that it judges recorded traffic as well as probes.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import (
    AVATAR_CHANGES,
    DELETE_AVATAR,
    LIST_AVATARS,
    LOOKUP,
    OWN_PROFILE,
    PROFILES,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.interface.scopes import MANAGE_PROFILE
from understudy.verify.account_history import (
    TEST_ACCOUNTS,
    account_of,
    address_of,
    assigned_hash,
    ids_in,
    own_hashes,
    selected_in,
    shows_selection,
    update,
)
from understudy.verify.causes import (
    assignment_before,
    attempts_since,
    latest_attempts,
    update_of_member,
    writes_since,
)
from understudy.verify.checks import (
    CheckResult,
    check,
    expect,
    holds_avatars,
    holds_profile,
    proven,
    succeeded,
    tells,
)
from understudy.verify.history import History, avatars_in, profile_in
from understudy.verify.pictures import an_avatar, assign, avatars, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import AVATAR_FIELDS, EDITABLE
from understudy.verify.value_texts import Pairs, as_json, as_pairs, differing_pairs

MAY_DIFFER: Final = frozenset({"avatar_url", "header_image", "last_profile_edit"})
"""Members that may differ between two responses: URLs may be signed for each of them."""

OF_AVATARS: Final = frozenset({"avatar_alt_text"})
AVATAR_WRITES: Final = (UPLOAD_AVATAR, *AVATAR_CHANGES)
OWN: Final = frozenset({OWN_PROFILE, UPDATE_PROFILE})


def view_before(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the client's newest earlier response with the same profile.

    None if an account that is no test account may have written since.
    """
    operations = OWN if exchange.operation in OWN else {LOOKUP}
    for before in history.near(*operations):
        is_same = before.identity == exchange.identity and before.value == exchange.value
        if is_same and profile_in(before):
            writers = {write.identity.account for write in writes_since(before, history)}
            return before if writers <= TEST_ACCOUNTS else None
    return None


def _writers(exchange: Exchange, history: History, *operations: str) -> set[str | None]:
    """Returns the accounts that sent these writes since the earlier view, up to this exchange."""
    writes = [*writes_since(proven(view_before(exchange, history)), history), exchange]
    return {write.identity.account for write in writes if write.operation in operations}


def was_viewed_before(exchange: Exchange, history: History) -> bool:
    """Tells whether the same client saw the profile of a test account before."""
    is_known = account_of(exchange, history) is not None
    return is_known and view_before(exchange, history) is not None


was_updated_since = tells(
    "its account updated the profile since",
    lambda it, history: account_of(it, history) in _writers(it, history, UPDATE_PROFILE),
)


def only_other_updated_since(exchange: Exchange, history: History) -> bool:
    """Tells whether the other test account updated its profile since, and this one did not."""
    writers = _writers(exchange, history, UPDATE_PROFILE)
    return bool(writers) and account_of(exchange, history) not in writers


def only_refused_without_scope_since(exchange: Exchange, history: History) -> bool:
    """Tells whether a token without the manage scope was refused since, and no write accepted."""
    attempts = list(attempts_since(proven(view_before(exchange, history)), history))
    account = account_of(exchange, history)
    return all(attempt.response.is_refusal for attempt in attempts) and any(
        attempt.identity.account == account and not attempt.identity.may(MANAGE_PROFILE)
        for attempt in attempts
    )


def _differing(
    exchange: Exchange, history: History, may_differ: frozenset[str] = MAY_DIFFER
) -> Pairs:
    """Returns the members that differ from the earlier view, each with both values."""
    before, now = profile_in(proven(view_before(exchange, history))), profile_in(exchange)
    names = {*before, *now} - may_differ
    if _writers(exchange, history, *AVATAR_WRITES):
        names -= OF_AVATARS
    return differing_pairs(before, now, sorted(names))


@check(
    "profile-patch-seven-fields",
    on=PROFILES,
    when=[holds_profile, was_viewed_before, was_updated_since],
)
def update_keeps_all_other_members(exchange: Exchange, history: History) -> CheckResult:
    """An update changes only the seven members, whoever reads the profile (rule 3)."""
    before = proven(view_before(exchange, history))
    changed = {n: v for n, v in _differing(exchange, history).items() if n not in EDITABLE}
    steps = (before, *latest_attempts(before, history))
    return expect(not changed, "all other members as before", as_pairs(changed), *steps)


@check(
    "me-needs-oauth-token",
    on=PROFILES,
    when=[holds_profile, was_viewed_before, only_other_updated_since],
)
def update_keeps_profile_of_other(exchange: Exchange, history: History) -> CheckResult:
    """An update changes no profile but that of the token's account, nor its time of last edit."""
    has_new_picture = account_of(exchange, history) in _writers(exchange, history, *AVATAR_WRITES)
    may_differ = MAY_DIFFER if has_new_picture else MAY_DIFFER - {"last_profile_edit"}
    changed = as_pairs(_differing(exchange, history, may_differ))
    before = proven(view_before(exchange, history))
    steps = (before, *latest_attempts(before, history))
    return expect(not changed, "the other account's profile as before", changed, *steps)


@check(
    "scope-per-operation",
    on=[LOOKUP, OWN_PROFILE],
    when=[holds_profile, was_viewed_before, only_refused_without_scope_since],
)
def update_without_scope_changes_nothing(exchange: Exchange, history: History) -> CheckResult:
    """An update that was refused for a missing scope changes nothing."""
    before = proven(view_before(exchange, history))
    changed = as_pairs(_differing(exchange, history))
    steps = (before, *latest_attempts(before, history))
    return expect(not changed, "the profile as before the refusal", changed, *steps)


@probe(
    "profile-patch-seven-fields",
    "profile-patch-partial",
    "profile-patch-empty-unsets",
    "me-needs-oauth-token",
    needs=("owner", "writes", "slug", "hashes"),
)
def views_of_an_update(client: ProbeClient) -> Parts:
    """Updates twice, and each time reads the profiles of both accounts with every credential."""
    views = [(path, who) for path, who in _views(client) if client.has(who)]
    for path, who in views:
        client.recall(path, who)
    for changes in VIEWED:
        update(client, **changes)
        for path, who in views:
            yield client.get(path, who)


def _views(client: ProbeClient) -> Iterator[tuple[str, str]]:
    """Yields the paths of the test accounts' profiles, each with a credential that reads it."""
    slug = f"/profiles/{client.known.slug}"
    yield "/me/profile", "reader"
    yield "/me/profile", "other"
    yield slug, "owner"
    yield slug, "other"
    yield slug, "api_key"
    yield f"/profiles/{client.known.own_hashes[-1]}", "other"
    if client.known.other_slug:
        yield f"/profiles/{client.known.other_slug}", "other"
        yield f"/profiles/{client.known.other_slug}", "anonymous"
    yield slug, "anonymous"


VIEWED: Final = (
    {"display_name": "Understudy", "location": "東京 🎭", "company": "A&B <C>"},
    {"location": "", "company": "0"},
)
"""Two updates: the second keeps the first member, unsets the second and changes the third."""


# Side effects on lists of avatars: on other avatars, addresses and accounts.

SELECTING: Final = frozenset({SET_AVATAR, DELETE_AVATAR, UPLOAD_AVATAR})
"""The operations that may change what is selected for an address."""


def list_before(exchange: Exchange, history: History, *, is_for_same: bool) -> Exchange | None:
    """Returns the account's newest list of avatars, if only test accounts wrote since.

    Args:
        exchange: A list of avatars.
        history: What was exchanged before.
        is_for_same: Whether the earlier list must be for the same e-mail address.
    """
    for before in history.near(LIST_AVATARS):
        is_same = not is_for_same or address_of(before) == address_of(exchange)
        is_own = before.identity.account == exchange.identity.account
        if is_same and is_own and before.response.is_success:
            writers = {write.identity.account for write in writes_since(before, history)}
            return before if writers <= TEST_ACCOUNTS else None
    return None


def was_listed_before(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's avatars were listed before, and a write was attempted since."""
    before = list_before(exchange, history, is_for_same=False)
    if before is None or exchange.identity.account not in TEST_ACCOUNTS:
        return False
    return any(attempts_since(before, history))


def only_other_wrote(exchange: Exchange, history: History) -> bool:
    """Tells whether only the other test account attempted writes since the earlier list."""
    before = proven(list_before(exchange, history, is_for_same=False))
    writers = {attempt.identity.account for attempt in attempts_since(before, history)}
    return writers == TEST_ACCOUNTS - {exchange.identity.account}


def selection_is_unchanged(exchange: Exchange, history: History) -> bool:
    """Tells whether writes came since the address's last list, none of which can select for it."""
    before = list_before(exchange, history, is_for_same=True)
    if before is None or exchange.identity.account not in TEST_ACCOUNTS:
        return False
    if not shows_selection(before, history) or not address_of(exchange):
        return False
    selected = selected_in(before)
    return any(attempts_since(before, history)) and not any(
        _may_select(write, exchange, history, selected) for write in writes_since(before, history)
    )


def _may_select(write: Exchange, listed: Exchange, history: History, selected: list[Any]) -> bool:
    """Returns whether a write may change the selection for the address of a list."""
    if write.identity.account != listed.identity.account or write.operation not in SELECTING:
        return False
    if write.operation == SET_AVATAR:
        return assigned_hash(write) not in {*own_hashes(listed, history)} - {address_of(listed)}
    if write.operation == DELETE_AVATAR:
        return write.value in selected
    is_chosen = write.request.query.get("select_avatar") != "false"
    address = address_of(write)
    others = {*own_hashes(listed, history)} - {address_of(listed)}
    return is_chosen and address not in others


@check("avatar-list-of-caller", on=[LIST_AVATARS], when=[succeeded, was_listed_before])
def only_deleted_avatars_vanish(exchange: Exchange, history: History) -> CheckResult:
    """The list keeps every avatar that the account did not delete, whatever else it wrote."""
    before = proven(list_before(exchange, history, is_for_same=False))
    deleted = {
        write.value.casefold()
        for write in writes_since(before, history)
        if write.operation == DELETE_AVATAR and write.identity.account == exchange.identity.account
    }
    listed = {*ids_in(exchange)}
    vanished = [
        image
        for image in ids_in(before)
        if image not in listed and str(image).casefold() not in deleted
    ]
    uploads = [each for each in history.of(UPLOAD_AVATAR) if ids_in(each)[:1] == vanished[:1]]
    steps = (*uploads[:1], before, *latest_attempts(before, history))
    return expect(not vanished, "every avatar that was not deleted", vanished, *steps)


@check("avatar-patch-partial", on=[LIST_AVATARS], when=[holds_avatars, was_listed_before])
def other_avatars_stay_as_they_were(exchange: Exchange, history: History) -> CheckResult:
    """An avatar that is not updated keeps its rating and its text alternative."""
    before = proven(list_before(exchange, history, is_for_same=False))
    account = exchange.identity.account
    updated = {
        image
        for write in writes_since(before, history)
        if write.operation in {UPDATE_AVATAR, UPLOAD_AVATAR} and write.identity.account == account
        for image in (write.value, *ids_in(write))
    }
    changed = sorted(_changed(before, exchange) - updated)
    names = [name for name in AVATAR_FIELDS if _changed(before, exchange, [name])]
    steps = (before, update_of_member(names, history), *latest_attempts(before, history))
    return expect(not changed, "avatars that were not updated as before", changed, *steps)


@check(
    "foreign-avatars-invisible",
    on=[LIST_AVATARS],
    when=[succeeded, was_listed_before, only_other_wrote],
)
def other_account_changes_no_avatar(exchange: Exchange, history: History) -> CheckResult:
    """Requests of another account, refused or not, do not change the account's avatars."""
    before = proven(list_before(exchange, history, is_for_same=False))
    changed = _changed(before, exchange) | ({*ids_in(before)} ^ {*ids_in(exchange)})
    steps = (before, *latest_attempts(before, history))
    return expect(not changed, "the account's avatars as before", sorted(changed), *steps)


def _changed(
    before: Exchange, exchange: Exchange, names: Iterable[str] = AVATAR_FIELDS
) -> set[str]:
    """Returns the ids of the avatars that differ between two lists in one of these members."""
    then = {str(each.get("image_id")): each for each in avatars_in(before)}
    now = {str(each.get("image_id")): each for each in avatars_in(exchange)}
    return {
        image
        for image in then.keys() & now.keys()
        if any(then[image].get(name) != now[image].get(name) for name in names)
    }


@check("avatar-email-assign", on=[LIST_AVATARS], when=[shows_selection, selection_is_unchanged])
def selection_for_other_addresses_stays(exchange: Exchange, history: History) -> CheckResult:
    """An e-mail address keeps its selected avatar when another address gets one."""
    before = proven(list_before(exchange, history, is_for_same=True))
    selected, now = selected_in(before), selected_in(exchange)
    assignment = assignment_before(selected, before, history)
    steps = (assignment, before, *latest_attempts(before, history))
    return expect(now == selected, f"{as_json(selected)} selected as before", now, *steps)


@probe(
    "avatar-email-assign",
    "avatar-patch-partial",
    "select-avatar",
    "avatar-patch-rating-and-alt-text",
    "avatar-list-of-caller",
    needs=("owner", "writes", "uploads", "two_emails"),
)
def views_of_avatar_changes(client: ProbeClient) -> Parts:
    """Changes one of several avatars and the profile, and lists all avatars after each change."""
    first, last = client.known.own_hashes[0], client.known.own_hashes[-1]
    image = an_avatar(client)
    other = str(upload(client, picture("GIF"), select_avatar="false").json_object.get("image_id"))

    def lists() -> list[Exchange]:
        return [avatars(client, hash_) for hash_ in (first, last)]

    client.send("PATCH", f"/me/avatars/{other}", "owner", json={"rating": "R", "alt_text": "0"})
    lists()
    client.send("PATCH", f"/me/avatars/{image}", "owner", json={"alt_text": EDGES})
    yield lists()
    for assignments in (((image, last),), ((other, first),), ((image, last), (image, first))):
        for hash_ in (first, last):  # sent anew if another probe wrote since
            client.recall("/me/avatars", "owner", {"selected_email_hash": hash_})
        for assigned, hash_ in assignments:
            assign(client, assigned, hash_)
        yield lists()
    update(client, display_name="Understudy", description="")
    yield lists()
    upload(client, picture("JPEG"), select_avatar="true", selected_email_hash=last)
    yield lists()
    client.send("DELETE", f"/me/avatars/{other}", "owner")
    yield lists()


EDGES: Final = (
    " Ångström  👩‍🚀 & <b>'\"</b> 100%41 \\ 東京,\nhttps://example.com/?a=1+1 " + "and on " * 34
)
"""A text that careless code alters: other scripts, HTML, SQL and URL syntax, spaces, length."""
