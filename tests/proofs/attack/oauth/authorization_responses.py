"""The checks of the responses of the authorization endpoint."""

import string
from urllib.parse import quote, urlencode, urlsplit

from tests.mock.authserver.conftest import BROWSER_CALLBACK, IMPLICIT, REQUEST, Browser, answered
from tests.proofs.attack.oauth.checklist import (
    AUTHORIZE_PATH,
    OAuthCheck,
    authorization_request,
    members_of,
)


def _code_is_in_the_query(browser: Browser) -> None:
    parts = urlsplit(browser.authorize(mock_approve="ada").headers["location"])
    assert members_of(parts.geturl()).keys() == {"code", "state"}
    assert parts.fragment == ""


def _token_is_in_the_fragment(browser: Browser) -> None:
    parts = urlsplit(browser.authorize(**IMPLICIT, mock_approve="ada").headers["location"])
    assert parts.query == ""
    assert parts.fragment.startswith("access_token=")
    assert set(parts.fragment) <= set(string.ascii_letters + string.digits + "-._~%&=")


def _implicit_members(browser: Browser) -> None:
    members = answered(browser.authorize(**IMPLICIT, mock_approve="ada"))
    assert members.keys() == {"access_token", "expires_in", "token_type", "site_id", "state"}
    assert (members["expires_in"], members["token_type"]) == ("1209600", "bearer")


def _implicit_errors(browser: Browser) -> None:
    location = browser.authorize(**{**IMPLICIT, "scope[1]": "x"}).headers["location"]
    assert location.startswith(f"{BROWSER_CALLBACK}#error=invalid_scope")


def _no_state(browser: Browser) -> None:
    location = browser.authorize(state=None, mock_approve="ada").headers["location"]
    assert "state" not in members_of(location)


def _registered_query(browser: Browser) -> None:
    address = "http://127.0.0.1:3000/other/callback?from=login"
    changes = {"client_id": "two-redirects", "redirect_uri": address}
    location = browser.authorize(**changes, mock_approve="ada").headers["location"]
    assert location.startswith(f"{address}&code=")
    assert members_of(location).keys() == {"from", "code", "state"}


def _redirect_without_method(browser: Browser) -> None:
    browser.sign_in()
    response = browser.decide(browser.authorize())
    assert response.status_code in {302, 303}


def _redirect_is_private(browser: Browser) -> None:
    for changes in (REQUEST, IMPLICIT):
        response = browser.authorize(**changes, mock_approve="ada")
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.content == b""


def _get_never_grants(browser: Browser) -> None:
    browser.sign_in()
    assert "location" not in browser.authorize().headers
    assert "location" not in browser.authorize(**IMPLICIT, decision="approve").headers


def _post_is_refused(browser: Browser) -> None:
    response = browser.post(AUTHORIZE_PATH, data={**REQUEST, "mock_approve": "ada"})
    assert response.status_code == 405
    assert "location" not in response.headers


def _denial(browser: Browser) -> None:
    members = answered(browser.authorize(mock_deny="ada"))
    assert members.keys() == {"error", "error_description", "state"}
    assert members["error"] == "access_denied"


def _codes_differ(browser: Browser) -> None:
    codes = {browser.code() for _ in range(20)}
    assert len(codes) == 20
    assert all(len(code) >= 32 for code in codes)


def _bytes_of_state(browser: Browser) -> None:
    raw = quote(b"\xff\xfe\x80")
    query = urlencode(authorization_request(state=None))
    location = browser.get(f"{AUTHORIZE_PATH}?{query}&state={raw}").headers["location"]
    assert location.endswith(f"state={raw}")


CHECKS: list[OAuthCheck] = [
    OAuthCheck(
        "a code is in the query and nothing else is", "RFC 6749, 4.1.2", _code_is_in_the_query
    ),
    OAuthCheck(
        "a token is in the fragment alone",
        "RFC 6749, 4.2.2; RFC 9700, 4.3.2",
        _token_is_in_the_fragment,
    ),
    OAuthCheck("the implicit response has no refresh token", "RFC 6749, 4.2.2", _implicit_members),
    OAuthCheck("implicit errors are in the fragment", "RFC 6749, 4.2.2.1", _implicit_errors),
    OAuthCheck("no state is invented", "RFC 6749, 4.1.2", _no_state),
    OAuthCheck("a registered query is kept", "RFC 6749, 3.1.2", _registered_query),
    OAuthCheck("the redirect never repeats a form", "RFC 9700, 4.12", _redirect_without_method),
    OAuthCheck(
        "the redirect is not stored, and names nobody", "RFC 9700, 4.2.4", _redirect_is_private
    ),
    OAuthCheck("a GET alone grants nothing", "RFC 6749, 10.12", _get_never_grants),
    OAuthCheck("the endpoint takes no posted request", "interface, endpoints", _post_is_refused),
    OAuthCheck("a denial says access_denied", "RFC 6749, 4.1.2.1", _denial),
    OAuthCheck("codes differ and are long", "RFC 6749, 10.10", _codes_differ),
    OAuthCheck("state comes back by its bytes", "RFC 6749, 4.1.2", _bytes_of_state),
]
