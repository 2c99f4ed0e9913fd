"""Maps the operations of the authorization server to handlers (interface, Authorization-server endpoints)."""

from understudy.mock.authserver.token_endpoint import issue_token, validate_token
from understudy.mock.authserver.unattended import deciding
from understudy.mock.server.handlers import Handlers, PageHandlers

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
