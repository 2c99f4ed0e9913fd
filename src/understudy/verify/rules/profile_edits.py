"""Changing the own profile (interface, Rules for PATCH /me/profile)."""

from datetime import timedelta
from http import HTTPStatus
from itertools import pairwise
from typing import Final

from understudy.exchange.messages import Exchange, media_type
from understudy.interface.operations import LOOKUP, OWN_PROFILE, UPDATE_PROFILE
from understudy.verify.account_history import (
    ABLE,
    BEFORE_AND_AFTER,
    LONG,
    SOUND,
    TEXTS,
    changes_in,
    changes_something,
    differing,
    has_long_text,
    has_object,
    has_other_value,
    has_texts_only,
    keeps_something,
    last_update,
    last_update_had_other_value,
    last_update_named_others,
    last_update_was_refused,
    names_editable_only,
    names_others,
    not_as_wanted,
    profile_before_update,
    profile_was_read,
    something_was_unset,
    unsets_something,
    update,
    update_must_show,
    update_shown,
)
from understudy.verify.causes import same_request_before, update_before
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    document_allows_no_such,
    expect,
    expect_accepted,
    expect_refused,
    holds_profile,
    is_of_test_accounts,
    may_manage,
    proven,
    succeeded,
)
from understudy.verify.history import History, made_up_hash, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.bearer import (
    is_oauth,
    lacks_scope_to_change,
    scopes_are_known,
)
from understudy.verify.rules.errors import is_one_number
from understudy.verify.shapes import EDITABLE, length_rule
from understudy.verify.switches import by_success, experiment, number_reading, reading, two_errors
from understudy.verify.value_texts import as_json, as_pairs, instant

TOLERANCE: Final = timedelta(seconds=2)
"""Time between two edits whose timestamps must differ, as they have whole seconds."""


def last_edit_is_over(exchange: Exchange, history: History) -> bool:
    """Tells whether the last edit, if any, was at least two seconds before."""
    earlier = instant(profile_in(proven(history.profile_before(exchange))).get("last_profile_edit"))
    return earlier is None or exchange.at - earlier >= TOLERANCE


@check(
    "profile-patch-partial",
    on=[UPDATE_PROFILE],
    when=[*SOUND, keeps_something, profile_was_read],
)
def update_keeps_what_it_does_not_name(exchange: Exchange, history: History) -> CheckResult:
    """An update keeps the members that its body leaves out (rule 1)."""
    before = proven(history.profile_before(exchange))
    if not exchange.response.is_success:
        return expect(condition=False, expected="success", actual=f"status {exchange.status}")
    kept = [name for name in EDITABLE if name not in changes_in(exchange)]
    changed = differing(exchange, before, kept)
    return expect(not changed, "what was not supplied as before", as_pairs(changed), before)


@check(
    "profile-patch-partial",
    "profile-patch-seven-fields",
    on=[OWN_PROFILE, LOOKUP],
    when=[holds_profile, update_must_show],
)
def profile_shows_the_update(exchange: Exchange, history: History) -> CheckResult:
    """A profile that is read after an update has the requested values, and no other change."""
    before = proven(update_shown(exchange, history))
    wanted = changes_in(before)
    elsewhere = differing(exchange, before, [name for name in EDITABLE if name not in wanted])
    unkept = not_as_wanted(exchange, wanted)
    texts = (as_pairs(unkept, "should be"), as_pairs(elsewhere))
    is_right = not elsewhere and not unkept
    actual = "; ".join(filter(None, texts))
    same = None if is_right else same_request_before(exchange, history, before)
    earlier = None if is_right else update_before(before, history, {*unkept, *elsewhere})
    expected = "what the update requested, and no more"
    return expect(is_right, expected, actual, before, same, earlier)


@check("profile-patch-empty-unsets", on=[UPDATE_PROFILE], when=[*SOUND, unsets_something])
def empty_text_unsets(exchange: Exchange, _history: History) -> CheckResult:
    """An empty text unsets a member (rule 2), and the response shows it."""
    return _expect_unset(exchange, exchange)


@check(
    "profile-patch-empty-unsets",
    on=[OWN_PROFILE, LOOKUP],
    when=[holds_profile, update_must_show, something_was_unset],
)
def unset_member_stays_unset(exchange: Exchange, history: History) -> CheckResult:
    """A member that an update unset is read as an empty text."""
    return _expect_unset(exchange, proven(update_shown(exchange, history)))


def _expect_unset(exchange: Exchange, update: Exchange) -> CheckResult:
    emptied = [name for name, text in changes_in(update).items() if text == ""]
    values = {name: exchange.json_object.get(name) for name in emptied}
    kept = {name: value for name, value in values.items() if value != ""}
    is_right = exchange.response.is_success and not kept
    evidence = None if update is exchange else update
    return expect(
        is_right,
        f"{as_json(emptied)} unset",
        f"status {exchange.status}, {as_json(kept)}",
        evidence,
    )


@check("profile-patch-seven-fields", on=[UPDATE_PROFILE], when=[*SOUND, changes_something])
def update_is_carried_out(exchange: Exchange, history: History) -> CheckResult:
    """Each of the seven members can be updated, and the response shows it (rule 3)."""
    wanted = changes_in(exchange)
    wrong = not_as_wanted(exchange, wanted)
    is_right = exchange.response.is_success and not wrong
    values = as_pairs(wrong, "should be")
    actual = f"status {exchange.status}; {values}" if values else f"status {exchange.status}"
    before = update_before(exchange, history, wanted)
    set_before = before and update_before(before, history, wrong)  # the update that this one undid
    return expect(is_right, f"{as_json(list(wanted))} changed", actual, before, set_before)


@check(
    "profile-patch-updates-last-edit",
    on=[UPDATE_PROFILE],
    when=[*SOUND, changes_something, succeeded, profile_was_read, last_edit_is_over],
)
def update_moves_last_edit(exchange: Exchange, history: History) -> CheckResult:
    """An update advances the time of the last edit."""
    before = proven(history.profile_before(exchange))
    earlier = instant(profile_in(before).get("last_profile_edit"))
    later = instant(exchange.json_object.get("last_profile_edit"))
    is_moved = later is not None and (earlier is None or later > earlier)
    return expect(is_moved, f"later than {earlier}", later, before)


@probe(
    "last-edit-utc",
    "profile-patch-partial",
    "profile-patch-seven-fields",
    "profile-patch-updates-last-edit",
    "profile-patch-empty-unsets",
    "unset-required-strings-empty",
    needs=("owner", "writes", "slug"),
)
def edits_of_each_member(client: ProbeClient) -> Parts:
    """Changes each member alone, reads it back as owner and anonymously, and unsets it."""
    # Read anew, since an avatar that changed after the last read may show in the profile.
    client.recall("/me/profile", "owner")
    yield update(client, **{EDITABLE[0]: "Understudy"})
    update(client, **{EDITABLE[1]: "Understudy"})
    yield client.get("/me/profile", "owner")
    update(client, **dict.fromkeys(EDITABLE, ""))
    client.get("/me/profile", "owner")
    yield client.get(f"/profiles/{client.known.slug}")
    for name, text in zip(EDITABLE[2:], LITERALS, strict=True):
        yield update(client, **{name: text})
    update(client, **{EDITABLE[0]: "Understudies"})
    yield client.get(f"/profiles/{client.known.slug}")
    yield update(client, **{EDITABLE[1]: ""})


@probe(
    "profile-patch-seven-fields",
    "profile-patch-empty-unsets",
    needs=("owner", "writes", "slug"),
)
def edit_of_two_members(client: ProbeClient) -> None:
    """Sets a member and unsets another, reads both back, and repeats the update."""
    update(client, job_title="Understudy", company="")
    client.get(f"/profiles/{client.known.slug}")
    client.get("/me/profile", "owner")
    update(client, job_title="Understudy", company="")


EDGES: Final = {
    "display_name": 'Zoe\N{COMBINING DIAERESIS} 👩‍🚀❤️ "Under" & <b>study</b> :) ',
    "description": "Première  partie,\t\nhttps://example.com/?a=1&b=2 'deuxième'\r\npartie. " * 24,
    "pronunciation": "ʌn-də-stʌdi -- ﬁß ... ",
    "pronouns": "0",
    "location": "東京, Αθήνα,\N{RIGHT-TO-LEFT MARK} القاهرة\N{NO-BREAK SPACE}{city} [map] ",
    "job_title": "R&D <lead> &amp; d'O''Brien \\n 100%41 %s ",
    "company": "A+B=C; #D_E, **a name** that goes\N{ZERO WIDTH SPACE} on beyond a column of 64 letters ",
}
"""Texts that careless code alters: other scripts, HTML, SQL and URL syntax, zero, spaces, length.

Typographic filters and templates replace some characters: dashes, dots, smileys, brackets, braces,
ligatures. Unicode and line-end normalisation replace others: combining accents, CR LF.
"""

LITERALS: Final = ("null", "None", "false", "[]", "007")
"""Texts that a loose conversion turns into another type."""


@probe("profile-patch-seven-fields", needs=("owner", "writes", "slug"))
def edits_with_unusual_texts(client: ProbeClient) -> Parts:
    """Sets each member to a text that careless code alters, and reads them back."""
    longest = client.inputs.longest
    texts = {name: EDGES[name][: longest.get(name)] for name in EDITABLE}
    long = {name: text for name, text in texts.items() if len(text) > LONG}
    yield update(client, **{name: texts[name] for name in texts if name not in long})
    yield update(client, **long)
    yield client.get("/me/profile", "owner")
    yield client.get(f"/profiles/{client.known.slug}")


@probe("profile-patch-partial", needs=("owner", "writes"))
def two_edits_at_once(client: ProbeClient) -> None:
    """Updates two members by two requests at the same moment, and reads both back."""
    client.recall("/me/profile", "owner")
    changes = ({"job_title": "Understudy at once"}, {"company": "Understudy at once"})
    client.send_together("PATCH", "/me/profile", "owner", *({"json": body} for body in changes))
    client.get("/me/profile", "owner")


@probe(
    "profile-patch-partial",
    "profile-patch-seven-fields",
    needs=("owner", "other", "writes", "slug", "other_slug"),
)
def edits_of_two_accounts_at_once(client: ProbeClient) -> None:
    """Updates the profiles of two accounts at the same moment, and reads both back."""
    changes = (
        {"who": "owner", "json": {"company": "One of two at once"}},
        {"who": "other", "json": {"company": "Another at once"}},
    )
    client.send_together("PATCH", "/me/profile", "owner", *changes)
    for who in ("owner", "other"):
        client.get("/me/profile", who)


@probe("profile-patch-partial", needs=("owner", "writes"))
def edit_of_nothing(client: ProbeClient) -> None:
    """Sends an empty object, which changes nothing."""
    update(client)
    client.get("/me/profile", "owner")


# Updates of the own profile that ask for too much (interface, Rules for PATCH /me/profile, 3).


@check(
    "profile-patch-seven-fields",
    on=[UPDATE_PROFILE],
    when=[*ABLE, names_others, succeeded, profile_was_read],
)
def other_members_stay(exchange: Exchange, history: History) -> CheckResult:
    """An update changes no member beyond the seven (rule 3)."""
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
    """After an update that names members beyond the seven, those read as before (rule 3)."""
    before = proven(profile_before_update(exchange, history))
    update = last_update(exchange, history)
    others = [name for name in changes_in(proven(update)) if name not in EDITABLE]
    changed = differing(exchange, before, others)
    return expect(not changed, "no other field changed", as_pairs(changed), before, update)


def _expect_unchanged(exchange: Exchange, history: History) -> CheckResult:
    """An update that is refused, or should be, changes nothing, not even in part (RFC 5789, 2)."""
    before = proven(profile_before_update(exchange, history))
    changed = differing(exchange, before, EDITABLE)
    update = last_update(exchange, history)
    return expect(not changed, "nothing changed", as_pairs(changed), before, update)


for _rule, _should_change_nothing in (
    ("profile-patch-unknown-members", last_update_named_others),
    ("profile-patch-partial", last_update_was_refused),
    ("profile-patch-strings", last_update_had_other_value),
):
    check(_rule, on=[OWN_PROFILE], when=[_should_change_nothing, *BEFORE_AND_AFTER])(
        _expect_unchanged
    )


def sends_json_that_is_no_object(exchange: Exchange, history: History) -> bool:
    """Tells whether the body is declared as JSON and is not an object."""
    is_json = media_type(exchange.request.headers) == "application/json"
    return is_json and not has_object(exchange, history)


@probe("json-bodies", needs=("owner", "writes"))
def edits_without_an_object(client: ProbeClient) -> Parts:
    """Sends an update in truncated JSON, and one that is a list."""
    yield client.send("PATCH", "/me/profile", "owner", malformed=b'{"location": "now')
    yield client.send("PATCH", "/me/profile", "owner", json=["location"])


@probe(
    "profile-patch-unknown-members",
    "profile-patch-seven-fields",
    "error-unknown-member",
    needs=("owner", "writes"),
)
def edits_of_other_members(client: ProbeClient) -> Parts:
    """Tries to change members beyond the seven, alone and together with one of the seven."""
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
        beside = {} if isinstance(value, int) else {EDITABLE[0]: "nowhere"}
        exchange = update(client, **{**beside, name: value})
        is_read = name in {EDITABLE[0], EDITABLE[-1]}
        yield client.get("/me/profile", "owner") if is_read else exchange


# Which of two errors in one update is reported (interface, Errors: not shown).

NOT_PERMITTED = (is_oauth, scopes_are_known, is_of_test_accounts, lacks_scope_to_change, has_object)
INVALID = (names_editable_only, is_one_number, document_allows_no_such)
"""Conditions of an update in which only the value, a number, is wrong."""


def send_number(client: ProbeClient, who: str) -> None:
    """Sends an update with a number for a text."""
    client.send("PATCH", "/me/profile", who, json={"job_title": 7})


@probe("scope-body-both-wrong", needs=("reader", "writes"))
def invalid_update_without_scope(client: ProbeClient) -> None:
    """Sends an invalid update with a token that can only read."""
    send_number(client, "reader")


reading(
    "profile-patch-unknown-members",
    on=[UPDATE_PROFILE],
    when=[has_object, names_others],
    able=ABLE,
    read=by_success("ignore", "refuse"),
)
two_errors(
    "scope-body-both-wrong",
    UPDATE_PROFILE,
    HTTPStatus.FORBIDDEN,
    when=[*NOT_PERMITTED, *INVALID],
    alone={
        "scope": [*NOT_PERMITTED, names_editable_only, has_texts_only],
        "body": [*ABLE, *INVALID],
    },
)


@experiment(
    "scope-body-both-wrong",
    needs=("owner", "reader", "writes"),
    requests=3,
    undo="the profile is restored",
)
def profile_updates_with_errors(client: ProbeClient) -> None:
    """Sends an update with a read-only token, an invalid update, and one with both errors."""
    client.send("PATCH", "/me/profile", "reader", json={"job_title": "nowhere"})
    send_number(client, "owner")
    send_number(client, "reader")


def _register_length(member: str, alike: str) -> None:
    """Registers the reading and the experiment that find the longest text a member accepts.

    Args:
        member: Name of the member.
        alike: Id of the rule on a member that is likely to have the same limit; empty for none.
    """
    rule = length_rule(member)

    def names_it_alone(exchange: Exchange, _history: History) -> bool:
        return list(changes_in(exchange)) == [member]

    def is_plain(exchange: Exchange, _history: History) -> bool:
        text: str = changes_in(exchange)[member]
        return text.isascii() and text.isprintable() and text == text.strip()

    def length(exchange: Exchange, _history: History) -> int:
        return len(changes_in(exchange)[member])

    def is_kept(exchange: Exchange) -> bool:
        is_shown = exchange.json_object.get(member) == changes_in(exchange)[member]
        return exchange.response.is_success and is_shown

    def of_length(client: ProbeClient, length: int) -> None:
        update(client, **{member: "u" * length})

    when = [*ABLE, names_it_alone, has_texts_only, is_plain]
    number_reading(rule, UPDATE_PROFILE, when=when, number=length, is_accepted=is_kept)
    of_length.__name__ = f"{member}_of_length"
    experiment(
        rule,
        needs=("owner", "writes"),
        likely=(
            *(100, 120, 128, 140, 150, 160, 200, 250, 255, 256, 300, 400, 500),
            *(512, 1000, 1024, 1500, 2000, 2048, 2500, 3000, 4000, 4096, 5000, 8000, 8192),
        ),
        undo="the profile is restored",
        alike=alike,
    )(of_length)


for _before, _member in pairwise(("", *EDITABLE)):
    _register_length(_member, length_rule(_before) if _before else "")


# Rules that demand one outcome wherever their conditions hold.

of_update_profile = demands(UPDATE_PROFILE)
# A choice, since another deployment may limit the length.
of_update_profile(
    "profile-patch-seven-fields", [*TEXTS, has_long_text], expect_accepted, is_choice=True
)
of_update_profile("profile-patch-unknown-members", [*ABLE, names_others], expect_refused)
of_update_profile(
    "profile-patch-strings",
    [*ABLE, names_editable_only, has_other_value, document_allows_no_such],
    expect_refused,
)
of_update_profile(
    "json-bodies", [may_manage, is_of_test_accounts, sends_json_that_is_no_object], expect_refused
)
