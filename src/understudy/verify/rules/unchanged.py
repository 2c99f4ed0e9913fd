"""Judges that a write leaves alone every view of a profile, the caller's and others' (interface).

Each check compares a view with the same view before, whoever requested it and whatever was written
in between, so that it judges recorded traffic like the probes' own.
"""

from collections.abc import Iterator
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import (
    AVATAR_CHANGES,
    LOOKUP,
    OWN_PROFILE,
    PROFILES,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
)
from understudy.interface.scopes import MANAGE_PROFILE
from understudy.verify.account_history import update
from understudy.verify.causes import attempts_since, latest_attempts, writes_since
from understudy.verify.checks import CheckResult, check, expect, holds_profile, proven
from understudy.verify.history import History, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import EDITABLE
from understudy.verify.value_texts import Pairs, as_pairs, differing_pairs

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


def only_refused_without_scope_since(exchange: Exchange, history: History) -> bool:
    """Tells whether a token without the scope to edit was refused since, and nothing was accepted."""
    attempts = list(attempts_since(proven(view_before(exchange, history)), history))
    account = account_of(exchange, history)
    return all(attempt.response.is_refusal for attempt in attempts) and any(
        attempt.identity.account == account and not attempt.identity.may(MANAGE_PROFILE)
        for attempt in attempts
    )


def _differing(exchange: Exchange, history: History) -> Pairs:
    """Returns the members that differ from the view before, each with both values."""
    before, now = profile_in(proven(view_before(exchange, history))), profile_in(exchange)
    names = {*before, *now} - MAY_DIFFER
    if _writers(exchange, history, *AVATAR_WRITES):
        names -= OF_AVATARS
    return differing_pairs(before, now, sorted(names))


@check(
    "profile-patch-seven-fields",
    on=PROFILES,
    when=[holds_profile, was_viewed_before, was_updated_since],
)
def update_keeps_all_other_members(exchange: Exchange, history: History) -> CheckResult:
    """An update changes none but the seven members, in whatever view (rule 3)."""
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
    """An update changes the profile of the token's account only."""
    changed = as_pairs(_differing(exchange, history))
    before = proven(view_before(exchange, history))
    steps = (before, *latest_attempts(before, history))
    return expect(not changed, "the other account's profile as before", changed, *steps)


@check(
    "scope-per-operation",
    on=[LOOKUP, OWN_PROFILE],
    when=[holds_profile, was_viewed_before, only_refused_without_scope_since],
)
def update_without_scope_changes_nothing(exchange: Exchange, history: History) -> CheckResult:
    """An update that was refused for want of a scope changes nothing."""
    before = proven(view_before(exchange, history))
    changed = as_pairs(_differing(exchange, history))
    steps = (before, *latest_attempts(before, history))
    return expect(not changed, "the profile as before the refusal", changed, *steps)


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
