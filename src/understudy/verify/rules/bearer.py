"""Authentication by bearer tokens, API keys and scopes (interface, Bearer tokens; RFC 6750)."""

from collections.abc import Mapping
from http import HTTPStatus
from itertools import islice
from typing import Final

from understudy.exchange.messages import GRANTEE, Exchange
from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    CHANGES,
    LIST_AVATARS,
    LOOKUP,
    ME,
    OWN_PROFILE,
    READS,
    TOKEN_INFO,
    UPDATE_PROFILE,
)
from understudy.interface.scopes import AUTH, MANAGE_PROFILE, READ_PROFILE
from understudy.verify.account_history import has_texts_only, names_editable_only
from understudy.verify.browsing import code, form_of, post, token_in
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    expect,
    expect_refused,
    found,
    is_anonymous,
    is_public_profile,
    is_unknown_identifier,
    may_read,
    proven,
    succeeded,
    tells,
)
from understudy.verify.history import MADE_UP, History, made_up_hash
from understudy.verify.pictures import an_avatar, assign, id_of, picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.code_grant import GRANTED, code_was_sent_once, replay_of
from understudy.verify.switches import ISSUED, by_success, experiment, reading, two_errors
from understudy.verify.value_texts import MANGLED, NEARLY, as_json

# The interface says that changes require the manage scope, and every operation ``auth`` (Scopes).
# It does not show which scopes reading requires (Bearer tokens, 6): facts about the deployment
# decide that, and without them an assumption.

SCOPE_RULES: Final[Mapping[str, str]] = {
    OWN_PROFILE: "scope-of-own-profile",
    LIST_AVATARS: "scope-of-avatar-list",
    ASSOCIATED_EMAIL: "scope-of-associated-email",
}
"""Operation that reads the account to the rule that assumes the scopes which it requires."""

_READS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "scope-of-own-profile": ("/me/profile", {}),
    "scope-of-avatar-list": ("/me/avatars", {}),
    "scope-of-associated-email": ("/me/associated-email", {"email_hash": made_up_hash(1)}),
}
"""The same rules to path and query of a request."""

ALONE: Final = frozenset({AUTH})
READING: Final = frozenset({AUTH, READ_PROFILE})
MANAGING: Final = frozenset({AUTH, MANAGE_PROFILE})

_OPENED_BY: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    "read": (READING,),
    "any": (READING, MANAGING),
    "auth": (ALONE,),
}
"""Option of these rules' switches to the sets of scopes, each of which suffices."""


def has_the_scopes(exchange: Exchange, history: History) -> bool:
    """Tells whether the token has the scopes that the operation needs."""
    granted = exchange.identity.scopes or frozenset(())
    return any(granted >= scopes for scopes in _opened_by(exchange.operation, history))


def lacks_a_scope(exchange: Exchange, history: History) -> bool:
    """Tells whether the token lacks a scope that the operation needs."""
    rule = SCOPE_RULES.get(exchange.operation)
    if history.facts and rule is not None and rule not in history.facts:
        return AUTH not in (exchange.identity.scopes or ())  # only auth is known to be required
    return not has_the_scopes(exchange, history)


def lacks_an_assumed_scope(exchange: Exchange, _history: History) -> bool:
    """Tells whether the token lacks a scope that is assumed to be needed, whatever facts say."""
    assumed = READING if exchange.operation in SCOPE_RULES else MANAGING
    return not (exchange.identity.scopes or frozenset(())) >= assumed


def scopes_are_needed(_exchange: Exchange, history: History) -> bool:
    """Tells whether no fact says that the deployment opens everything to any token."""
    fact = history.facts.get("scope-per-operation")
    return fact is None or fact.reading != "ignored"


def _opened_by(operation: str, history: History) -> tuple[frozenset[str], ...]:
    """Returns the sets of scopes, each of which suffices for an operation."""
    rule = SCOPE_RULES.get(operation)
    if rule is None:
        return (MANAGING,)
    fact = history.facts.get(rule)
    return _OPENED_BY.get("read" if fact is None else fact.reading, (READING,))


ACCOUNTS: Final = frozenset({"own", "other", "private"})
"""Accounts that have a profile, so that only the token decides."""


def sends_token_elsewhere(exchange: Exchange, _history: History) -> bool:
    """Tells whether the credentials are not in the form of a bearer token."""
    is_sent = exchange.request.header("authorization") or "access_token" in exchange.request.query
    return exchange.request.token is None and bool(is_sent)


has_profile = tells(
    "the token is an OAuth token of an account with a profile",
    lambda it, _: it.identity.kind == "oauth" and it.identity.account in ACCOUNTS,
)
is_oauth = tells("the token is an OAuth token", lambda it, _: it.identity.kind == "oauth")


def scopes_are_known(exchange: Exchange, history: History) -> bool:
    """Tells whether the token's scopes are known.

    Those of its authorization request are, unless ``/oauth2/token-info`` lists others. A token whose
    code was redeemed again may be revoked, and then has none.
    """
    scopes = exchange.identity.scopes
    if scopes is None or exchange.identity.account != GRANTEE:
        return scopes is not None
    if not code_was_sent_once(exchange, history):
        return False
    for info in history.near(TOKEN_INFO):
        if info.request.query.get("token") == exchange.request.token and info.response.is_success:
            return set(str(info.json_object.get("scope")).split()) == scopes
    return True


lacks_auth = tells(
    "the token lacks the scope auth", lambda it, _: AUTH not in (it.identity.scopes or frozenset())
)
lacks_scope_to_change = tells(
    "the token lacks the scope to change profiles and avatars",
    lambda it, _: not it.identity.may(MANAGE_PROFILE),
)
token_is_invalid = tells(
    "the token was never issued, or has expired", lambda it, _: it.identity.kind == "invalid"
)
has_no_oauth_token = tells(
    "no valid OAuth token was sent",
    lambda it, _: it.identity.kind in {"none", "api_key", "invalid"},
)


@check("bearer-header", on=[OWN_PROFILE], when=[has_profile, may_read])
def bearer_token_is_accepted(exchange: Exchange, _history: History) -> CheckResult:
    """A token that may read is valid in the Authorization header."""
    is_accepted = exchange.status not in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
    return expect(is_accepted, "success, since the token is valid", exchange.status)


@check("invalid-token-refused", on=[LOOKUP], when=[token_is_invalid, is_public_profile])
def invalid_token_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """An invalid token is refused even where no token is required (RFC 6750, 3)."""
    challenge = exchange.response.header("www-authenticate")
    is_right = exchange.status == HTTPStatus.UNAUTHORIZED and challenge
    return expect(
        is_right, "401 with WWW-Authenticate", f"status {exchange.status}, {as_json(challenge)}"
    )


@check(
    "scope-per-operation",
    on=ME,
    when=[has_profile, scopes_are_known, lacks_a_scope],
    is_choice=True,
)
def missing_scope_is_reported(exchange: Exchange, _history: History) -> CheckResult:
    """A token without the operation's scopes gets 403 ``insufficient_scope`` (RFC 6750, 3.1)."""
    code = exchange.json_object.get("code")
    is_right = exchange.status == HTTPStatus.FORBIDDEN and code == "insufficient_scope"
    actual = f"status {exchange.status}, code {as_json(code)}"
    result = expect(is_right, "403 insufficient_scope", actual)
    return result._replace(is_form=exchange.response.is_refusal)


@check(
    "scope-per-operation",
    on=ME,
    when=[has_profile, scopes_are_known, has_the_scopes],
    is_choice=True,
)
def scopes_suffice(exchange: Exchange, _history: History) -> CheckResult:
    """A token with the operation's scopes does not get ``insufficient_scope``."""
    is_lacking = exchange.json_object.get("code") == "insufficient_scope"
    if exchange.operation == OWN_PROFILE:  # has no parameters, so nothing else can make it fail
        return expect(exchange.status == HTTPStatus.OK, "status 200", f"status {exchange.status}")
    return expect(not is_lacking, "scopes that suffice", exchange.status)


def refusal_of_token(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the previous use of the token, if it was refused as invalid.

    Compares the header as sent: refusing ``bearer`` in lower case is not refusing the token.
    """
    credentials = exchange.request.header("authorization") if exchange.request.token else ""
    for before in history.near(*ME) if credentials else ():
        if before.request.header("authorization") == credentials:
            is_refused = before.status == HTTPStatus.UNAUTHORIZED and before.at <= exchange.at
            return before if is_refused else None
    return None


@check(
    "me-needs-oauth-token",
    on=ME,
    when=[found(refusal_of_token, "the token was refused as invalid by the operation before")],
)
def refused_token_opens_nothing(exchange: Exchange, history: History) -> CheckResult:
    """A token that one operation refuses as invalid is not valid for another."""
    before, replay = proven(refusal_of_token(exchange, history)), replay_of(exchange, history)
    is_refused = exchange.response.is_refusal
    return expect(is_refused, "a refusal as before", exchange.status, before, replay)


@probe("invalid-token-refused", "profile-lookup-other-refusals", needs=("slug",))
def lookups_with_invalid_tokens(client: ProbeClient) -> Parts:
    """Looks a profile up with made-up, altered and expired tokens."""
    for who in filter(client.has, ("wrong", "expired", *MANGLED)):
        yield client.get(f"/profiles/{client.known.slug}", who)


@probe("invalid-token-unknown-profile", needs=("slug",))
def lookup_of_unknown_with_invalid_token(client: ProbeClient) -> None:
    """Looks up with an invalid token, with an unknown identifier, and with both."""
    unknown = f"/profiles/{MADE_UP}-slug"
    client.recall(f"/profiles/{client.known.slug}", "wrong", is_lasting=True)
    client.recall(unknown, is_lasting=True)
    client.get(unknown, "wrong")


@probe("bearer-header", "me-needs-oauth-token", "error-shape", needs=("owner",))
def tokens_in_wrong_places(client: ProbeClient) -> Parts:
    """Sends a valid token in places and schemes in which the API must not accept it."""
    token = client.token("owner") or ""
    yield client.get("/me/profile", headers={"authorization": f"Token {token}"})
    yield client.get("/me/profile", headers={"authorization": token})
    query = {"access_token": token, "token": token}
    yield client.get("/me/profile", query=query)
    yield client.get("/me/avatars", query=query)
    basic = f"Basic {NEARLY['basic'].make(token)}"
    yield client.get("/me/avatars", headers={"authorization": basic})
    yield client.get("/me/profile", headers={"authorization": "Bearer"})


@probe("me-needs-oauth-token", "error-shape", "error-members", "error-invalid-token")
def reads_without_oauth_token(client: ProbeClient) -> Parts:
    """Reads the account with an invalid token, an API key, an expired token, and anonymously."""
    for path in ("/me/profile", "/me/avatars"):
        for who in filter(client.has, ("wrong", "api_key", "expired")):
            yield client.get(path, who)
    yield client.get("/me/associated-email", query={"email_hash": made_up_hash(1)})


@probe("me-needs-oauth-token", needs=("writes",))
def changes_without_oauth_token(client: ProbeClient) -> Parts:
    """Tries each change without a valid OAuth token, and the profile update with a made-up one."""
    for who in filter(client.has, ("anonymous", "api_key", "expired", *MANGLED)):
        yield from _every_change(client, who)
    yield from islice(_every_change(client, "wrong"), 1)


@probe("me-needs-oauth-token", needs=("owner",))
def reads_with_mangled_tokens(client: ProbeClient) -> Parts:
    """Reads the account with altered copies of the owner's token, an expired one and an API key."""
    address = {"email_hash": made_up_hash(1)}
    for who in filter(client.has, (*MANGLED, "expired", "api_key")):
        yield client.get("/me/associated-email", who, address)
        if who in MANGLED:
            yield client.get("/me/avatars", who)
            yield client.get("/me/profile", who)
    for who in filter(client.has, ("escaped", "quoted")):
        yield client.get("/me/profile", who)


@probe("profile-hash-is-primary", "avatar-list-of-caller", needs=("owner", "other", "hashes"))
def reads_of_two_accounts_at_once(client: ProbeClient) -> Parts:
    """Reads profile and avatars of two accounts at the same moment."""
    for path in ("/me/profile", "/me/avatars"):
        yield client.send_together("GET", path, "owner", {}, {"who": "other"})


@probe("scope-per-operation", "error-missing-scope", "error-members", needs=("auth_only",))
def reads_without_scope(client: ProbeClient) -> Parts:
    """Reads with a token that has the scope ``auth`` alone."""
    for rule in _READS:
        yield _read(client, "auth_only", rule)


@probe("scope-per-operation", needs=("no_auth",))
def reads_without_auth(client: ProbeClient) -> Parts:
    """Reads with a token that has every scope but ``auth``."""
    for rule in _READS:
        yield _read(client, "no_auth", rule)


@probe("scope-per-operation", needs=("reader",))
def reads_with_scope(client: ProbeClient) -> Parts:
    """Reads with a token that has exactly the scopes for reading."""
    yield client.get("/me/profile", "reader")
    yield client.get("/me/avatars", "reader")


@probe("scope-per-operation", needs=("writes",))
def changes_without_scope(client: ProbeClient) -> Parts:
    """Tries each change with tokens that lack the manage scope, the read scope too, or ``auth``."""
    for who in filter(client.has, ("reader", "auth_only", "no_auth")):
        yield from _every_change(client, who)


@probe("scope-per-operation", needs=("owner", "reader", "writes"))
def update_without_scope(client: ProbeClient) -> None:
    """Tries an update with a token that can only read; reads the profile before and after."""
    client.recall("/me/profile", "owner")
    client.send("PATCH", "/me/profile", "reader", json={"job_title": "nowhere"})
    client.get("/me/profile", "owner")


def _every_change(client: ProbeClient, who: str) -> Parts:
    """Tries each change in a way that does no harm: with current values, on an avatar of this run.

    The avatar exists, so that a server that looks it up before it checks the token is found.
    """
    is_uploading = client.has("owner") and client.target.permit.uploads
    image = an_avatar(client) if is_uploading else MADE_UP
    own = client.recall("/me/profile", "owner", is_lasting=True) if client.has("owner") else None
    location = own.json_object.get("location", "") if own else ""
    address = (*client.known.own_hashes[-1:], made_up_hash(1))[0]
    yield client.send("PATCH", "/me/profile", who, json={"location": location})
    yield client.send("PATCH", f"/me/avatars/{image}", who, json={"rating": "G"})
    yield assign(client, image, address, who)
    if is_uploading:
        uploaded = upload(client, picture(), who, select_avatar="false")
        yield uploaded
        if uploaded.response.is_success:
            client.send("DELETE", f"/me/avatars/{id_of(uploaded)}", "owner")
    deleted = client.send("DELETE", f"/me/avatars/{image}", who)
    yield deleted
    if deleted.response.is_success and is_uploading:
        client.send("DELETE", f"/me/avatars/{image}", "owner")  # records that it is gone


# Scopes that reading the account requires (interface, Bearer tokens, 6: not shown).


has_no_scope_but_to_manage = tells(
    "the token has the scopes auth and manage, and no other",
    lambda it, _: it.identity.scopes == MANAGING,
)


_MANAGING = (is_oauth, has_no_scope_but_to_manage, scopes_are_needed)


def token_of(client: ProbeClient, *scopes: str) -> str:
    """Obtains a token with these scopes by the code grant."""
    changes = {f"scope[{index}]": scope for index, scope in enumerate(scopes)}
    redirect_code = code(client, **{"scope[1]": None, **changes})
    return token_in(client, post(client, form_of(client.app, redirect_code)), scopes)


def _read(client: ProbeClient, who: str, rule: str) -> Exchange:
    path, query = _READS[rule]
    return client.get(path, who, query)


@probe(*_READS, needs=GRANTED)
def reads_with_manage_scope(client: ProbeClient) -> None:
    """Reads with a token that has the manage scope, but not the read scope."""
    token = token_of(client, AUTH, MANAGE_PROFILE)
    for rule in _READS:
        _read(client, token, rule)


reading(
    "invalid-token-refused",
    on=[LOOKUP],
    when=[token_is_invalid, is_public_profile],
    read=by_success("anonymous", "refuse"),
)
reading(
    "scope-per-operation",
    on=[OWN_PROFILE, LIST_AVATARS],
    when=[is_oauth, scopes_are_known, lacks_auth],
    read=by_success("ignored", "enforced"),
)
reading(
    "scope-per-operation",
    on=[UPDATE_PROFILE],
    when=[is_oauth, scopes_are_known, lacks_scope_to_change, names_editable_only, has_texts_only],
    read=by_success("ignored", "enforced"),
)
two_errors(
    "invalid-token-unknown-profile",
    LOOKUP,
    HTTPStatus.UNAUTHORIZED,
    when=[token_is_invalid, is_unknown_identifier],
    alone={
        "token": [token_is_invalid, is_public_profile],
        "profile": [is_anonymous, is_unknown_identifier],
    },
)

# A success shows the scopes that suffice only if the deployment checks scopes at all, which a
# refusal for a missing scope proves.


def _is_refused_for_scope(exchange: Exchange, history: History) -> bool:
    """Returns whether an OAuth token with known scopes was refused for a missing scope."""
    is_known = is_oauth(exchange, history) and scopes_are_known(exchange, history)
    is_sound = names_editable_only(exchange, history) and has_texts_only(exchange, history)
    is_refused = is_known and is_sound and exchange.response.is_refusal
    return is_refused and lacks_an_assumed_scope(exchange, history)


def scopes_are_checked(exchange: Exchange, history: History) -> bool:
    """Tells whether this or an earlier request was refused for a missing scope."""
    exchanges = (exchange, *history.of(*SCOPE_RULES, UPDATE_PROFILE))
    return any(_is_refused_for_scope(each, history) for each in exchanges)


has_auth_alone = tells(
    "the token has the scope auth, and no other", lambda it, _: it.identity.scopes == ALONE
)


def auth_alone_was_refused(exchange: Exchange, history: History) -> bool:
    """Tells whether a token with the scope auth alone was refused by the same operation."""
    return any(
        has_auth_alone(before, history) and before.response.is_refusal
        for before in history.of(exchange.operation)
    )


for _operation, _rule in SCOPE_RULES.items():
    reading(
        _rule,
        on=[_operation],
        when=[is_oauth, has_auth_alone, succeeded, scopes_are_checked],
        read="auth",
    )
    reading(
        _rule,
        on=[_operation],
        when=[is_oauth, has_no_scope_but_to_manage, auth_alone_was_refused, scopes_are_checked],
        read=lambda it: "any" if it.response.is_success else "read",
    )


def _register_lesser_scopes(rule: str) -> None:
    """Registers the experiment that reads with lesser scopes than the rule assumes."""

    def with_lesser_scopes(client: ProbeClient) -> None:
        """Reads with ``auth`` alone, and with ``auth`` and the manage scope."""
        _read(client, "auth_only" if client.has("auth_only") else token_of(client, AUTH), rule)
        _read(client, token_of(client, AUTH, MANAGE_PROFILE), rule)

    name = rule.removeprefix("scope-of-").replace("-", "_")
    with_lesser_scopes.__name__ = f"{name}_without_read_scope"
    experiment(rule, needs=GRANTED, requests=8, undo=ISSUED)(with_lesser_scopes)


for _rule in _READS:
    _register_lesser_scopes(_rule)


# Rules that demand one outcome wherever their conditions hold.

of_own_profile = demands(OWN_PROFILE)
of_own_profile("bearer-header", [sends_token_elsewhere], expect_refused)
of_own_profile("scope-of-own-profile", _MANAGING, expect_refused)
demands(*ME)("me-needs-oauth-token", [has_no_oauth_token], expect_refused)
demands(*CHANGES)(
    "scope-per-operation", [is_oauth, scopes_are_known, lacks_scope_to_change], expect_refused
)
demands(*READS)("scope-per-operation", [is_oauth, scopes_are_known, lacks_auth], expect_refused)
demands(LIST_AVATARS)("scope-of-avatar-list", _MANAGING, expect_refused)
demands(ASSOCIATED_EMAIL)("scope-of-associated-email", _MANAGING, expect_refused)
