"""Maps the operations of the authorization server to handlers (interface, Authorization-server endpoints)."""

from understudy.mock.authserver.token_endpoint import (
    GRANTS,
    issue_token,
    takes_basic,
    validate_token,
)
from understudy.mock.authserver.unattended import deciding
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers, PageHandlers
from understudy.mock.store.vocabulary import vocabulary_of

AUTHORIZE = ("GET", "/oauth2/authorize")
TOKEN = ("POST", "/oauth2/token")
TOKEN_INFO = ("GET", "/oauth2/token-info")

HANDLERS: Handlers = {TOKEN: issue_token, TOKEN_INFO: validate_token}


def pages(auto_approve: str | None) -> PageHandlers:
    """Returns the operations served by pages, which validate the request themselves.

    Their errors are pages and redirects, not JSON.

    Args:
        auto_approve: Slug of the person who approves every request; None: each is shown.
    """
    return {AUTHORIZE: deciding(auto_approve)}


METADATA = ("GET", "/.well-known/oauth-authorization-server")


def metadata(call: Call) -> HandlerResponse:
    """Describes the authorization server to clients that configure themselves (RFC 8414, 2)."""
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
