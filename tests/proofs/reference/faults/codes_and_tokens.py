"""Faults in how codes and tokens are issued, and in what is remembered of a request for them.

A value with a hyphen is of a token that exists from the start, and was never issued.
"""

from dataclasses import replace
from datetime import timedelta

from flask import request
from tests.proofs.reference import authorization
from tests.proofs.reference.asking import asked, way_back
from tests.proofs.reference.faults.fault import in_grants, in_limits, in_view, in_views, pause
from tests.proofs.reference.grants import Grants
from tests.proofs.reference.limits import RateLimits
from tests.proofs.reference.people import ACCOUNTS
from tests.proofs.reference.records import AccessToken, AuthorizationRequest, Scope
from tests.proofs.reference.service import service


def _issued(grants):
    """Returns the access tokens that were issued, oldest first."""
    bearers = list(grants._bearers.values())
    return [each for each in bearers if isinstance(each, AccessToken) and "-" not in each.value]


def _pair(token):
    return token.client_id, token.user_id


@in_grants("code-single-use")
class ACodeIsMarkedAfterItsTokenWasIssued(Grants):
    """Two exchanges at the same moment both find the code unused."""

    def redeem(self, code):
        is_used = self._codes[code.value].token is not None
        pause()
        if is_used:
            return None
        with self._lock:  # else the other's token, issued between the two steps, refuses this one
            self._codes[code.value] = replace(code, token=None)
            return super().redeem(code)


@in_grants("code-bound-to-client")
class ACodeIsGoodForAnyClient(Grants):
    """The code is looked up by its value alone."""

    def code(self, value, client_id, now):
        found = self._codes.get(value)
        return super().code(value, found.request.client_id if found else client_id, now)


@in_grants("code-time-limited")
class ACodeNeverEnds(Grants):
    """Nobody looks at the time."""

    def issue_code(self, request, user_id, now, *lifetime):
        return super().issue_code(request, user_id, now + timedelta(days=3650), *lifetime)


@in_grants("implicit-token-two-weeks")
class ImplicitTokensNeverEnd(Grants):
    """Every token is issued in the same way."""

    def issue_token(self, client_id, user_id, scopes, _expires=None):
        return super().issue_token(client_id, user_id, scopes, None)


@in_grants("code-token-no-expiry")
class TokensOfACodeEnd(Grants):
    """Every token is issued in the same way, the other one."""

    def redeem(self, code):
        issued = super().redeem(code)
        if issued is not None:
            issued = replace(issued, expires=code.expires + timedelta(weeks=2))
            self._bearers[issued.value] = issued
        return issued


@in_grants("code-token-no-expiry")
class ANewTokenEndsTheOneBefore(Grants):
    """There is one row for each client and person."""

    def issue_token(self, client_id, user_id, scopes, expires=None):
        issued = super().issue_token(client_id, user_id, scopes, expires)
        for before in _issued(self):
            if before != issued and _pair(before) == (client_id, user_id):
                del self._bearers[before.value]
        return issued


@in_grants("scope-indexed-array", "implicit-token-two-weeks")
class AClientHasOneTokenForAPerson(Grants):
    """The token of the first grant is found again, whatever the next one asks for."""

    def issue_token(self, client_id, user_id, scopes, expires=None):
        for before in _issued(self):
            if _pair(before) == (client_id, user_id):
                return before
        return super().issue_token(client_id, user_id, scopes, expires)


@in_grants("scope-indexed-array")
class EveryTokenHasAllScopes(Grants):
    """What was asked for is shown to the person, and not kept."""

    def issue_token(self, client_id, user_id, _scopes, expires=None):
        return super().issue_token(client_id, user_id, tuple(Scope), expires)


class OfTheLastRequest(Grants):
    """Remembers the last authorization request of each client, where each code's was meant."""

    def __init__(self, accounts, applications, bearers, random):
        super().__init__(accounts, applications, bearers, random)
        self.last: dict[str, AuthorizationRequest] = {}

    def issue_code(self, request, user_id, now, *lifetime):
        self.last[request.client_id] = request
        return super().issue_code(request, user_id, now, *lifetime)


@in_grants("scope-indexed-array")
class ScopesAreOfTheLastRequest(OfTheLastRequest):
    """A code gives the scopes that its client asked for last."""

    def redeem(self, code):
        scopes = self.last[code.request.client_id].scopes
        return super().redeem(replace(code, request=replace(code.request, scopes=scopes)))


@in_grants("pkce-honoured", "code-exchange")
class TheChallengeIsOfTheLastRequest(OfTheLastRequest):
    """A code is compared with the challenge that its client sent last."""

    def code(self, value, client_id, now):
        found = super().code(value, client_id, now)
        if found is None:
            return None
        last = self.last[client_id]
        changed = replace(
            found.request,
            code_challenge=last.code_challenge,
            code_challenge_method=last.code_challenge_method,
        )
        return replace(found, request=changed)


@in_grants("redirect-uri-registered")
class TheRedirectAddressMayBeOfAnyApplication(Grants):
    """All registered addresses are in one table."""

    def application(self, client_id):
        found = super().application(client_id)
        every = tuple(uri for app in self._applications.values() for uri in app.redirect_uris)
        return found and replace(found, redirect_uris=every)


@in_grants("consent-by-person")
class TokensAreOfTheOwnerOfTheApplication(Grants):
    """The person is read from the application, as the password grant does, and not from the code."""

    def issue_token(self, client_id, user_id, scopes, expires=None):
        application = self.application(client_id)
        owner = application.owner if application else user_id
        return super().issue_token(client_id, owner, scopes, expires)


@in_grants("token-info-foreign")
class TokenInfoIsForTheOwnersApplications(Grants):
    """A token is told of to whoever names any application."""

    def bearer(self, value, now):
        found = super().bearer(value, now)
        if request.path.endswith("/token-info") and found is not None:
            return replace(found, client_id=request.args["client_id"])
        return found


@in_grants("invalid-token-refused", "me-needs-oauth-token")
class ExpiredTokensAreTaken(Grants):
    """Whether a token has ended is asked at token-info only."""

    def bearer(self, value, now):
        if request.path.endswith("/token-info"):
            return super().bearer(value, now)
        return self._bearers.get(value)


@in_view("authorization.ask", "consent-by-person")
def an_approval_is_remembered_for_everybody():
    """Who approved once is not asked again, whoever sits before the browser."""
    wanted = asked(request.args, service().grants)
    for code in list(service().grants._codes.values()):
        if code.request.client_id == wanted.client_id:
            person = next(each for each in ACCOUNTS if each.user_id == code.user_id)
            return authorization._sent(authorization._granted(wanted, person))
    return authorization._page(wanted, None)


OPENED: dict[str, AuthorizationRequest] = {}


def _remembered_page():
    wanted = asked(request.args, service().grants)
    OPENED[wanted.client_id] = wanted
    return authorization._page(wanted, None)


def _remembered_decision():
    """Decides on what the last page of the client was for."""
    wanted = asked(request.args, service().grants)
    opened = OPENED.get(wanted.client_id, wanted)
    if request.form.get("decision") != "approve":
        return authorization._sent(way_back(opened).denial())
    account = service().grants.account(request.form.get("username", ""))
    if account is None or account.password != request.form.get("password"):
        return authorization._page(opened, "Username or password is wrong.")
    return authorization._sent(authorization._granted(opened, account))


in_views(
    "the_form_is_of_the_last_page_of_its_client",
    ("state-echoed", "scope-indexed-array"),
    {"authorization.ask": _remembered_page, "authorization.decide": _remembered_decision},
)


@in_view("tokens.token_info", "token-info-foreign")
def token_info_compares_no_client():
    """The client is asked for, and not looked at."""
    found = service().grants.bearer(request.args.get("token", ""), service().clock())
    if not isinstance(found, AccessToken):
        return {"error": "invalid_request"}, 400
    return {
        "client_id": found.client_id,
        "user_id": found.user_id,
        "blog_id": service().grants.owner(found).blog_id,
        "scope": " ".join(found.scopes),
    }


@in_limits("rate-limit-authenticated", "rate-limit-anonymous")
class EverybodyIsCountedTogether(RateLimits):
    """The counter has no key."""

    def count(self, _caller, limit, now, *, by_clock=False):
        return super().count("everybody", limit, now, by_clock=by_clock)


@in_limits("rate-limit-authenticated")
class TokensHaveTheLimitOfAnonymousClients(RateLimits):
    """The limit is read from the wrong setting."""

    def count(self, caller, _limit, now, *, by_clock=False):
        return super().count(caller, 100, now, by_clock=by_clock)
