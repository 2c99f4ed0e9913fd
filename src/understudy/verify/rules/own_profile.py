"""Reading and changing the own profile (interface, Authenticated own-profile operations)."""

from datetime import datetime, timedelta
from typing import Any

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import ASSOCIATED_EMAIL, LOOKUP, OWN_PROFILE, UPDATE_PROFILE
from understudy.verify.checks import (
    CheckResult,
    check,
    expect,
    expect_equal,
    expect_refused,
    expect_status,
)
from understudy.verify.history import History, profile_in
from understudy.verify.shapes import EDITABLE

TOLERANCE = timedelta(seconds=1)


def _asked(exchange: Exchange) -> dict[str, Any] | None:
    """Returns what an update asks for, where the caller may update."""
    asked = exchange.request.json
    is_able = (
        exchange.identity.may("avatar-profile:manage") and exchange.operation == UPDATE_PROFILE
    )
    is_able = is_able and exchange.identity.account in {"own", "other"}
    return asked if is_able and isinstance(asked, dict) else None


def _is_sound(asked: dict[str, Any]) -> bool:
    return set(asked) <= set(EDITABLE) and all(isinstance(text, str) for text in asked.values())


def _last_update(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the update that a read follows, where nothing came between."""
    account = exchange.identity.account
    if exchange.operation == LOOKUP and history.is_own(exchange.value):
        account = "own"
    for before in history.of(UPDATE_PROFILE):
        if before.identity.account == account and account is not None:
            return before
    return None


def _after(exchange: Exchange, history: History) -> tuple[Exchange, dict[str, Any]] | None:
    """Returns the update that a profile shows the outcome of, and what it asked for."""
    before = _last_update(exchange, history)
    asked = _asked(before) if before else None
    profile = profile_in(exchange)
    if before is None or asked is None or not profile or not before.response.is_success:
        return None
    is_same = profile.get("hash") == before.json_object.get("hash")
    return (before, asked) if is_same and _is_sound(asked) else None


@check("own-profile-disabled-404", on=[OWN_PROFILE])
def _disabled(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.identity.account != "disabled":
        return None
    actual = f"status {exchange.status}, code {exchange.json_object.get('code')!r}"
    is_right = exchange.status == 404 and exchange.json_object.get("code") == "disabled"  # noqa: PLR2004 - not found
    return expect(is_right, "404 with the code disabled", actual)


@check("profile-patch-partial", on=[UPDATE_PROFILE])
def _partial(exchange: Exchange, history: History) -> CheckResult | None:
    asked, before = _asked(exchange), history.profile_before(exchange)
    if asked is None or before is None or not _is_sound(asked):
        return None
    left = [name for name in EDITABLE if name not in asked]
    changed = [
        name for name in left if exchange.json_object.get(name) != profile_in(before).get(name)
    ]
    if not exchange.response.is_success:
        return expect(condition=False, expected="success", actual=f"status {exchange.status}")
    return expect(not changed, "what was not supplied as before", changed, before) if left else None


@check("profile-patch-partial", "profile-patch-seven-fields", on=[OWN_PROFILE, LOOKUP])
def _read_back(exchange: Exchange, history: History) -> CheckResult | None:
    found = _after(exchange, history)
    if found is None:
        return None
    before, asked = found
    profile = profile_in(exchange)
    left = [name for name in EDITABLE if name not in asked]
    differing = [name for name in left if profile.get(name) != before.json_object.get(name)]
    unkept = [name for name in asked if profile.get(name) != asked[name]]
    actual = f"changed {differing}, not kept {unkept}"
    return expect(
        not differing and not unkept, "what the update asked for, and no more", actual, before
    )


@check("profile-patch-empty-unsets", on=[UPDATE_PROFILE, OWN_PROFILE, LOOKUP])
def _empty(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.operation == UPDATE_PROFILE:
        asked, before = _asked(exchange), None
    else:
        found = _after(exchange, history)
        before, asked = found if found else (None, None)
    if asked is None or not _is_sound(asked) or "" not in asked.values():
        return None
    emptied = [name for name, text in asked.items() if text == ""]
    kept = {
        name: exchange.json_object.get(name)
        for name in emptied
        if exchange.json_object.get(name) != ""
    }
    is_right = exchange.response.is_success and not kept
    return expect(is_right, f"{emptied} unset", f"status {exchange.status}, {kept}", before)


@check("profile-patch-seven-fields", on=[UPDATE_PROFILE])
def _seven(exchange: Exchange, history: History) -> CheckResult | None:
    asked = _asked(exchange)
    if asked is None:
        return None
    if asked and _is_sound(asked):
        wrong = {
            n: exchange.json_object.get(n) for n in asked if exchange.json_object.get(n) != asked[n]
        }
        is_right = exchange.response.is_success and not wrong
        return expect(is_right, f"{list(asked)} changed", f"status {exchange.status}, {wrong}")
    before = history.profile_before(exchange)
    others = [name for name in asked if name not in EDITABLE]
    if before is None or not others or not exchange.response.is_success:
        return None
    changed = [n for n in others if exchange.json_object.get(n) != profile_in(before).get(n)]
    return expect(not changed, "no other field changed", changed, before)


@check("profile-patch-seven-fields", "profile-patch-unknown-members", on=[OWN_PROFILE])
def _nothing_changed(exchange: Exchange, history: History) -> CheckResult | None:
    """After an update that asks for more than the seven fields, nothing is changed."""
    update = _last_update(exchange, history)
    asked = _asked(update) if update else None
    if update is None or asked is None or set(asked) <= set(EDITABLE):
        return None
    return _unchanged(exchange, history, update)


@check("profile-patch-unknown-members", on=[UPDATE_PROFILE])
def _unknown(exchange: Exchange, _history: History) -> CheckResult | None:
    asked = _asked(exchange)
    if asked is None or set(asked) <= set(EDITABLE):
        return None
    return expect_status(exchange, 400)


@check("profile-patch-strings", on=[UPDATE_PROFILE])
def _strings(exchange: Exchange, _history: History) -> CheckResult | None:
    asked = _asked(exchange)
    if asked is None or not set(asked) <= set(EDITABLE) or _is_sound(asked):
        return None
    return expect_refused(exchange)


@check("profile-patch-strings", on=[OWN_PROFILE])
def _refusal_changes_nothing(exchange: Exchange, history: History) -> CheckResult | None:
    update = _last_update(exchange, history)
    asked = _asked(update) if update else None
    if update is None or asked is None or _is_sound(asked) or not set(asked) <= set(EDITABLE):
        return None
    return _unchanged(exchange, history, update)


def _unchanged(exchange: Exchange, history: History, update: Exchange) -> CheckResult | None:
    profile = profile_in(exchange)
    for before in history.of(OWN_PROFILE, UPDATE_PROFILE):
        is_earlier = before.number < update.number and before.response.is_success
        if is_earlier and before.identity.account == exchange.identity.account and profile:
            changed = [n for n in EDITABLE if profile.get(n) != profile_in(before).get(n)]
            return expect(not changed, "nothing changed", changed, before, update)
    return None


@check("profile-patch-updates-last-edit", on=[UPDATE_PROFILE])
def _last_edit(exchange: Exchange, history: History) -> CheckResult | None:
    asked, before = _asked(exchange), history.profile_before(exchange)
    if asked is None or before is None or not asked or not _is_sound(asked):
        return None
    earlier = _instant(profile_in(before).get("last_profile_edit"))
    later = _instant(exchange.json_object.get("last_profile_edit"))
    if not exchange.response.is_success or (earlier and exchange.at - earlier < 2 * TOLERANCE):
        return None
    is_moved = later is not None and (earlier is None or later > earlier)
    return expect(is_moved, f"later than {earlier}", later, before)


def _instant(said: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(said)) if said else None
    except ValueError:
        return None


@check("associated-email", on=[ASSOCIATED_EMAIL])
def _associated(exchange: Exchange, history: History) -> CheckResult | None:
    asked = exchange.request.query.get("email_hash")
    account = exchange.identity.account
    if (
        not asked
        or account not in {"own", "other"}
        or not exchange.identity.may("avatar-profile:read")
    ):
        return None
    own = history.known.own_hashes if account == "own" else history.known.others_hashes
    others = history.known.others_hashes if account == "own" else history.known.own_hashes
    if asked in own or asked in others or history.is_made_up(asked):
        return expect_equal(exchange.json_object.get("associated"), asked in own, "associated")
    return None


@check("associated-email-hash-required", on=[ASSOCIATED_EMAIL])
def _hash_required(exchange: Exchange, _history: History) -> CheckResult | None:
    if not exchange.identity.may("avatar-profile:read") or "email_hash" in exchange.request.query:
        return None
    return expect_refused(exchange)
