"""Authorize, exchange, validate, revoke and the passing of time, beside a small model."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule
from tests.mock.authserver.conftest import CALLBACK, OTHER, SERVER, START, Time

from understudy.mock.authserver import applications
from understudy.mock.authserver.approval import approve
from understudy.mock.authserver.authorization_request import (
    AuthorizationRequest,
    OAuthError,
    ReturnAddress,
)
from understudy.mock.authserver.token_endpoint import issue_token, validate_token
from understudy.mock.authserver.token_lifecycle import IMPLICIT_LIFETIME, revoke
from understudy.mock.server.call import Call
from understudy.mock.server.clock import Clock
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import (
    APPLICATIONS,
    FAILED_CLIENT_AUTHENTICATIONS,
    FAILED_CODES,
)
from understudy.mock.store.people import PEOPLE, Email, Person
from understudy.mock.store.tokens import authenticate

CODE_LIFETIME = timedelta(minutes=10)
FOREVER = datetime.max.replace(tzinfo=UTC)
APPS = (SERVER, OTHER)
PEOPLE_OF_IT = ("ada", "ben")


@dataclass
class Expected:
    """What the model knows of a code or a token."""

    client_id: str
    person: str
    ends: datetime = FOREVER
    redirect_uri: str = ""
    token: str | None = None


class TokenLife(RuleBasedStateMachine):
    """A world, and what its tokens should be worth."""

    codes = Bundle("codes")
    tokens = Bundle("tokens")

    def __init__(self) -> None:
        super().__init__()
        self.time = Time()
        baseline: dict[str, dict[str, Any]] = {
            PEOPLE.name: {s: Person(s, "", (Email(f"{s}@example.com"),)) for s in PEOPLE_OF_IT},
            APPLICATIONS.name: {app.client_id: app for app in APPS},
        }
        self.world = World("life", baseline, clock=Clock(lambda: self.time.now))
        self.live: dict[str, Expected] = {}
        self.issued: dict[str, Expected] = {}
        self.gone: set[str] = set()

    def call(self) -> Call:
        return Call(self.world, "http://127.0.0.1:8081", {})

    def approved(self, app, person, response_type):
        uri = app.redirect_uris[0]
        back = ReturnAddress(app, uri, in_fragment=response_type == "token", state=None)
        request = AuthorizationRequest(back, response_type, ("auth",), None, "plain")
        return urlsplit(approve(self.world, request, person, {}))

    @rule(target=codes, app=st.sampled_from(APPS), person=st.sampled_from(PEOPLE_OF_IT))
    def authorize_code(self, app, person):
        if app.client_id in self.gone:
            return multiple()
        code = parse_qs(self.approved(app, person, "code").query)["code"][0]
        ends = self.time.now + CODE_LIFETIME
        self.issued[code] = Expected(app.client_id, person, ends, app.redirect_uris[0])
        return code

    @rule(target=tokens, app=st.sampled_from(APPS), person=st.sampled_from(PEOPLE_OF_IT))
    def authorize_token(self, app, person):
        if app.client_id in self.gone:
            return multiple()
        answer = parse_qs(self.approved(app, person, "token").fragment)
        token = answer["access_token"][0]
        self.live[token] = Expected(app.client_id, person, self.time.now + IMPLICIT_LIFETIME)
        return token

    @rule(code=codes, app=st.sampled_from(APPS), uri=st.sampled_from([CALLBACK, "", "own"]))
    def exchange(self, code, app, uri):
        expected = self.issued[code]
        uri = expected.redirect_uri if uri == "own" else uri
        fits = app.client_id == expected.client_id and uri == expected.redirect_uri
        fits = fits and app.client_id not in self.gone
        is_fresh = expected.token is None and self.time.now < expected.ends
        try:
            body = self.exchanged(code, app, uri)
        except OAuthError:
            assert not (fits and is_fresh)
            if fits and expected.token is not None:
                self.live.pop(expected.token, None)  # the replay ends what the code gave
            return
        assert fits
        assert is_fresh
        expected.token = body["access_token"]
        self.live[expected.token] = Expected(app.client_id, expected.person)

    def exchanged(self, code, app, uri):
        form = {
            "client_id": app.client_id,
            "client_secret": app.client_secret,
            "grant_type": "authorization_code",
            "redirect_uri": uri,
            "code": code,
        }
        for attempts in (
            FAILED_CODES,
            FAILED_CLIENT_AUTHENTICATIONS,
        ):  # guessing is judged elsewhere
            for name in list(self.world.keys(attempts)):
                self.world.remove(attempts, name)
        return issue_token(self.call(), body=form).body

    @rule(token=tokens)
    def revoke_one(self, token):
        revoke(self.world, token)
        self.live.pop(token, None)

    @rule(person=st.sampled_from(PEOPLE_OF_IT), app=st.sampled_from(APPS))
    def sign_out(self, person, app):
        for token, expected in list(self.live.items()):
            if (expected.client_id, expected.person) == (app.client_id, person):
                self.revoke_one(token)

    @rule(app=st.sampled_from([OTHER]))
    def delete_application(self, app):
        if app.client_id in self.gone:
            return
        applications.delete(self.world, app)
        self.gone.add(app.client_id)
        self.live = {t: e for t, e in self.live.items() if e.client_id != app.client_id}

    @rule(days=st.sampled_from([0.001, 0.1, 5, 14]))
    def advance(self, days):
        self.time.advance(timedelta(days=days))

    @invariant()
    def exactly_the_tokens_that_should_work_do(self):
        assert self.time.now >= START
        for token, expected in self.live.items():
            is_alive = self.time.now < expected.ends
            principal = authenticate(self.world, token, self.time.now)
            assert (principal is not None) == is_alive
            assert self.is_told_about(token, expected.client_id) == is_alive
        for expected in self.issued.values():
            if expected.token is not None and expected.token not in self.live:
                assert authenticate(self.world, expected.token, self.time.now) is None

    def is_told_about(self, token, client_id):
        try:
            validate_token(self.call(), client_id=client_id, token=token)
        except OAuthError:
            return False
        return True


TestTokenLife = TokenLife.TestCase
