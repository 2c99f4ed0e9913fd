"""Maps the operations of the authorization server to handlers (interface, Authorization-server endpoints)."""

from understudy.mock.authserver.token_endpoint import issue_token
from understudy.mock.authserver.token_info import validate_token
from understudy.mock.engine.handlers import Handlers

AUTHORIZE = ("GET", "/oauth2/authorize")
TOKEN = ("POST", "/oauth2/token")
TOKEN_INFO = ("GET", "/oauth2/token-info")

HANDLERS: Handlers = {TOKEN: issue_token, TOKEN_INFO: validate_token}

PAGES = frozenset({AUTHORIZE})
"""Operations served by the pages, which validate the request themselves: their errors are pages and
redirects, not JSON."""
