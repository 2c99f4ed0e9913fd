"""Authenticates clients (interface, Code grant, 2; RFC 6749, 2.3)."""

import base64
import hmac
from urllib.parse import unquote_plus

from understudy.interface.rules import upholds
from understudy.mock.authserver.oauth_errors import InvalidClient
from understudy.mock.authserver.throttling import hold_off
from understudy.mock.server.call import Call
from understudy.mock.store.applications import APPLICATIONS, Application
from understudy.mock.store.attempts import FAILED_CLIENT_AUTHENTICATIONS

UNKNOWN_CLIENT = ""
"""Key of the failed attempts at all clients that do not exist: typed names have no end."""


@upholds("token-client-credentials", "token-credentials-in-form", "token-constant-time")
def authenticate(call: Call, client_id: str | None, client_secret: str | None) -> Application:
    """Authenticates the client of a request to the token endpoint.

    Raises:
        InvalidClient: The credentials are missing or wrong; the response does not tell which of them.
        TooManyRequests: There were too many failed attempts for this client.
    """
    if client_id is None and call.choices.get("token-endpoint-basic-auth") == "accept":
        client_id, client_secret = _basic(call.authorization or "")
    if client_id is None or client_secret is None:
        raise _missing(call, client_id)
    application = call.world.get(APPLICATIONS, client_id)
    key = client_id if application else UNKNOWN_CLIENT
    attempts = hold_off(call.world, FAILED_CLIENT_AUTHENTICATIONS, key)
    expected = application.client_secret if application else ""
    is_correct = hmac.compare_digest(expected.encode(), client_secret.encode())
    if application is None or not is_correct:
        attempts.failed()
        msg = (
            "The client is unknown or its secret is wrong; compare client_id and client_secret "
            "with the application in the developer dashboard."
        )
        raise InvalidClient(msg)
    return application


def _basic(authorization: str) -> tuple[str | None, str | None]:
    """Reads HTTP Basic credentials, each half of which is form-encoded (RFC 6749, 2.3.1)."""
    scheme, _, encoded = authorization.partition(" ")
    try:
        text = base64.b64decode(encoded, validate=True).decode()
    except ValueError:
        return None, None
    user, colon, password = text.partition(":")
    is_basic = scheme.lower() == "basic" and colon
    return (unquote_plus(user), unquote_plus(password)) if is_basic else (None, None)


def _missing(call: Call, client_id: str | None) -> InvalidClient:
    if (call.authorization or "").lower().startswith("basic "):
        msg = (
            "HTTP Basic is not accepted here; send client_id and client_secret as form fields. In "
            "many client libraries this is called client_secret_post."
        )
        return InvalidClient(msg, headers=(("www-authenticate", 'Basic realm="understudy"'),))
    missing = "client_id" if client_id is None else "client_secret"
    return InvalidClient(f"{missing} is missing; send it as a form field.")
