"""The checks of the validation and the revocation of tokens."""

from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlencode

import httpx
from tests.mock.authserver.conftest import RESOURCE, Browser
from tests.proofs.attack.oauth.checklist import (
    TOKEN_INFO_PATH,
    OAuthCheck,
    exchange,
    expect_token_error,
    token_by_password,
)


def _info(browser: Browser, token: str, client_id: str = "server-app") -> httpx.Response:
    return browser.get(TOKEN_INFO_PATH, params={"client_id": client_id, "token": token})


def _not_described(
    title: str, token: Callable[[Browser], str], client_id: str = "server-app"
) -> OAuthCheck:
    def run(browser: Browser) -> None:
        response = _info(browser, token(browser), client_id)
        expect_token_error(response, "invalid_request")
        assert response.content == _info(browser, "unknown").content, "the error tells them apart"

    return OAuthCheck(title, "RFC 7662, 2.2 and 4; interface, Token validation", run)


def _revoked_by_replay(browser: Browser) -> str:
    code = browser.code()
    token: str = exchange(browser, code).json()["access_token"]
    exchange(browser, code)
    return token


def _old(browser: Browser) -> str:
    token = browser.implicit_token()
    browser.mock.world.clock.advance(timedelta(weeks=2))
    return token


INFO = [
    _not_described("a foreign token is not described", token_by_password, "browser-app"),
    _not_described("an unknown client learns nothing", token_by_password, "unknown"),
    _not_described("a client in capitals learns nothing", token_by_password, "SERVER-APP"),
    _not_described("a revoked token is not described", _revoked_by_replay),
    _not_described("an expired token is not described", _old, "browser-app"),
    _not_described("a code is not described", lambda browser: browser.code()),
    _not_described("a secret is not described", lambda _: "server-app-secret"),
    _not_described("an issued token of no application is not described", lambda _: "ada-full"),
    _not_described("a token with a space is not described", lambda b: f"{token_by_password(b)} "),
]


def _described(browser: Browser) -> None:
    body = _info(browser, token_by_password(browser, "auth")).json()
    assert body.keys() == {"client_id", "user_id", "blog_id", "scope"}
    assert (body["client_id"], body["scope"]) == ("server-app", "auth")


def _info_is_not_cached(browser: Browser) -> None:
    assert _info(browser, token_by_password(browser)).headers["cache-control"] == "no-store"


def _info_needs_both(browser: Browser) -> None:
    for query in ({}, {"client_id": "server-app"}, {"token": "ada-full"}):
        assert browser.get(TOKEN_INFO_PATH, params=query).status_code == 400


def _info_once(browser: Browser) -> None:
    token = browser.implicit_token()
    query = urlencode([("client_id", "server-app"), ("client_id", "browser-app"), ("token", token)])
    assert browser.get(f"{TOKEN_INFO_PATH}?{query}").status_code == 400


def _info_is_get(browser: Browser) -> None:
    form = {"client_id": "server-app", "token": token_by_password(browser)}
    assert browser.post(TOKEN_INFO_PATH, data=form).status_code == 405


def _revokes(title: str, method: str, path: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        token, other = token_by_password(browser), browser.implicit_token()
        browser.request(method, f"{RESOURCE}/__admin{path}")
        assert browser.me(token).status_code == 401
        assert _info(browser, token).status_code == 400
        assert browser.me(other).status_code == 200, "a token of another application ended too"

    return OAuthCheck(title, "RFC 7009, 2 and 2.1", run)


def _revoking_for_one_person(browser: Browser) -> None:
    ada, ben = browser.token(), browser.token(mock_approve="ben")
    browser.delete(f"{RESOURCE}/__admin/applications/server-app/grants?person=ben")
    assert (browser.me(ada).status_code, browser.me(ben).status_code) == (200, 401)


def _revoking_twice(browser: Browser) -> None:
    url = f"{RESOURCE}/__admin/applications/server-app/grants"
    assert [browser.delete(url).status_code for _ in range(2)] == [204, 204]


def _rotated_key(browser: Browser) -> None:
    url = f"{RESOURCE}/__admin/applications/server-app"
    old = browser.post(f"{url}/api-key").json()["api_key"]
    new = browser.post(f"{url}/api-key").json()["api_key"]
    lookups = [
        browser.get(f"{RESOURCE}/v3/profiles/ada", headers={"Authorization": f"Bearer {key}"})
        for key in (old, new)
    ]
    assert [response.status_code for response in lookups] == [401, 200]


def _journal_masks(browser: Browser) -> None:
    browser.delete(f"{RESOURCE}/__admin/requests")  # of other checks
    token = token_by_password(browser)
    browser.me(token)
    _info(browser, token)
    journal = browser.get(f"{RESOURCE}/__admin/requests").text
    assert token not in journal
    assert "server-app-secret" not in journal
    assert "ada-password" not in journal


LIFE = [
    OAuthCheck("a token is described to its client", "RFC 7662, 2.2", _described),
    OAuthCheck("a description is not cached", "RFC 7662, 4", _info_is_not_cached),
    OAuthCheck("a description needs client and token", "interface, endpoints", _info_needs_both),
    OAuthCheck("two clients cannot ask at once", "RFC 6749, 3.1", _info_once),
    OAuthCheck("a description is not posted for", "interface, endpoints", _info_is_get),
    _revokes("revoked grants end at once", "DELETE", "/applications/server-app/grants"),
    _revokes("a deleted application's tokens end at once", "DELETE", "/applications/server-app"),
    OAuthCheck("one person's grants are revoked alone", "RFC 7009, 2.1", _revoking_for_one_person),
    OAuthCheck("revoking twice is not an error", "RFC 7009, 2.2", _revoking_twice),
    OAuthCheck("a rotated API key ends at once", "RFC 7009, 2.1", _rotated_key),
    OAuthCheck("the journal shows no token and no secret", "RFC 9700, 4.3.2", _journal_masks),
]

CHECKS: list[OAuthCheck] = [*INFO, *LIFE]
