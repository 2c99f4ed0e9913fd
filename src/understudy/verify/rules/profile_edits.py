"""Changing the own profile (interface, Rules for PATCH /me/profile)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import LOOKUP, OWN_PROFILE, UPDATE_PROFILE
from understudy.verify.account_history import (
    LONG,
    SOUND,
    TEXTS,
    changes_in,
    changes_something,
    differing,
    has_long_text,
    keeps_something,
    not_as_wanted,
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
    expect,
    expect_accepted,
    holds_profile,
    proven,
    succeeded,
)
from understudy.verify.history import History, profile_in
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.shapes import EDITABLE
from understudy.verify.value_texts import as_json, as_pairs

TOLERANCE: Final = timedelta(seconds=2)
"""Between two edits whose times must differ, as times have whole seconds."""


def last_edit_is_over(exchange: Exchange, history: History) -> bool:
    """Tells whether the last edit, if any, was some seconds before."""
    earlier = _instant(
        profile_in(proven(history.profile_before(exchange))).get("last_profile_edit")
    )
    return earlier is None or exchange.at - earlier >= TOLERANCE


@check(
    "profile-patch-partial",
    on=[UPDATE_PROFILE],
    when=[*SOUND, keeps_something, profile_was_read],
)
def update_keeps_what_it_does_not_name(exchange: Exchange, history: History) -> CheckResult:
    """An update keeps what it does not name (rule 1)."""
    before = proven(history.profile_before(exchange))
    if not exchange.response.is_success:
        return expect(condition=False, expected="success", actual=f"status {exchange.status}")
    kept = [name for name in EDITABLE if name not in changes_in(exchange)]
    changed = differing(exchange, before, kept)
    return expect(not changed, "what was not supplied as before", as_pairs(changed), before)


@check(
    *("profile-patch-partial", "profile-patch-seven-fields"),
    on=[OWN_PROFILE, LOOKUP],
    when=[holds_profile, update_must_show],
)
def profile_shows_the_update(exchange: Exchange, history: History) -> CheckResult:
    """A profile that is read after an update shows the requested values, and nothing else changed."""
    before = proven(update_shown(exchange, history))
    wanted = changes_in(before)
    elsewhere = differing(exchange, before, [name for name in EDITABLE if name not in wanted])
    unkept = not_as_wanted(exchange, wanted)
    texts = (as_pairs(unkept, "should be"), as_pairs(elsewhere))
    is_right = not elsewhere and not unkept
    actual = "; ".join(filter(None, texts))
    wrong = {*unkept, *elsewhere}
    causes = () if is_right else _causes(exchange, history, before, wrong)
    return expect(is_right, "what the update requested, and no more", actual, before, *causes)


def _causes(
    exchange: Exchange, history: History, before: Exchange, wrong: Iterable[str]
) -> tuple[Exchange | None, ...]:
    """Returns the earlier requests that can have caused wrong values after an update."""
    return same_request_before(exchange, history, before), update_before(before, history, wrong)


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
    set_before = before and update_before(before, history, wrong)  # what the newest one unset
    return expect(is_right, f"{as_json(list(wanted))} changed", actual, before, set_before)


@check(
    "profile-patch-seven-fields",
    on=[UPDATE_PROFILE],
    when=[*TEXTS, has_long_text],
    is_choice=True,
)
def long_text_is_accepted(exchange: Exchange, _history: History) -> CheckResult:
    """A long text that the document does not bound is accepted; another deployment may bound it."""
    return expect_accepted(exchange)


@check(
    "profile-patch-updates-last-edit",
    on=[UPDATE_PROFILE],
    when=[*SOUND, changes_something, succeeded, profile_was_read, last_edit_is_over],
)
def update_moves_last_edit(exchange: Exchange, history: History) -> CheckResult:
    """An update moves the time of the last edit."""
    before = proven(history.profile_before(exchange))
    earlier = _instant(profile_in(before).get("last_profile_edit"))
    later = _instant(exchange.json_object.get("last_profile_edit"))
    is_moved = later is not None and (earlier is None or later > earlier)
    return expect(is_moved, f"later than {earlier}", later, before)


def _instant(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value)) if value else None
    except ValueError:
        return None


@probe(
    *("profile-patch-partial", "profile-patch-seven-fields", "profile-patch-updates-last-edit"),
    *("profile-patch-empty-unsets", "unset-required-strings-empty"),
    needs=("owner", "writes", "slug"),
)
def edits_of_each_member(client: ProbeClient) -> Parts:
    """Changes each member alone, reads it back as owner and anonymously, and unsets it."""
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
    *("profile-patch-seven-fields", "profile-patch-empty-unsets"),
    needs=("owner", "writes", "slug"),
)
def edit_of_two_members(client: ProbeClient) -> None:
    """Sets a member and unsets another, and reads them back."""
    update(client, job_title="Understudy", company="")
    client.get(f"/profiles/{client.known.slug}")
    client.get("/me/profile", "owner")


EDGES: Final = {
    "display_name": 'Zoë 👩‍🚀 "Under" & <b>study</b>',
    "description": "Première  partie,\nhttps://example.com/?a=1&b=2 'deuxième' partie. " * 24,
    "pronunciation": "ʌn-də-stʌdi",
    "pronouns": "0",
    "location": "東京, Αθήνα, القاهرة",
    "job_title": "R&D <lead>, d'O''Brien \\ 100%41",
    "company": "A+B=C; #D, a name that goes on beyond a column of sixty-four letters",
}
"""Texts with what shortcuts lose: other scripts, signs of HTML, SQL and URLs, zero, spaces, length."""

LITERALS: Final = ("null", "false", "None", "[]", "-1")
"""Texts that a loose conversion takes for something else than a text."""


@probe("profile-patch-seven-fields", needs=("owner", "writes", "slug"))
def edits_with_unusual_texts(client: ProbeClient) -> Parts:
    """Sets each member to a text at the edges of what is usual, and reads them back."""
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
    client.send_together("PATCH", "/me/profile", "owner", *({"json": each} for each in changes))
    client.get("/me/profile", "owner")


@probe(
    *("profile-patch-partial", "profile-patch-seven-fields"),
    needs=("owner", "other", "writes", "slug", "other_slug"),
)
def edits_of_two_accounts_at_once(client: ProbeClient) -> None:
    """Lets two accounts update their profiles at the same moment, and reads both back."""
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
