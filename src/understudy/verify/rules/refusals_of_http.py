"""Judges what HTTP demands of credentials and of refusals (RFC 9110, 11.1, 15.5.2 and 15.5.6)."""

from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import LIST_AVATARS, LOOKUP, ME, OWN_PROFILE, RESOURCE
from understudy.verify.checks import CheckResult, check, expect, proven, status_is
from understudy.verify.history import MADE_UP, History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.value_texts import as_json

UNAUTHORIZED: Final = 401
METHOD_NOT_ALLOWED: Final = 405
READS: Final = (LOOKUP, OWN_PROFILE, LIST_AVATARS)


def writes_scheme_in_other_case(exchange: Exchange, _history: History) -> bool:
    """Tells whether the scheme of a valid token is not written ``Bearer``."""
    scheme = exchange.request.header("authorization").partition(" ")[0]
    is_good = exchange.identity.kind == "oauth"
    return is_good and scheme.lower() == "bearer" and scheme != "Bearer"


def same_with_usual_scheme(exchange: Exchange, history: History) -> Exchange | None:
    """Returns the newest success of the same request with the scheme written ``Bearer``."""
    for before in history.near(exchange.operation):
        is_same = (
            before.identity == exchange.identity and before.request.url == exchange.request.url
        )
        is_usual = before.request.header("authorization").startswith("Bearer ")
        if is_same and is_usual and before.response.is_success:
            return before
    return None


def succeeds_with_usual_scheme(exchange: Exchange, history: History) -> bool:
    """Tells whether the same request with the scheme written ``Bearer`` succeeded before."""
    return same_with_usual_scheme(exchange, history) is not None


def _members(exchange: Exchange) -> set[str]:
    return set(exchange.json_object)


@check(
    "bearer-scheme-any-case",
    on=READS,
    when=[writes_scheme_in_other_case, succeeds_with_usual_scheme],
)
def scheme_is_read_in_any_case(exchange: Exchange, history: History) -> CheckResult:
    """The name of the scheme is compared without regard to case (RFC 9110, 11.1)."""
    before = proven(same_with_usual_scheme(exchange, history))
    lacking = sorted(_members(before) - _members(exchange))
    is_right = exchange.response.is_success and not lacking
    actual = f"status {exchange.status}, lacking {as_json(lacking)}"
    return expect(is_right, "the response to Bearer", actual, before)


@check("unauthorized-challenge", on=RESOURCE, when=[status_is(UNAUTHORIZED)])
def refusal_has_challenge(exchange: Exchange, _history: History) -> CheckResult:
    """A 401 names the scheme of the credentials that are taken (RFC 9110, 15.5.2)."""
    challenge = exchange.response.header("www-authenticate")
    scheme = challenge.partition(" ")[0].lower()
    is_right = scheme == "bearer" if exchange.operation in {*ME, LOOKUP} else bool(challenge)
    return expect(is_right, "401 with WWW-Authenticate", f"WWW-Authenticate: {as_json(challenge)}")


@check("method-not-allowed-allow", when=[status_is(METHOD_NOT_ALLOWED)])
def refusal_names_methods(exchange: Exchange, _history: History) -> CheckResult:
    """A 405 names the methods that the path takes, and the refused one is not among them."""
    allowed = exchange.response.header("allow")
    names = {name.strip() for name in allowed.split(",")}
    is_right = bool(allowed) and exchange.request.method not in names
    return expect(is_right, "405 with the other methods in Allow", f"Allow: {as_json(allowed)}")


@probe("bearer-scheme-any-case", needs=("owner", "slug"))
def schemes_in_other_case(client: ProbeClient) -> Parts:
    """Reads with ``bearer`` and ``BEARER`` what was read with ``Bearer``."""
    token = client.token("owner")
    for path, scheme in (
        ("/me/profile", "bearer"),
        ("/me/avatars", "bearer"),
        (f"/profiles/{client.known.slug}", "BEARER"),
        (f"/profiles/{client.known.slug}", "bearer"),
    ):
        client.recall(path, "owner", is_lasting=True)
        yield client.get(path, headers={"authorization": f"{scheme} {token}"})


@probe("unauthorized-challenge", "me-needs-oauth-token", "error-no-token")
def reads_without_credentials(client: ProbeClient) -> Parts:
    """Reads the avatars and the own profile without credentials."""
    for path in ("/me/avatars", "/me/profile"):
        yield client.get(path)


@probe("method-not-allowed-allow", needs=("writes",))
def method_that_a_profile_does_not_take(client: ProbeClient) -> None:
    """Sends PUT for a profile that does not exist, so that nothing changes where it is taken."""
    client.send("PUT", f"/profiles/{MADE_UP}-slug")


@probe("method-not-allowed-allow", needs=("auth_url", "tokens"))
def method_that_the_token_endpoint_does_not_take(client: ProbeClient) -> None:
    """Sends GET to the token endpoint."""
    client.auth("GET", "/oauth2/token")
