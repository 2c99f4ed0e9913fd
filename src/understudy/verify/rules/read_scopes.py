"""Scopes that open what is read of the account (interface, Bearer tokens, 6: not shown)."""

from understudy.exchange.messages import Exchange
from understudy.interface.operations import ASSOCIATED_EMAIL, LIST_AVATARS, OWN_PROFILE
from understudy.interface.scopes import AUTH, MANAGE_PROFILE
from understudy.verify.browsing import code, form_of, post, token_in
from understudy.verify.checks import CheckResult, check, expect_refused
from understudy.verify.history import History, made_up_hash
from understudy.verify.needed_scopes import MANAGING, SCOPE_RULES, scopes_are_needed
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import probe
from understudy.verify.rules.bearer import is_oauth
from understudy.verify.rules.code_grant import GRANTED


def has_no_scope_but_to_manage(exchange: Exchange, _history: History) -> bool:
    """Tells whether the token has the scopes auth and manage, and no other."""
    return exchange.identity.scopes == MANAGING


_MANAGING = (is_oauth, has_no_scope_but_to_manage, scopes_are_needed)


@check("scope-of-own-profile", on=[OWN_PROFILE], when=_MANAGING)
def own_profile_needs_read_scope(exchange: Exchange, _history: History) -> CheckResult:
    """A token with the manage scope, and not the read scope, does not read the own profile."""
    return expect_refused(exchange)


@check("scope-of-avatar-list", on=[LIST_AVATARS], when=_MANAGING)
def avatar_list_needs_read_scope(exchange: Exchange, _history: History) -> CheckResult:
    """A token with the manage scope, and not the read scope, does not list avatars."""
    return expect_refused(exchange)


@check("scope-of-associated-email", on=[ASSOCIATED_EMAIL], when=_MANAGING)
def associated_email_needs_read_scope(exchange: Exchange, _history: History) -> CheckResult:
    """A token with the manage scope, and not the read scope, does not ask about addresses."""
    return expect_refused(exchange)


def token_of(client: ProbeClient, *scopes: str) -> str:
    """Returns a new token that has these scopes."""
    changes = {f"scope[{index}]": scope for index, scope in enumerate(scopes)}
    redirect_code = code(client, **{"scope[1]": None, **changes})
    return token_in(client, post(client, form_of(client.app, redirect_code)), scopes)


def read_profile(client: ProbeClient, who: str) -> None:
    """Reads the own profile."""
    client.get("/me/profile", who)


def list_avatars(client: ProbeClient, who: str) -> None:
    """Lists the avatars."""
    client.get("/me/avatars", who)


def ask_about_address(client: ProbeClient, who: str) -> None:
    """Asks whether the account has an unknown address."""
    client.get("/me/associated-email", who, {"email_hash": made_up_hash(1)})


@probe(
    *SCOPE_RULES.values(),
    needs=GRANTED,
)
def reads_with_manage_scope(client: ProbeClient) -> None:
    """Reads with a token that has the manage scope, and not the read scope."""
    token = token_of(client, AUTH, MANAGE_PROFILE)
    read_profile(client, token)
    list_avatars(client, token)
    ask_about_address(client, token)
