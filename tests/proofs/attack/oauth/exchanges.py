"""The checks of the exchange of a code: its client, its address and its verifier."""

from tests.mock.authserver.conftest import CALLBACK, CHALLENGE, EXCHANGE, VERIFIER, Browser
from tests.proofs.attack.oauth.checklist import TOKEN_PATH, OAuthCheck, expect_token_error


def _refused(
    title: str, source: str, error: str, status: int = 400, **changes: str | None
) -> OAuthCheck:
    """An exchange of a fresh code with changed fields, which is refused and spends nothing."""

    def run(browser: Browser) -> None:
        form = {**EXCHANGE, "code": browser.code()}
        changed = {name: text for name, text in {**form, **changes}.items() if text is not None}
        expect_token_error(browser.post(TOKEN_PATH, data=changed), error, status)
        assert browser.post(TOKEN_PATH, data=form).status_code == 200, "the code is spent"

    return OAuthCheck(title, source, run)


def _unauthenticated(title: str, **changes: str | None) -> OAuthCheck:
    return _refused(title, "RFC 6749, 3.2.1 and 5.2", "invalid_client", 401, **changes)


_GRANT, _REQUEST = "invalid_grant", "invalid_request"
_CODE = "RFC 6749, 4.1.3"

EXCHANGES = [
    _unauthenticated("client_id is required", client_id=None),
    _unauthenticated("client_secret is required", client_secret=None),
    _unauthenticated("an empty client_id is none", client_id=""),
    _unauthenticated("an empty client_secret is none", client_secret=""),
    _unauthenticated("an unknown client is refused", client_id="other"),
    _unauthenticated("a client is authenticated by case", client_id="Server-App"),
    _unauthenticated("a wrong secret is refused", client_secret="wrong"),
    _unauthenticated("a secret is compared by case", client_secret="SERVER-APP-SECRET"),
    _unauthenticated("a secret is compared to its end", client_secret="server-app"),
    _unauthenticated("a secret is not trimmed", client_secret="server-app-secret "),
    _unauthenticated("a secret is not cut at a zero byte", client_secret="server-app-secret\0"),
    _unauthenticated("the secret of another client is refused", client_secret="browser-app-secret"),
    _refused(
        "a code is bound to its client",
        "RFC 6749, 4.1.3; RFC 9700, 4.5",
        _GRANT,
        client_id="two-step",
        client_secret="two-step-secret",
    ),
    _refused("a code is required", _CODE, _REQUEST, code=None),
    _refused("an empty code is none", _CODE, _REQUEST, code=""),
    _refused("an unknown code is refused", _CODE, _GRANT, code="0" * 32),
    _refused("a code is not markup", _CODE, _GRANT, code='"\\\u00e9<b>'),
    _refused("redirect_uri is required", _CODE, _REQUEST, redirect_uri=None),
    _refused("redirect_uri is that of the request", _CODE, _GRANT, redirect_uri=f"{CALLBACK}/"),
    _refused("redirect_uri is compared by case", _CODE, _GRANT, redirect_uri=CALLBACK.upper()),
    _refused(
        "another registered address is refused",
        "RFC 9700, 4.5.3",
        _GRANT,
        redirect_uri="http://127.0.0.1:5173/",
    ),
    _refused("grant_type is required", _CODE, _REQUEST, grant_type=None),
    _refused("an empty grant_type is none", _CODE, _REQUEST, grant_type=""),
    _refused(
        "a verifier without a challenge is refused",
        "RFC 9700, 4.8.2",
        _GRANT,
        code_verifier=VERIFIER,
    ),
]

UNSUPPORTED = [
    "client_credentials",
    "refresh_token",
    "implicit",
    "device_code",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "urn:ietf:params:oauth:grant-type:device_code",
    "urn:ietf:params:oauth:grant-type:token-exchange",
    "urn:ietf:params:oauth:grant-type:saml2-bearer",
    "AUTHORIZATION_CODE",
    "authorization_code ",
    "authorization_code password",
    '\u00e9"\\',
]


def _unsupported(grant: str) -> OAuthCheck:
    title = f"the grant {grant!r} is not supported"
    return _refused(title, "RFC 6749, 5.2", "unsupported_grant_type", grant_type=grant)


def _pkce(title: str, source: str, method: str | None, verifier: str | None) -> OAuthCheck:
    def run(browser: Browser) -> None:
        challenge = CHALLENGE if method == "S256" else VERIFIER
        code = browser.code(code_challenge=challenge, code_challenge_method=method)
        form = {**EXCHANGE, "code": code}
        sent = form if verifier is None else {**form, "code_verifier": verifier}
        expect_token_error(browser.post(TOKEN_PATH, data=sent), _GRANT)
        right = {**form, "code_verifier": VERIFIER}
        assert browser.post(TOKEN_PATH, data=right).status_code == 200

    return OAuthCheck(title, source, run)


_VERIFIER = "RFC 7636, 4.6"

VERIFIERS = [
    _pkce("S256: the verifier is required", "RFC 9700, 2.1.1", "S256", None),
    _pkce("S256: an empty verifier is none", _VERIFIER, "S256", ""),
    _pkce("S256: another verifier is refused", _VERIFIER, "S256", "x" * 43),
    _pkce("S256: the challenge is not a verifier", "RFC 9700, 4.8.2", "S256", CHALLENGE),
    _pkce("S256: a verifier is not cut", _VERIFIER, "S256", VERIFIER[:-1]),
    _pkce("S256: a verifier is not trimmed", _VERIFIER, "S256", f"{VERIFIER} "),
    _pkce("S256: a verifier is compared by case", _VERIFIER, "S256", VERIFIER.upper()),
    _pkce("S256: a verifier beyond ASCII is refused", _VERIFIER, "S256", "\u00e9" * 43),
    _pkce("plain: the verifier is required", "RFC 9700, 2.1.1", "plain", None),
    _pkce("plain: another verifier is refused", _VERIFIER, "plain", "x" * 43),
    _pkce("plain: a verifier is compared by case", _VERIFIER, "plain", VERIFIER.lower()),
    _pkce("plain: a digest is not a verifier", _VERIFIER, "plain", CHALLENGE),
    _pkce("no method is plain: another verifier is refused", "RFC 7636, 4.3", None, CHALLENGE),
]


CHECKS: list[OAuthCheck] = [
    *EXCHANGES,
    *[_unsupported(grant) for grant in UNSUPPORTED],
    *VERIFIERS,
]
