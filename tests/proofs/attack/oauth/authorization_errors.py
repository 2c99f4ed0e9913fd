"""The checks of what the authorization endpoint refuses, ignores and gives back."""

from urllib.parse import urlencode

from tests.mock.authserver.conftest import CALLBACK, CHALLENGE, Browser
from tests.proofs.attack.oauth.checklist import (
    AUTHORIZE_PATH,
    OAuthCheck,
    authorization_request,
    expect_redirected_error,
    members_of,
)


def _told(
    title: str, source: str, error: str, *more: tuple[str, str], **changes: str | None
) -> OAuthCheck:
    """A changed request, with more parameters, whose error is told to the application."""
    query = [*authorization_request(**changes), *more]

    def run(browser: Browser) -> None:
        expect_redirected_error(browser.get(f"{AUTHORIZE_PATH}?{urlencode(query)}"), error, browser)

    return OAuthCheck(title, source, run)


_UNSCOPED = {"scope[0]": None, "scope[1]": None}
_NO_TYPE, _NO_SCOPE, _BAD = "unsupported_response_type", "invalid_scope", "invalid_request"
_TYPE, _SCOPE, _PKCE = "RFC 6749, 3.1.1", "RFC 6749, 3.3", "RFC 7636, 4.3 and 4.4.1"

TOLD = [
    _told("response_type is required", _TYPE, _BAD, response_type=None),
    _told("an empty response_type counts as none", _TYPE, _BAD, response_type=""),
    _told("response_type is compared by case", _TYPE, _NO_TYPE, response_type="CODE"),
    _told("id_token is not granted", _TYPE, _NO_TYPE, response_type="id_token"),
    _told("none is not granted", _TYPE, _NO_TYPE, response_type="none"),
    _told("hybrid types are not granted", _TYPE, _NO_TYPE, response_type="code token"),
    _told(
        "an unknown type with quotes is described in the permitted characters",
        "RFC 6749, 4.1.2.1",
        _NO_TYPE,
        response_type='"\\\u00e9\n',
    ),
    _told("response_type is given once", _TYPE, _BAD, ("response_type", "token")),
    _told("state is given once", "RFC 6749, 3.1", _BAD, ("state", "t")),
    _told("a scope is required", "interface, Authorization request", _NO_SCOPE, **_UNSCOPED),
    _told("an empty scope counts as none", _SCOPE, _NO_SCOPE, ("scope", ""), **_UNSCOPED),
    _told("a scope of spaces is none", _SCOPE, _NO_SCOPE, ("scope", "  "), **_UNSCOPED),
    _told("an unknown scope is refused", _SCOPE, _NO_SCOPE, **{"scope[1]": "admin"}),
    _told("scopes are compared by case", _SCOPE, _NO_SCOPE, ("scope[0]", "AUTH"), **_UNSCOPED),
    _told("scopes are not split at commas", _SCOPE, _NO_SCOPE, ("scope", "auth,auth"), **_UNSCOPED),
    _told("a scope has no wildcards", _SCOPE, _NO_SCOPE, ("scope[0]", "*"), **_UNSCOPED),
    _told("a scope is not a prefix", _SCOPE, _NO_SCOPE, ("scope[0]", "auth:all"), **_UNSCOPED),
    _told(
        "a scope with quotes is described in the permitted characters",
        "RFC 6749, 4.1.2.1",
        _NO_SCOPE,
        ("scope[0]", 'auth"\\\u00e9'),
        **_UNSCOPED,
    ),
    _told(
        "a profile scope without auth is refused",
        "interface, Scopes",
        _NO_SCOPE,
        ("scope[0]", "avatar-profile:read"),
        **_UNSCOPED,
    ),
    _told("a scope is given once", "RFC 6749, 3.1", _BAD, ("scope[0]", "auth")),
    _told("a challenge has 43 characters", _PKCE, _BAD, code_challenge=CHALLENGE[:-1]),
    _told("a challenge has 128 at most", _PKCE, _BAD, code_challenge="a" * 129),
    _told("a challenge has no padding", _PKCE, _BAD, code_challenge=f"{CHALLENGE}="),
    _told("a challenge is of its alphabet", _PKCE, _BAD, code_challenge="+" * 43),
    _told("a challenge is ASCII", _PKCE, _BAD, code_challenge="\u00e9" * 43),
    _told("a challenge has no line end", _PKCE, _BAD, code_challenge=f"{CHALLENGE}\n"),
    _told("an empty challenge does not turn PKCE off", "RFC 9700, 4.8.2", _BAD, code_challenge=""),
    _told(
        "a method without a challenge does not turn PKCE off",
        "RFC 9700, 4.8.2",
        _BAD,
        code_challenge_method="S256",
    ),
    _told(
        "a method is compared by case",
        _PKCE,
        _BAD,
        code_challenge=CHALLENGE,
        code_challenge_method="s256",
    ),
    _told(
        "an unknown method is refused",
        _PKCE,
        _BAD,
        code_challenge=CHALLENGE,
        code_challenge_method="none",
    ),
    _told(
        "a challenge is given once",
        "RFC 6749, 3.1",
        _BAD,
        ("code_challenge", "b" * 43),
        code_challenge=CHALLENGE,
    ),
    _told(
        "a method is given once",
        "RFC 9700, 4.8.2",
        _BAD,
        ("code_challenge_method", "plain"),
        code_challenge=CHALLENGE,
        code_challenge_method="S256",
    ),
]


def _ignored(name: str, text: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        location = browser.authorize(**{name: text}, mock_approve="ada").headers["location"]
        assert location.startswith(f"{CALLBACK}?code=")
        assert members_of(location).keys() == {"code", "state"}

    title = f"the unknown parameter {name}={text} changes nothing"
    return OAuthCheck(title, "RFC 6749, 3.1; interface, Code grant, 1", run)


IGNORED = [
    _ignored("response_mode", "fragment"),
    _ignored("response_mode", "form_post"),
    _ignored("request_uri", "http://attacker.example/request.jwt"),
    _ignored("request", "eyJhbGciOiJub25lIn0.e30."),
    _ignored("prompt", "none"),
    _ignored("id_token_hint", "x"),
    _ignored("resource", "http://attacker.example/"),
    _ignored("registration", '{"redirect_uris": ["http://attacker.example/"]}'),
]


def _state(title: str, state: str) -> OAuthCheck:
    def run(browser: Browser) -> None:
        for changes in ({"mock_approve": "ada"}, {"mock_deny": "ada"}, {"response_type": "x"}):
            location = browser.authorize(**{"state": state, **changes}).headers["location"]
            assert members_of(location)["state"] == [state]
            assert not set(location) & set('\r\n\t <>"')

    return OAuthCheck(f"state comes back as it was: {title}", "RFC 6749, 4.1.2", run)


STATES = [
    _state("letters", "af0ifjsldkj"),
    _state("separators of a query", "a&b=c;d+e%20f#g?h"),
    _state("markup", "<script>alert(1)</script>\"'"),
    _state("a line end and a header", "a\r\nSet-Cookie: b=c"),
    _state("letters beyond ASCII", "\u00e9\U0001f600\u202e"),
    _state("two thousand characters", "s" * 2000),
    _state("a member of the response", "x&code=planted&access_token=planted"),
]


CHECKS: list[OAuthCheck] = [*TOLD, *IGNORED, *STATES]
