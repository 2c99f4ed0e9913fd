"""The checks of how a token is sent, and of what it opens."""

from collections.abc import Callable
from datetime import timedelta

import httpx
from tests.mock.authserver.conftest import IMPLICIT, RESOURCE, Browser, answered
from tests.proofs.attack.oauth.checklist import OAuthCheck, exchange, token_by_password

OPERATIONS = [
    ("GET", "/v3/me/profile"),
    ("PATCH", "/v3/me/profile"),
    ("GET", "/v3/me/avatars"),
    ("POST", "/v3/me/avatars"),
    ("PATCH", "/v3/me/avatars/none"),
    ("DELETE", "/v3/me/avatars/none"),
    ("POST", "/v3/me/avatars/none/email"),
    ("GET", "/v3/me/associated-email?email_hash=none"),
]
"""What belongs to a person."""

_ME = f"{RESOURCE}/v3/me/profile"


def _call(browser: Browser, method: str, path: str, authorization: str | None) -> httpx.Response:
    headers = {} if authorization is None else {"Authorization": authorization}
    return browser.request(method, RESOURCE + path, headers=headers)


def _refused(
    method: str, path: str, what: str, authorization: str | None, error: str | None
) -> OAuthCheck:
    def run(browser: Browser) -> None:
        response = _call(browser, method, path, authorization)
        assert response.status_code == 401, response.text
        challenge = response.headers["www-authenticate"]
        assert challenge.startswith("Bearer ")
        assert (f'error="{error}"' in challenge) if error else ("error=" not in challenge)

    return OAuthCheck(f"{method} {path} with {what} is 401", "RFC 6750, 3 and 3.1", run)


def _insufficient(method: str, path: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        response = _call(browser, method, path, "Bearer ada-auth-only")
        assert response.status_code == 403, response.text
        challenge = response.headers["www-authenticate"]
        assert 'error="insufficient_scope"' in challenge
        assert "scope=" in challenge

    return OAuthCheck(f"{method} {path} with too narrow a scope is 403", "RFC 6750, 3.1", run)


CREDENTIALS = {
    "another scheme": "Basic YTpi",
    "the scheme alone": "Bearer",
    "an empty token": "Bearer ",
    "an unknown token": "Bearer unknown",
    "an expired token": "Bearer ada-expired",
    "an API key": "Bearer ada-api-key",
    "a token in capitals": "Bearer ADA-FULL",
    "the beginning of a token": "Bearer ada-ful",
    "a token and more": "Bearer ada-full2",
    "two tokens": "Bearer ada-full, Bearer ben-full",
    "two tokens without a comma": "Bearer ada-full ben-full",
    "a token without a scheme": "ada-full",
    "a token in quotes": 'Bearer "ada-full"',
    "a client secret": "Bearer server-app-secret",
    "a password": "Bearer ada-password",
}


def _elsewhere(title: str, run: Callable[[Browser], httpx.Response]) -> OAuthCheck:
    def check(browser: Browser) -> None:
        assert run(browser).status_code == 401

    return OAuthCheck(title, "RFC 6750, 2; RFC 9700, 4.3.2", check)


def _in_query(name: str) -> OAuthCheck:
    title = f"a token in the query parameter {name} opens nothing"
    return _elsewhere(title, lambda browser: browser.get(_ME, params={name: "ada-full"}))


def _with_session(browser: Browser) -> httpx.Response:
    browser.sign_in()
    return browser.get(_ME)


ELSEWHERE = [
    *[_in_query(name) for name in ("access_token", "token", "bearer", "authorization")],
    _elsewhere(
        "a token in a form opens nothing",
        lambda browser: browser.request("PATCH", _ME, data={"access_token": "ada-full"}),
    ),
    _elsewhere(
        "a token in JSON opens nothing",
        lambda browser: browser.patch(_ME, json={"access_token": "ada-full"}),
    ),
    _elsewhere(
        "a token in a cookie opens nothing",
        lambda browser: browser.get(_ME, headers={"Cookie": "access_token=ada-full"}),
    ),
    _elsewhere(
        "a token in another header opens nothing",
        lambda browser: browser.get(_ME, headers={"X-Access-Token": "ada-full"}),
    ),
    _elsewhere(
        "two Authorization headers open nothing",
        lambda browser: browser.get(
            _ME,
            headers=[("Authorization", "Bearer ada-full"), ("Authorization", "Bearer ben-full")],
        ),
    ),
    _elsewhere("a session of the pages opens nothing", _with_session),
    _elsewhere("a code opens nothing", lambda browser: browser.me(browser.code())),
]


def _lower_case_scheme(browser: Browser) -> None:
    assert browser.me(token_by_password(browser), "bEARER").status_code == 200


def _implicit_ends(browser: Browser) -> None:
    token = browser.implicit_token()
    assert browser.me(token).status_code == 200
    browser.mock.world.clock.advance(timedelta(weeks=2))
    assert browser.me(token).status_code == 401


def _code_token_stays(browser: Browser) -> None:
    token = exchange(browser).json()["access_token"]
    browser.mock.world.clock.advance(timedelta(days=3650))
    assert browser.me(token).status_code == 200


def _speaks_for_who_approved(browser: Browser) -> None:
    token = answered(browser.authorize(**IMPLICIT, mock_approve="ben"))["access_token"]
    own = browser.me(token).json()["hash"]
    assert own == browser.get(f"{RESOURCE}/v3/profiles/ben").json()["hash"]


def _narrow_token(browser: Browser) -> None:
    token = browser.token(**{"scope[1]": "avatar-profile:read"})
    assert browser.me(token).status_code == 200
    headers = {"Authorization": f"Bearer {token}"}
    assert browser.patch(_ME, json={"location": "x"}, headers=headers).status_code == 403


def _anonymous_lookup(browser: Browser) -> None:
    response = browser.get(f"{RESOURCE}/v3/profiles/ada")
    assert response.status_code == 200
    assert "first_name" not in response.json()


def _invalid_token_is_never_anonymous(browser: Browser) -> None:
    headers = {"Authorization": "Bearer unknown"}
    assert browser.get(f"{RESOURCE}/v3/profiles/ada", headers=headers).status_code == 401


LIFE = [
    OAuthCheck("the scheme is written in any case", "RFC 9110, 11.1", _lower_case_scheme),
    OAuthCheck("an implicit token ends after two weeks", "interface, Limits", _implicit_ends),
    OAuthCheck("a token of a code does not expire", "interface, Limits", _code_token_stays),
    OAuthCheck("a token speaks for who approved", "RFC 6749, 1.4", _speaks_for_who_approved),
    OAuthCheck("a token to read does not write", "RFC 6749, 3.3; RFC 9700, 2.3", _narrow_token),
    OAuthCheck(
        "anonymous lookups get no authenticated fields",
        "interface, Profile",
        _anonymous_lookup,
    ),
    OAuthCheck(
        "a wrong token is not anonymous", "RFC 6750, 3.1", _invalid_token_is_never_anonymous
    ),
]

CHECKS: list[OAuthCheck] = [
    *[_refused(*operation, "no token", None, None) for operation in OPERATIONS],
    *[
        _refused(*operation, "an API key", "Bearer ada-api-key", "invalid_token")
        for operation in OPERATIONS[1:]
    ],
    *[
        _refused(*OPERATIONS[0], what, authorization, "invalid_token")
        for what, authorization in CREDENTIALS.items()
    ],
    *[_insufficient(*operation) for operation in OPERATIONS[:-1]],
    *ELSEWHERE,
    *LIFE,
]
