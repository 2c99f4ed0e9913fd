"""What a write leaves alone: every view of it, of the caller and of others (interface, as named).

Each check compares a view with the same view before, whoever asked for it and whatever was written
in between, so that it judges recorded traffic like the probes' own.
"""

from collections.abc import Iterator
from typing import Any, Final

from understudy.deployments.exchange import Exchange
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
from understudy.verify.avatar_history import (
    MEMBERS,
    address_of,
    assigned_hash,
    own_hashes,
    says_what_is_selected,
    selected_in,
)
from understudy.verify.checks import CheckResult, check, expect, proven
from understudy.verify.conditions import holds_avatars, holds_profile
from understudy.verify.history import WRITES, History, avatars_in, profile_in
from understudy.verify.pictures import an_avatar, avatars, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.profile_history import update
from understudy.verify.shapes import EDITABLE
from understudy.verify.value_texts import as_json

TEST_ACCOUNTS: Final = frozenset({"own", "other"})
MAY_DIFFER: Final = frozenset({"avatar_url", "header_image", "last_profile_edit"})
"""Members that may differ between two responses: addresses may be signed for each of them."""

OF_AVATARS: Final = frozenset({"avatar_alt_text"})
AVATAR_WRITES: Final = (UPLOAD_AVATAR, *AVATAR_CHANGES)
OWN: Final = frozenset({OWN_PROFILE, UPDATE_PROFILE})


def account_of(exchange: Exchange, history: History) -> str | None:
    """Returns the test account that a profile is of."""
    if exchange.operation != LOOKUP:
        account = exchange.identity.account
        return account if account in TEST_ACCOUNTS else None
    if history.is_own(exchange.value):
        return "own"
    return "other" if history.is_others(exchange.value) else None


def writes_since(before: Exchange, history: History) -> Iterator[Exchange]:
    """Yields what may have changed a resource since an exchange."""
    for exchange in reversed(history.exchanges):
        if exchange.number <= before.number:
            return
        is_write = exchange.site == "resource" and exchange.request.method in WRITES
        if is_write and not exchange.response.is_refusal:
            yield exchange


def view_before(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest profile that the same client received in the same way.

    None where a credential that is not a test account's may have written since.
    """
    operations = OWN if exchange.operation in OWN else {LOOKUP}
    for before in history.near(*operations):
        is_same = before.identity == exchange.identity and before.value == exchange.value
        if is_same and profile_in(before):
            writers = {write.identity.account for write in writes_since(before, history)}
            return before if writers <= TEST_ACCOUNTS else None
    return None


def _writers(exchange: Exchange, history: History, *operations: str) -> set[str | None]:
    """Returns the accounts that wrote since the view before, the judged exchange included."""
    writes = [*writes_since(proven(view_before(exchange, history)), history), exchange]
    return {write.identity.account for write in writes if write.operation in operations}


def was_viewed_before(exchange: Exchange, history: History) -> bool:
    """Tells whether the same client saw the profile of a test account before."""
    is_known = account_of(exchange, history) is not None
    return is_known and view_before(exchange, history) is not None


def was_updated_since(exchange: Exchange, history: History) -> bool:
    """Tells whether its account updated the profile since."""
    return account_of(exchange, history) in _writers(exchange, history, UPDATE_PROFILE)


def only_other_updated_since(exchange: Exchange, history: History) -> bool:
    """Tells whether the other test account updated its profile since, and this one did not."""
    writers = _writers(exchange, history, UPDATE_PROFILE)
    return bool(writers) and account_of(exchange, history) not in writers


def _differing(exchange: Exchange, history: History) -> dict[str, tuple[Any, Any]]:
    """Returns the members that differ from the view before, each with both values."""
    before, now = profile_in(proven(view_before(exchange, history))), profile_in(exchange)
    names = {*before, *now} - MAY_DIFFER
    if _writers(exchange, history, *AVATAR_WRITES):
        names -= OF_AVATARS
    return {
        name: (before.get(name), now.get(name))
        for name in sorted(names)
        if before.get(name) != now.get(name)
    }


@check(
    "profile-patch-seven-fields",
    on=PROFILES,
    when=[holds_profile, was_viewed_before, was_updated_since],
)
def update_keeps_all_other_members(exchange: Exchange, history: History) -> CheckResult:
    """An update changes none but the seven members, in whatever view (rule 3)."""
    before = view_before(exchange, history)
    changed = {n: v for n, v in _differing(exchange, history).items() if n not in EDITABLE}
    return expect(not changed, "all other members as before", changed, before)


@check(
    "me-needs-oauth-token",
    on=PROFILES,
    when=[holds_profile, was_viewed_before, only_other_updated_since],
)
def update_keeps_profile_of_other(exchange: Exchange, history: History) -> CheckResult:
    """An update changes the profile of the token's account only."""
    changed = _differing(exchange, history)
    before = view_before(exchange, history)
    return expect(not changed, "the other account's profile as before", changed, before)


def list_before(exchange: Exchange, history: History, *, is_for_same: bool) -> Exchange | None:
    """Returns the account's newest list of avatars, if only test accounts wrote since.

    Args:
        exchange: A list of avatars.
        history: What was exchanged before.
        is_for_same: Whether it must be for the same e-mail address.
    """
    for before in history.near(LIST_AVATARS):
        is_same = not is_for_same or address_of(before) == address_of(exchange)
        is_own = before.identity.account == exchange.identity.account
        if is_same and is_own and before.response.is_success:
            writers = {write.identity.account for write in writes_since(before, history)}
            return before if writers <= TEST_ACCOUNTS else None
    return None


def was_listed_before(exchange: Exchange, history: History) -> bool:
    """Tells whether the account's avatars were listed before, and an avatar was changed since."""
    before = list_before(exchange, history, is_for_same=False)
    if before is None or exchange.identity.account not in TEST_ACCOUNTS:
        return False
    return any(write.operation in AVATAR_WRITES for write in writes_since(before, history))


def selection_stands(exchange: Exchange, history: History) -> bool:
    """Tells whether avatars were changed since the list for the address, but none selected for it."""
    before = list_before(exchange, history, is_for_same=True)
    if before is None or exchange.identity.account not in TEST_ACCOUNTS:
        return False
    if not says_what_is_selected(before, history) or not address_of(exchange):
        return False
    writes = [w for w in writes_since(before, history) if w.operation in AVATAR_WRITES]
    selected = selected_in(before)
    return bool(writes) and not any(
        _may_select(write, exchange, history, selected) for write in writes
    )


def _may_select(write: Exchange, listed: Exchange, history: History, selected: list[Any]) -> bool:
    """Tells whether a write may change what is selected for the address of a list."""
    if write.identity.account != listed.identity.account or write.operation == UPDATE_AVATAR:
        return False
    if write.operation == SET_AVATAR:
        return assigned_hash(write) not in {*own_hashes(listed, history)} - {address_of(listed)}
    if write.operation == DELETE_AVATAR:
        return write.value in selected
    is_chosen = write.request.query.get("select_avatar") != "false"
    address = address_of(write)
    others = {*own_hashes(listed, history)} - {address_of(listed)}
    return is_chosen and address not in others


@check("avatar-patch-partial", on=[LIST_AVATARS], when=[holds_avatars, was_listed_before])
def other_avatars_stay_as_they_were(exchange: Exchange, history: History) -> CheckResult:
    """Rating and text alternative of an avatar stay as they were, unless it is updated itself."""
    before = proven(list_before(exchange, history, is_for_same=False))
    account = exchange.identity.account
    updated = {
        write.value
        for write in writes_since(before, history)
        if write.operation == UPDATE_AVATAR and write.identity.account == account
    }
    then = {each.get("image_id"): each for each in avatars_in(before)}
    changed = [
        each.get("image_id")
        for each in avatars_in(exchange)
        if each.get("image_id") in set(then) - updated
        and any(each.get(name) != then[each.get("image_id")].get(name) for name in MEMBERS)
    ]
    return expect(not changed, "avatars that were not updated as before", changed, before)


@check("avatar-email-assign", on=[LIST_AVATARS], when=[says_what_is_selected, selection_stands])
def selection_for_other_addresses_stays(exchange: Exchange, history: History) -> CheckResult:
    """What is selected for an e-mail address stays, whatever is done for another one."""
    before = proven(list_before(exchange, history, is_for_same=True))
    selected, now = selected_in(before), selected_in(exchange)
    return expect(now == selected, f"{as_json(selected)} selected as before", now, before)


@probe(
    *("profile-patch-seven-fields", "profile-patch-partial", "profile-patch-empty-unsets"),
    "me-needs-oauth-token",
    needs=("owner", "writes", "slug", "hashes"),
)
def views_of_an_update(client: ProbeClient) -> Parts:
    """Updates twice, and looks at every view of the own profile and of the other account's."""
    views = [(path, who) for path, who in _views(client) if client.has(who)]
    for path, who in views:
        client.recall(path, who)
    for changes in VIEWED:
        update(client, **changes)
        for path, who in views:
            yield client.get(path, who)


def _views(client: ProbeClient) -> Iterator[tuple[str, str]]:
    """Yields each way to see the test accounts' profiles, with the credential."""
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
"""Two updates: of members that the second changes again, unsets, and leaves alone."""


@probe(
    *("avatar-email-assign", "avatar-patch-partial", "select-avatar"),
    "avatar-patch-rating-and-alt-text",
    needs=("owner", "writes", "uploads", "two_emails"),
)
def views_of_avatar_changes(client: ProbeClient) -> Parts:
    """Changes one of several avatars, and looks at the others and at every e-mail address."""
    first, last = client.known.own_hashes[0], client.known.own_hashes[-1]
    image = an_avatar(client)
    other = str(upload(client, picture("GIF"), select_avatar="false").json_object.get("image_id"))

    def lists() -> list[Exchange]:
        return [avatars(client, hash_) for hash_ in (first, last)]

    client.send("PATCH", f"/me/avatars/{other}", "owner", json={"rating": "R", "alt_text": "0"})
    yield lists()
    client.send("PATCH", f"/me/avatars/{image}", "owner", json={"alt_text": EDGES})
    yield lists()
    for assigned, hash_ in ((image, last), (other, first)):
        path = f"/me/avatars/{assigned}/email"
        client.send("POST", path, "owner", json={"email_hash": hash_})
        yield lists()
    upload(client, picture("JPEG"), selected_email_hash=last, select_avatar="true")
    yield lists()
    client.send("DELETE", f"/me/avatars/{other}", "owner")
    yield lists()


EDGES: Final = "Ångström 🎭 & <b>'\"</b> 100%41 \\ 東京"
"""A text with what shortcuts lose: other scripts, and the signs of HTML, SQL and URLs."""
