"""The checks of how long codes, secrets and applications count, and of what refusals tell."""

from datetime import timedelta

from tests.mock.authserver.conftest import (
    AUTHORIZATION,
    EXCHANGE,
    PASSWORD,
    REQUEST,
    RESOURCE,
    Browser,
    answered,
)
from tests.proofs.attack.oauth.checklist import TOKEN_PATH, OAuthCheck, exchange, expect_token_error

_CLIENT, _GRANT = "invalid_client", "invalid_grant"


def _single_use(browser: Browser) -> None:
    code = browser.code()
    assert exchange(browser, code).status_code == 200
    expect_token_error(exchange(browser, code), _GRANT)


def _replay_revokes(browser: Browser) -> None:
    code = browser.code()
    token = exchange(browser, code).json()["access_token"]
    exchange(browser, code)
    assert browser.me(token).status_code == 401


def _foreign_replay_revokes_nothing(browser: Browser) -> None:
    code = browser.code()
    token = exchange(browser, code).json()["access_token"]
    other = {"client_id": "two-step", "client_secret": "two-step-secret"}
    expect_token_error(exchange(browser, code, **other), _GRANT)
    assert browser.me(token).status_code == 200


def _expires(browser: Browser) -> None:
    code = browser.code()
    browser.mock.world.clock.advance(timedelta(minutes=10))
    expect_token_error(exchange(browser, code), _GRANT)


def _lives(browser: Browser) -> None:
    code = browser.code()
    browser.mock.world.clock.advance(timedelta(minutes=9, seconds=59))
    assert exchange(browser, code).status_code == 200


def _no_refresh_token(browser: Browser) -> None:
    body = exchange(browser).json()
    assert body.keys() == {"access_token", "token_type", "blog_id", "blog_url", "scope"}
    assert body["token_type"] == "bearer"


def _not_cached(browser: Browser) -> None:
    headers = exchange(browser).headers
    assert (headers["cache-control"], headers["pragma"]) == ("no-store", "no-cache")


def _no_wider_scope(browser: Browser) -> None:
    code = browser.code(**{"scope[1]": None})
    assert exchange(browser, code, scope="auth avatar-profile:manage").json()["scope"] == "auth"


def _tokens_differ(browser: Browser) -> None:
    tokens = {exchange(browser).json()["access_token"] for _ in range(10)}
    assert len(tokens) == 10
    assert all(len(token) >= 32 for token in tokens)


def _deleted_client(browser: Browser) -> None:
    code = browser.code()
    browser.delete(f"{RESOURCE}/__admin/applications/server-app")
    expect_token_error(exchange(browser, code), _CLIENT, 401)


def _withdrawn_address(browser: Browser) -> None:
    url = f"{RESOURCE}/__admin/applications/server-app"
    browser.patch(url, json={"redirect_uris": ["http://127.0.0.1:5999/"]})
    page = browser.authorize(mock_approve="ada")
    assert (page.status_code, "location" in page.headers) == (400, False)


def _rotated_secret(browser: Browser) -> None:
    browser.post(f"{RESOURCE}/__admin/applications/server-app/secret")
    expect_token_error(browser.post(TOKEN_PATH, data=PASSWORD), _CLIENT, 401)


def _same_refusal_of_clients(browser: Browser) -> None:
    wrong = browser.post(TOKEN_PATH, data={**PASSWORD, "client_secret": "wrong"})
    unknown = browser.post(TOKEN_PATH, data={**PASSWORD, "client_id": "unknown"})
    assert (wrong.status_code, wrong.content) == (unknown.status_code, unknown.content)


def _same_refusal_of_people(browser: Browser) -> None:
    wrong = browser.post(TOKEN_PATH, data={**PASSWORD, "password": "wrong"})
    unknown = browser.post(TOKEN_PATH, data={**PASSWORD, "username": "unknown"})
    assert (wrong.status_code, wrong.content) == (unknown.status_code, unknown.content)


def _slowed(name: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        form = PASSWORD if name == "password" else {**EXCHANGE, "code": browser.code()}
        for number in range(10):
            browser.post(TOKEN_PATH, data={**form, name: f"guess-{number}"})
        expect_token_error(browser.post(TOKEN_PATH, data=form), "slow_down", 429)

    return OAuthCheck(
        f"guessing at a {name} of the token endpoint is slowed", "RFC 6749, 10.10", run
    )


def _no_cors(browser: Browser) -> None:
    origin = {"Origin": "https://attacker.example"}
    responses = [
        browser.post(TOKEN_PATH, data=PASSWORD, headers=origin),
        browser.post(TOKEN_PATH, data={}, headers=origin),
        browser.options(TOKEN_PATH, headers={**origin, "Access-Control-Request-Method": "POST"}),
    ]
    assert not [n for r in responses for n in r.headers if n.startswith("access-control")]


def _other_world(browser: Browser) -> None:
    code = browser.code()
    browser.post(f"{RESOURCE}/__admin/worlds", json={"name": "twin"})
    try:
        twin = f"{AUTHORIZATION}/__world/twin"
        asked = {**REQUEST, "mock_approve": "ada"}
        other = answered(browser.get(f"{twin}/oauth2/authorize", params=asked))["code"]
        url = f"{twin}{TOKEN_PATH}"
        expect_token_error(browser.post(url, data={**EXCHANGE, "code": code}), _GRANT)
        expect_token_error(exchange(browser, other), _GRANT)
        assert exchange(browser, code).status_code == 200
        assert browser.post(url, data={**EXCHANGE, "code": other}).status_code == 200
    finally:
        browser.delete(f"{RESOURCE}/__admin/worlds/twin")


def _no_secret_repeated(browser: Browser) -> None:
    form = {**EXCHANGE, "client_secret": "hush-hush", "code": "quiet-quiet"}
    assert "hush" not in browser.post(TOKEN_PATH, data=form).text
    assert "quiet" not in exchange(browser, "quiet-quiet").text


CHECKS: list[OAuthCheck] = [
    OAuthCheck("a code is exchanged once", "RFC 6749, 4.1.2; RFC 9700, 4.5", _single_use),
    OAuthCheck("a second exchange revokes the token", "RFC 6749, 4.1.2", _replay_revokes),
    OAuthCheck(
        "another client's replay revokes nothing", "RFC 9700, 4.5", _foreign_replay_revokes_nothing
    ),
    OAuthCheck("a code ends after ten minutes", "RFC 6749, 4.1.2", _expires),
    OAuthCheck("a code lives until its last second", "interface, Code grant, 1", _lives),
    OAuthCheck("no refresh token is issued", "interface, Code grant, 3", _no_refresh_token),
    OAuthCheck("a token response is not cached", "RFC 6749, 5.1", _not_cached),
    OAuthCheck("an exchange widens no scope", "RFC 6749, 6 and 3.3", _no_wider_scope),
    OAuthCheck("tokens differ and are long", "RFC 6749, 10.10", _tokens_differ),
    OAuthCheck("a code ends with its application", "RFC 7009, 2.1", _deleted_client),
    OAuthCheck("a withdrawn address is not redirected to", "RFC 9700, 4.1.3", _withdrawn_address),
    OAuthCheck("a rotated secret is refused", "RFC 9700, 2.5", _rotated_secret),
    OAuthCheck(
        "unknown clients and wrong secrets look alike", "RFC 6749, 5.2", _same_refusal_of_clients
    ),
    OAuthCheck(
        "unknown people and wrong passwords look alike", "RFC 6749, 10.7", _same_refusal_of_people
    ),
    *[_slowed(name) for name in ("client_secret", "code", "password")],
    OAuthCheck(
        "no page of another origin reads a token response", "interface, Code grant, 4", _no_cors
    ),
    OAuthCheck("a code of one world is unknown in another", "RFC 9700, 4.5", _other_world),
    OAuthCheck("no refusal repeats a secret", "RFC 6749, 10.3", _no_secret_repeated),
]
