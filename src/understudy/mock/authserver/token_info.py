"""Token validation (interface, Token validation)."""

from understudy.interface.rules import upholds
from understudy.mock.authserver.oauth_errors import INVALID_REQUEST, NO_STORE, OAuthError
from understudy.mock.authserver.token_lifecycle import account_number
from understudy.mock.engine.call import Call, HandlerResponse
from understudy.mock.store.tokens import TOKENS, is_valid


@upholds("token-info", "token-info-foreign", "token-info-ids-strings", "token-info-unspecific")
def validate_token(call: Call, *, client_id: str, token: str) -> HandlerResponse:
    """Answers ``GET /oauth2/token-info``.

    Raises:
        OAuthError: The token is unknown, expired or another client's; it does not say which.
    """
    found = call.world.get(TOKENS, token)
    now = call.world.clock.now()
    if found is None or found.client_id != client_id or not is_valid(found, now):
        description = "The token does not count for this client_id; ask the person again."
        raise OAuthError(INVALID_REQUEST, description)
    return HandlerResponse(
        {
            "client_id": client_id,
            "user_id": account_number(found.person),
            "blog_id": account_number(found.person),
            "scope": " ".join(found.scopes),
        },
        headers=NO_STORE,
    )
