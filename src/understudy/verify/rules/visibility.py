"""Who sees what: one profile as nobody, with an API key, as its owner, as another (interface, Profile)."""

from collections.abc import Mapping
from typing import Any

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import LOOKUP, OWN_PROFILE, PROFILES
from understudy.verify.checks import CheckResult, check, expect
from understudy.verify.history import History, profile_in
from understudy.verify.shapes import AUTHENTICATED_ONLY, OPTIONAL

AT_MOST = 4  # interface, Limits: verified accounts in a profile
TOKENS = frozenset({"oauth", "api_key"})


@check("profile-lookup-open", on=[LOOKUP])
def _open(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.identity.kind != "none" or exchange.request.header("authorization"):
        return None
    if not history.is_public(exchange.value) or exchange.request.method != "GET":
        return None
    return expect(exchange.status == 200, "200 without credentials", f"status {exchange.status}")  # noqa: PLR2004 - OK


@check("authenticated-only-fields", on=PROFILES)
def _only_with_token(exchange: Exchange, history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    if not profile:
        return None
    if exchange.identity.kind == "none":
        shown = [name for name in AUTHENTICATED_ONLY if name in profile]
        return expect(not shown, "no field for callers with a token", f"shown to nobody: {shown}")
    if exchange.identity.kind not in TOKENS:
        return None
    if "number_verified_accounts" not in profile:
        return expect(
            condition=False, expected="number_verified_accounts with a token", actual="none"
        )
    twin = _twin(exchange, history, TOKENS)
    if twin is None:
        return None
    ours, theirs = _names(profile), _names(profile_in(twin))
    return expect(ours == theirs, "the same fields with any token", ours ^ theirs, twin)


@check("profile-lookup-open", "authenticated-only-fields", on=[LOOKUP])
def _public_is_contained(exchange: Exchange, history: History) -> CheckResult | None:
    """What the public sees is contained in what a token sees, and equal where both see it."""
    profile = profile_in(exchange)
    wanted = frozenset({"none"}) if exchange.identity.kind in TOKENS else TOKENS
    twin = _twin(exchange, history, wanted) if exchange.identity.kind in {"none", *TOKENS} else None
    if twin is None or not profile:
        return None
    other = profile_in(twin)
    public, full = (other, profile) if exchange.identity.kind in TOKENS else (profile, other)
    names = set(public) - {"verified_accounts"}
    differing = [name for name in sorted(names) if public[name] != full.get(name, None)]
    shown = public.get("verified_accounts") or []
    beyond = [account for account in shown if account not in (full.get("verified_accounts") or [])]
    actual = f"differing: {differing}; accounts that only the public sees: {len(beyond)}"
    return expect(not differing and not beyond, "the public part is contained", actual, twin)


@check("verified-accounts-at-most-four", on=[LOOKUP])
def _at_most_four(exchange: Exchange, history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    if not profile or exchange.identity.kind != "none":
        return None
    shown = len(profile.get("verified_accounts") or [])
    twin = _twin(exchange, history, TOKENS)
    has_more = twin is not None and len(profile_in(twin).get("verified_accounts") or []) > AT_MOST
    if shown > AT_MOST or has_more:
        return expect(shown <= AT_MOST, "four at most", f"{shown} accounts", twin)
    return None


@check("number-verified-accounts-counts-hidden", on=PROFILES)
def _number(exchange: Exchange, history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    number, listed = profile.get("number_verified_accounts"), profile.get("verified_accounts")
    if not isinstance(number, int) or not isinstance(listed, list):
        return None
    twin = _twin(exchange, history, TOKENS)
    others = profile_in(twin).get("number_verified_accounts", number) if twin else number
    has_hidden = any(isinstance(a, dict) and a.get("is_hidden") for a in listed)
    if number >= len(listed) and others == number and not has_hidden:
        return None  # as good as no number at all
    is_right = number >= len(listed) and others == number
    actual = f"{number} of {len(listed)} listed, {others} to another"
    return expect(is_right, "one number that counts all", actual, twin)


@check("hidden-accounts-left-out", on=PROFILES)
def _hidden(exchange: Exchange, history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    accounts = [a for a in profile.get("verified_accounts") or () if isinstance(a, dict)]
    hidden = [a for a in accounts if a.get("is_hidden")]
    if not profile:
        return None
    if not _is_owner(exchange, history):
        if exchange.operation != LOOKUP or exchange.identity.kind == "unknown":
            return None
        return expect(
            not hidden, "hidden accounts for their owner only", f"{len(hidden)} are shown"
        )
    number = profile.get("number_verified_accounts")
    return expect(number == len(accounts), "the owner sees all", f"{len(accounts)} of {number}")


@check("contact-info-only-when-public", on=[LOOKUP])
def _contact(exchange: Exchange, history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    if exchange.value != history.known.hidden_contact_slug or not profile:
        return None
    if exchange.identity.kind not in TOKENS:
        return None
    return expect("contact_info" not in profile, "no contact details", profile.get("contact_info"))


@check("own-profile-is-full", on=[OWN_PROFILE, LOOKUP])
def _own_is_full(exchange: Exchange, history: History) -> CheckResult | None:
    profile = profile_in(exchange)
    account = exchange.identity.account
    if not profile or account is None:
        return None
    elsewhere = LOOKUP if exchange.operation == OWN_PROFILE else OWN_PROFILE
    for before in history.near(elsewhere):
        other = profile_in(before)
        is_same_person = other.get("hash") == profile.get("hash")
        if is_same_person and history.still(before) and before.identity.account == account:
            differing = [n for n in {*other, *profile} if other.get(n) != profile.get(n)]
            return expect(not differing, "all that a lookup gives its owner", differing, before)
    return None


def _is_owner(exchange: Exchange, history: History) -> bool:
    account = exchange.identity.account
    if exchange.identity.kind != "oauth":
        return False
    if exchange.operation != LOOKUP:
        return True
    is_own = account == "own" and history.is_own(exchange.value)
    return is_own or (account == "other" and history.is_others(exchange.value))


def _twin(exchange: Exchange, history: History, kinds: frozenset[str]) -> Exchange | None:
    """Returns a lookup of the same identifier by another kind of caller, if it still holds."""
    if exchange.operation != LOOKUP:
        return None
    for before in history.near(LOOKUP):
        if not history.still(before):
            return None
        is_twin = before.value == exchange.value and before.identity.kind in kinds
        if is_twin and before.identity != exchange.identity and profile_in(before):
            return before
    return None


def _names(profile: Mapping[str, Any]) -> set[str]:
    return {name for name in OPTIONAL if name in profile}
