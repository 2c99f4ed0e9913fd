"""The token grant: what is in the fragment of the redirect (interface, Token grant)."""

import re
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl

from understudy.exchange.messages import Exchange
from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import decide, info, parameters, token_in
from understudy.verify.checks import CheckResult, check, expect, expect_equal
from understudy.verify.grant_history import is_redirect, redirect_has
from understudy.verify.history import History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.value_texts import as_json

LIFETIME: Final = timedelta(weeks=2)  # interface, Limits: Implicit-flow token lifetime
MEMBERS: Final = frozenset({"access_token", "expires_in", "token_type", "site_id"})
_ESCAPED: Final = re.compile(r"([A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})*")


def has_fragment(exchange: Exchange, _history: History) -> bool:
    """Tells whether the redirect has a fragment."""
    return "#" in exchange.response.header("location").rstrip("#")


@check("implicit-token-in-fragment", when=[is_redirect, redirect_has("access_token")])
def token_is_in_fragment(exchange: Exchange, _history: History) -> CheckResult:
    """The token and what belongs to it are in the fragment, where no server sees them."""
    location = exchange.location
    members = dict(parse_qsl(location.fragment))
    lacking = MEMBERS - set(members)
    in_query = "access_token" in dict(parse_qsl(location.query))
    kind = members.get("token_type", "")
    is_right = not lacking and not in_query and kind.lower() == "bearer"
    actual = as_json({"lacking": sorted(lacking), "token_type": kind, "in query": in_query})
    return expect(is_right, "four members in the fragment", actual)


@check("implicit-expires-in", when=[is_redirect, redirect_has("access_token")])
def lifetime_is_stated(exchange: Exchange, _history: History) -> CheckResult:
    """The redirect says that the token lasts two weeks, in seconds."""
    wanted = str(int(LIFETIME.total_seconds()))
    return expect_equal(exchange.redirect_parameters.get("expires_in"), wanted, "expires_in")


@check("fragment-percent-encoded", when=[is_redirect, has_fragment])
def fragment_is_escaped(exchange: Exchange, _history: History) -> CheckResult:
    """Every reserved character in the fragment is percent-encoded."""
    fragment = exchange.response.header("location").partition("#")[2]
    values = [pair.partition("=")[2] for pair in fragment.split("&")]
    wrong = [value[:12] for value in values if not _ESCAPED.fullmatch(value)]
    return expect(not wrong, "everything is escaped but letters, digits and -._~", wrong)


@probe(
    *("implicit-token-in-fragment", "implicit-expires-in", "fragment-percent-encoded"),
    *("state-echoed", "code-unguessable", "response-type", "scope-indexed-array"),
    *("authorize-client-known", "redirect-uri-registered", "token-info"),
    *("token-info-ids-strings", "json-bodies"),
    needs=("auth_url", "app", "tokens", "approval"),
)
def implicit_flow(client: ProbeClient) -> Parts:
    """Lets a person approve a token for a browser, and validates it."""
    redirect = decide(client, parameters(client.app, response_type="token"))
    yield redirect
    yield info(client, token_in(client, redirect, SCOPES[:2]))
    yield decide(client, parameters(client.app, response_type="token", state=None))
