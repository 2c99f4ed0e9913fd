"""The checks of the form of a token request, and of the password grant."""

import base64
from collections.abc import Mapping
from typing import Any

from tests.mock.authserver.conftest import CREDENTIALS, PASSWORD, Browser
from tests.proofs.attack.oauth.checklist import TOKEN_PATH, OAuthCheck, expect_token_error

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


_CLIENT, _GRANT, _REQUEST = "invalid_client", "invalid_grant", "invalid_request"


def _sent(title: str, source: str, error: str, status: int = 400, **request: Any) -> OAuthCheck:
    """A request to the token endpoint as it is, with a good password grant's fields in it."""

    def run(browser: Browser) -> None:
        method = request.get("method", "POST")
        rest: dict[str, Any] = {name: value for name, value in request.items() if name != "method"}
        expect_token_error(browser.request(method, TOKEN_PATH, **rest), error, status)

    return OAuthCheck(title, source, run)


def _basic(text: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


def _authenticated_otherwise(title: str, headers: Mapping[str, str]) -> OAuthCheck:
    form = {"data": _WITHOUT_CLIENT, "headers": headers}
    return _sent(title, "RFC 6749, 3.2.1 and 5.2", "invalid_client", 401, **form)


_WITHOUT_CLIENT: Mapping[str, str] = {
    name: text for name, text in PASSWORD.items() if name not in CREDENTIALS
}
_BODY = "&".join(f"{name}={text}" for name, text in PASSWORD.items()).encode()

REQUESTS = [
    *[
        _sent(
            f"{method} issues no token",
            "RFC 6749, 3.2",
            "method_not_allowed",
            405,
            method=method,
            params=PASSWORD,
        )
        for method in ("GET", "PUT", "PATCH", "DELETE")
    ],
    _sent("fields in the query are not read", "RFC 6749, 2.3.1", _REQUEST, params=PASSWORD),
    _sent(
        "a secret in the query is refused beside a form",
        "RFC 6749, 2.3.1",
        _REQUEST,
        params={"client_secret": "server-app-secret"},
        data=PASSWORD,
    ),
    _sent(
        "a password in the query is refused beside a form",
        "RFC 6749, 2.3.1",
        _REQUEST,
        params={"password": "ada-password"},
        data=PASSWORD,
    ),
    _sent("JSON is not a form", "RFC 6749, 4.3.2", _REQUEST, json=PASSWORD),
    _sent(
        "a form of another type is not read",
        "RFC 6749, 4.3.2",
        _REQUEST,
        content=_BODY,
        headers={"Content-Type": "text/plain"},
    ),
    _sent("a form without a type is not read", "RFC 6749, 4.3.2", _REQUEST, content=_BODY),
    _sent("an empty request is refused", "RFC 6749, 5.2", _REQUEST),
    _sent(
        "a form that is not UTF-8 is refused",
        "RFC 6749, appendix B",
        _REQUEST,
        content=_BODY + b"&x=%ff",
        headers=_FORM,
    ),
    *[
        _sent(
            f"{name} is given once",
            "RFC 6749, 3.2",
            _REQUEST,
            content=_BODY + f"&{name}={text}".encode(),
            headers=_FORM,
        )
        for name, text in PASSWORD.items()
    ],
    _sent(
        "two different secrets are refused",
        "RFC 6749, 3.2",
        _REQUEST,
        content=_BODY + b"&client_secret=wrong",
        headers=_FORM,
    ),
    _sent(
        "HTTP Basic is refused and named",
        "RFC 6749, 2.3.1 and 5.2",
        _CLIENT,
        401,
        data=_WITHOUT_CLIENT,
        headers=_basic("server-app:server-app-secret"),
    ),
    _authenticated_otherwise(
        "HTTP Basic of a client without a secret is refused",
        _basic("server-app:"),
    ),
    _authenticated_otherwise(
        "HTTP Basic that is garbage is refused", {"Authorization": "Basic %%%"}
    ),
    _authenticated_otherwise(
        "a bearer token does not authenticate a client", {"Authorization": "Bearer ada-full"}
    ),
    _sent(
        "an assertion does not authenticate a client",
        "RFC 6749, 2.3.2",
        _CLIENT,
        401,
        data={
            **_WITHOUT_CLIENT,
            "client_id": "server-app",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": "eyJhbGciOiJub25lIn0.e30.",
        },
    ),
]


def _password(title: str, source: str, error: str, **changes: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        expect_token_error(browser.post(TOKEN_PATH, data={**PASSWORD, **changes}), error)

    return OAuthCheck(title, source, run)


_OWNER = "interface, Password grant"
_TWO_STEP = {"client_id": "two-step", "client_secret": "two-step-secret", "username": "tova"}

PASSWORDS = [
    _password("a user name is required", "RFC 6749, 4.3.2", _REQUEST, username=""),
    _password("a password is required", "RFC 6749, 4.3.2", _REQUEST, password=""),
    _password("a wrong password is refused", "RFC 6749, 5.2", _GRANT, password="wrong"),
    _password("a password is compared by case", "RFC 6749, 5.2", _GRANT, password="ADA-PASSWORD"),
    _password("a password is not trimmed", "RFC 6749, 5.2", _GRANT, password="ada-password "),
    _password("a password is not cut", "RFC 6749, 5.2", _GRANT, password="ada"),
    _password("an unknown user is refused", "RFC 6749, 5.2", _GRANT, username="unknown"),
    _password(
        "another person than the owner is refused",
        _OWNER,
        _GRANT,
        username="ben",
        password="ben-password",
    ),
    _password(
        "an owner with two-step authentication needs an application password",
        _OWNER,
        "needs_2fa",
        **_TWO_STEP,
        password="tova-password",
    ),
    _password(
        "an unknown scope is not granted for a password",
        "RFC 6749, 3.3",
        "invalid_scope",
        scope="admin",
    ),
    _password(
        "scopes without auth are refused",
        "interface, Scopes",
        "invalid_scope",
        scope="avatar-profile:read",
    ),
]


CHECKS: list[OAuthCheck] = [*REQUESTS, *PASSWORDS]
