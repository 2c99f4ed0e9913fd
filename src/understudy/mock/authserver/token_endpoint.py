"""The token endpoint, token-info, and the server's metadata for clients.

Source: interface, Code grant, Password grant and Authorization-server endpoints; RFC 6749, 2.3, 3.2 and
4.1.3; RFC 7636, 4.6; RFC 8414.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from urllib.parse import unquote_plus

from msgspec.structs import replace

from understudy.interface.rules import upholds
from understudy.mock.authserver import accounts, authorization_request
from understudy.mock.authserver.accounts import count_failure, hold_off
from understudy.mock.authserver.authorization_request import (
    INVALID_GRANT,
    INVALID_REQUEST,
    INVALID_SCOPE,
    NEEDS_2FA,
    NO_STORE,
    UNSUPPORTED_GRANT_TYPE,
    InvalidClient,
    OAuthError,
    TokenRefused,
)
from understudy.mock.authserver.client_advice import note_problem
from understudy.mock.authserver.token_lifecycle import issue, revoke
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.server.security import basic_pair
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import (
    APPLICATIONS,
    CODES,
    FAILED_CLIENT_AUTHENTICATIONS,
    FAILED_CODES,
    SPENT_CODES,
    Application,
    AuthorizationCode,
)
from understudy.mock.store.people import account_number
from understudy.mock.store.tokens import TOKENS, Token, is_valid
from understudy.mock.store.vocabulary import vocabulary_of

REMEMBERED = 1000
"""Exchanged codes that a world keeps to detect replays; older ones are refused as unknown."""


@upholds("code-exchange", "code-bound-to-client", "code-single-use", "code-replay-revokes")
def redeem_code(call: Call, application: Application, form: Mapping[str, str]) -> Token:
    """Exchanges a code for a token.

    Raises:
        OAuthError: The code is invalid, or the request does not match the authorization request.
        TooManyRequests: Too many attempts by this client failed.
    """
    code_text = form.get("code")
    if code_text is None:
        raise OAuthError(INVALID_REQUEST, "code is missing; send the code of the redirect.")
    hold_off(call.world, FAILED_CODES, application.client_id)
    code = call.world.get(CODES, code_text) or call.world.get(SPENT_CODES, code_text)
    if code is None or code.client_id != application.client_id:
        count_failure(call.world, FAILED_CODES, application.client_id)
        raise OAuthError(INVALID_GRANT, "The code is unknown, or was issued to another client.")
    _expect_binding(code, form)
    if code.token is not None:
        revoke(call.world, code.token)
        description = "The code was exchanged before, so the token issued for it is now revoked."
        raise OAuthError(INVALID_GRANT, description)
    if call.world.clock.now() >= code.expires:
        raise OAuthError(INVALID_GRANT, "The code has expired; send the person to authorize again.")
    token = issue(call.world, application, code.person, code.scopes)
    _spend(call.world, replace(code, token=token.token))
    return token


def _spend(world: World, code: AuthorizationCode) -> None:
    """Marks a code as exchanged, and drops the oldest exchanged code beyond the limit."""
    world.remove(CODES, code.code)
    world.put(SPENT_CODES, code.code, code)
    if world.changed(SPENT_CODES) > REMEMBERED:
        oldest, _ = next(world.items(SPENT_CODES))
        world.remove(SPENT_CODES, oldest)


@upholds("code-redirect-uri-repeated", "pkce-honoured")
def _expect_binding(code: AuthorizationCode, form: Mapping[str, str]) -> None:
    """Refuses an exchange that does not match the authorization request; the code stays valid."""
    redirect_uri = form.get("redirect_uri")
    if redirect_uri is None:
        raise OAuthError(
            INVALID_REQUEST, "redirect_uri is missing; repeat that of the authorization request."
        )
    if redirect_uri != code.redirect_uri:
        description = "redirect_uri differs from that of the authorization request; send the same."
        raise OAuthError(INVALID_GRANT, description)
    verifier = form.get("code_verifier")
    if code.challenge is None and verifier is not None:  # RFC 9700, 4.8.2: a downgrade
        description = "code_verifier was sent, but the authorization request had no code_challenge."
        raise OAuthError(INVALID_GRANT, description)
    if code.challenge is not None and not _verifies(verifier, code):
        raise OAuthError(INVALID_GRANT, "code_verifier does not match the code_challenge.")


def _verifies(verifier: str | None, code: AuthorizationCode) -> bool:
    if verifier is None or code.challenge is None:
        return False
    derived = verifier
    if code.challenge_method == "S256":
        digest = hashlib.sha256(verifier.encode()).digest()
        derived = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(derived.encode(), code.challenge.encode())


@upholds(
    "password-grant-owner-only",
    "password-grant-scopes",
    "password-grant-token-no-expiry",
    "password-grant-two-step",
    "password-grant-two-step-error",
)
def redeem_password(call: Call, application: Application, form: Mapping[str, str]) -> Token:
    """Exchanges the owner's user name and password for a token.

    Raises:
        OAuthError: The credentials are wrong, or not those of the owner.
        TooManyRequests: Too many attempts failed.
    """
    username, password = form.get("username"), form.get("password")
    if username is None or password is None:
        missing = "username" if username is None else "password"
        raise OAuthError(INVALID_REQUEST, f"{missing} is missing; send it as a form field.")
    vocabulary = vocabulary_of(call.world)
    scopes = authorization_request.requested(tuple(form.items())) or vocabulary.scope_names
    scope_error = authorization_request.error_in(scopes, vocabulary)
    if scope_error is not None:
        raise OAuthError(INVALID_SCOPE, scope_error)
    person, check = accounts.check_password(call.world, username, password)
    if person is None or check == "wrong":
        raise OAuthError(INVALID_GRANT, "The user name or password is wrong.")
    if person.slug != application.owner:
        description = "This grant is for the application's owner only; send others to authorize."
        raise OAuthError(INVALID_GRANT, description)
    if person.application_password is not None and check == "password":
        description = "The owner uses two-step authentication; send an application password."
        raise OAuthError(NEEDS_2FA, description)
    return issue(call.world, application, person.slug, scopes)


UNKNOWN_CLIENT = ""
"""Key of failed attempts by clients that do not exist, which share one count to bound the store."""


@upholds("token-client-credentials", "token-credentials-in-form", "token-constant-time")
def authenticate(call: Call, client_id: str | None, client_secret: str | None) -> Application:
    """Authenticates the client of a request to the token endpoint.

    Raises:
        InvalidClient: The credentials are missing or wrong; the message does not tell which is wrong.
        TooManyRequests: Too many attempts for this client failed.
    """
    if client_secret is None and takes_basic(call):
        named, secret = _basic(call.authorization or "")
        if client_id in {None, named}:  # many clients send client_id in the form, too
            client_id, client_secret = named, secret
    if client_id is None or client_secret is None:
        raise _missing(call, client_id)
    application = call.world.get(APPLICATIONS, client_id)
    key = client_id if application else UNKNOWN_CLIENT
    hold_off(call.world, FAILED_CLIENT_AUTHENTICATIONS, key)
    expected = application.client_secret if application else ""
    is_correct = hmac.compare_digest(expected.encode(), client_secret.encode())
    if application is None or not is_correct:
        count_failure(call.world, FAILED_CLIENT_AUTHENTICATIONS, key)
        msg = (
            "The client is unknown or its secret is wrong; compare client_id and client_secret "
            "with the application in the developer dashboard."
        )
        raise InvalidClient(msg)
    return application


def takes_basic(call: Call) -> bool:
    """Tells whether clients may authenticate by HTTP Basic (``client_secret_basic``)."""
    chosen = call.choices.get("token-endpoint-basic-auth")
    ways = vocabulary_of(call.world).token_endpoint
    return ways.basic if chosen is None else chosen == "accept"


def _basic(authorization: str) -> tuple[str | None, str | None]:
    """Reads HTTP Basic credentials, each half of which is form-encoded (RFC 6749, 2.3.1)."""
    scheme, _, encoded = authorization.partition(" ")
    pair = basic_pair(encoded) if scheme.lower() == "basic" else None
    return (None, None) if pair is None else (unquote_plus(pair[0]), unquote_plus(pair[1]))


def _missing(call: Call, client_id: str | None) -> InvalidClient:
    if (call.authorization or "").lower().startswith("basic "):
        msg = (
            "HTTP Basic is not accepted here; send client_id and client_secret as form fields. In "
            "many client libraries this is called client_secret_post. Where the deployment takes "
            "Basic, start the mock with --choose token-endpoint-basic-auth=accept."
        )
        return InvalidClient(msg, headers=(("www-authenticate", 'Basic realm="understudy"'),))
    missing = "client_id" if client_id is None else "client_secret"
    return InvalidClient(f"{missing} is missing; send it as a form field.")


GRANTS: Mapping[str, Callable[[Call, Application, Mapping[str, str]], Token]] = {
    "authorization_code": redeem_code,
    "password": redeem_password,
}

_SECRETS = frozenset({"client_secret", "password", "code", "code_verifier"})


@upholds(
    "token-answer",
    "token-answer-scope",
    "token-empty-field",
    "token-form-encoded",
    "token-grant-type",
    "token-not-cached",
    "token-secrets-not-in-query",
)
def issue_token(
    call: Call, *, origin: str | None = None, body: Mapping[str, str]
) -> HandlerResponse:
    """Exchanges a code or the owner's credentials for a token (``POST /oauth2/token``).

    Args:
        call: Call.
        origin: Origin header. Only browsers send it, and they cannot keep a secret, which is noted.
        body: Form fields; an empty one counts as omitted (RFC 6749, 3.2).

    Raises:
        OAuthError: The request is invalid (RFC 6749, 5.2).
        TooManyRequests: Too many attempts failed.
    """
    in_query = sorted(_SECRETS & set(call.undeclared_query))
    if in_query:
        raise OAuthError(
            INVALID_REQUEST, f"{in_query[0]} is in the query string; send it as a form field."
        )
    form = {name: text for name, text in body.items() if text}
    application = authenticate(call, form.get("client_id"), form.get("client_secret"))
    if origin is not None:
        note_problem(call.world, application.client_id, "secret-in-browser", call.notes)
    grant_type = form.get("grant_type")
    if grant_type is None:
        raise OAuthError(INVALID_REQUEST, f"grant_type is missing; send {' or '.join(GRANTS)}.")
    redeem = GRANTS.get(grant_type)
    if redeem is None:
        description = f"grant_type {grant_type!r} is unknown; send {' or '.join(GRANTS)}."
        raise OAuthError(UNSUPPORTED_GRANT_TYPE, description)
    token = redeem(call, application, form)
    return HandlerResponse(
        {
            "access_token": token.token,
            "token_type": "bearer",
            "blog_id": account_number(token.person),
            "blog_url": f"{call.site_url}/{token.person}",
            "scope": " ".join(token.scopes),
        },
        headers=NO_STORE,
    )


@upholds("token-info", "token-info-foreign", "token-info-ids-strings", "token-info-unspecific")
def validate_token(call: Call, *, client_id: str, token: str) -> HandlerResponse:
    """Describes a token to the client it was issued to (``GET /oauth2/token-info``).

    Raises:
        TokenRefused: The token is unknown, expired or another client's; the error does not tell which.
    """
    record = call.world.get(TOKENS, token)
    now = call.world.clock.now()
    if record is None or record.client_id != client_id or not is_valid(record, now):
        description = (
            "The token is not valid for this client_id; send the person to authorize again."
        )
        raise TokenRefused(description)
    return HandlerResponse(
        {
            "client_id": client_id,
            "user_id": account_number(record.person),
            "blog_id": account_number(record.person),
            "scope": " ".join(record.scopes),
        },
        headers=NO_STORE,
    )


AUTHORIZE = ("GET", "/oauth2/authorize")
TOKEN = ("POST", "/oauth2/token")
TOKEN_INFO = ("GET", "/oauth2/token-info")

HANDLERS: Handlers = {TOKEN: issue_token, TOKEN_INFO: validate_token}


def metadata(call: Call) -> HandlerResponse:
    """Returns the authorization server's metadata for clients (RFC 8414, 2)."""
    site, words = call.authorization_url, vocabulary_of(call.world)
    basic = ["client_secret_basic"] if takes_basic(call) else []
    return HandlerResponse(
        {
            "issuer": site,
            "authorization_endpoint": site + AUTHORIZE[1],
            "token_endpoint": site + TOKEN[1],
            "scopes_supported": list(words.scope_names),
            "response_types_supported": ["code", "token"],
            "response_modes_supported": ["query", "fragment"],
            "grant_types_supported": [*GRANTS, "implicit"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", *basic],
            "code_challenge_methods_supported": ["S256", "plain"],
        }
    )
