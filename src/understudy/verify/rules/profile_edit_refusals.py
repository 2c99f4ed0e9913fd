"""Updates of the own profile that ask for too much (interface, Rules for PATCH /me/profile, 3)."""

from understudy.exchange.messages import Exchange, media_type
from understudy.interface.operations import OWN_PROFILE, UPDATE_PROFILE
from understudy.verify.account_history import (
    ABLE,
    BEFORE_AND_AFTER,
    changes_in,
    differing,
    has_object,
    has_other_value,
    last_update,
    last_update_had_other_value,
    last_update_named_others,
    names_editable_only,
    names_others,
    profile_before_update,
    profile_was_read,
    update,
)
from understudy.verify.checks import (
    CheckResult,
    check,
    document_allows_no_such,
    expect,
    expect_refused,
    is_of_test_accounts,
    may_manage,
    proven,
    succeeded,
)
from understudy.verify.history import History, made_up_hash
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import EDITABLE
from understudy.verify.value_texts import as_pairs


@check(
    "profile-patch-seven-fields",
    on=[UPDATE_PROFILE],
    when=[*ABLE, names_others, succeeded, profile_was_read],
)
def other_members_stay(exchange: Exchange, history: History) -> CheckResult:
    """No other member than the seven is changed (rule 3)."""
    before = proven(history.profile_before(exchange))
    others = [name for name in changes_in(exchange) if name not in EDITABLE]
    changed = differing(exchange, before, others)
    return expect(not changed, "no other field changed", as_pairs(changed), before)


@check(
    "profile-patch-seven-fields",
    on=[OWN_PROFILE],
    when=[last_update_named_others, *BEFORE_AND_AFTER],
)
def other_members_are_read_unchanged(exchange: Exchange, history: History) -> CheckResult:
    """After an update that names other members than the seven, those read as before (rule 3)."""
    before = proven(profile_before_update(exchange, history))
    update = last_update(exchange, history)
    others = [name for name in changes_in(proven(update)) if name not in EDITABLE]
    changed = differing(exchange, before, others)
    return expect(not changed, "no other field changed", as_pairs(changed), before, update)


@check(
    "profile-patch-unknown-members",
    on=[OWN_PROFILE],
    when=[last_update_named_others, *BEFORE_AND_AFTER],
)
def update_of_other_members_changes_nothing(exchange: Exchange, history: History) -> CheckResult:
    """After an update that names another member, nothing is changed."""
    return _expect_unchanged(exchange, history)


@check("profile-patch-unknown-members", on=[UPDATE_PROFILE], when=[*ABLE, names_others])
def update_of_other_members_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """An update that names another member than the seven is refused."""
    return expect_refused(exchange)


@check(
    "profile-patch-strings",
    on=[UPDATE_PROFILE],
    when=[*ABLE, names_editable_only, has_other_value, document_allows_no_such],
)
def update_with_other_value_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """An update with a value that is not a text is refused."""
    return expect_refused(exchange)


@check(
    "profile-patch-strings",
    on=[OWN_PROFILE],
    when=[last_update_had_other_value, *BEFORE_AND_AFTER],
)
def update_with_other_value_changes_nothing(exchange: Exchange, history: History) -> CheckResult:
    """After an update with a value that is not a text, nothing is changed."""
    return _expect_unchanged(exchange, history)


def _expect_unchanged(exchange: Exchange, history: History) -> CheckResult:
    before = proven(profile_before_update(exchange, history))
    changed = differing(exchange, before, EDITABLE)
    update = last_update(exchange, history)
    return expect(not changed, "nothing changed", as_pairs(changed), before, update)


def sends_json_that_is_no_object(exchange: Exchange, history: History) -> bool:
    """Tells whether the body is said to be JSON and is not an object."""
    is_json = media_type(exchange.request.headers) == "application/json"
    return is_json and not has_object(exchange, history)


@check(
    "json-bodies",
    on=[UPDATE_PROFILE],
    when=[may_manage, is_of_test_accounts, sends_json_that_is_no_object],
)
def update_without_object_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """An update whose body is not a JSON object is refused (RFC 9110, 15.5.1)."""
    return expect_refused(exchange)


@probe("json-bodies", needs=("owner", "writes"))
def edits_without_an_object(client: ProbeClient) -> Parts:
    """Sends an update that ends too early, and one that is a list."""
    yield client.send("PATCH", "/me/profile", "owner", malformed=b'{"location": "now')
    yield client.send("PATCH", "/me/profile", "owner", json=["location"])


@probe(
    *("profile-patch-unknown-members", "profile-patch-seven-fields", "error-unknown-member"),
    needs=("owner", "writes"),
)
def edits_of_other_members(client: ProbeClient) -> Parts:
    """Tries to change what is not among the seven members, alone and beside one that is."""
    changes: list[dict[str, object]] = [
        {"timezone": "Etc/UTC"},
        {"location": "nowhere", "hash": made_up_hash(2)},
        {"first_name": "Understudy", "company": "nowhere"},
    ]
    for change in changes:
        update(client, **change)
        yield client.get("/me/profile", "owner")


@probe("profile-patch-strings", "error-invalid-member", needs=("owner", "writes"))
def edits_with_other_types(client: ProbeClient) -> Parts:
    """Tries each member with a value of another type."""
    values: tuple[object, ...] = (7, None, True, ["a"], {"a": "b"}, 1.5, 0)
    for name, value in zip(EDITABLE, values, strict=True):
        exchange = update(client, **{name: value})
        is_read = name in {EDITABLE[0], EDITABLE[-1]}
        yield client.get("/me/profile", "owner") if is_read else exchange
