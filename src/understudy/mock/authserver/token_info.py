"""Validates tokens for their clients (interface, Token validation)."""

from understudy.interface.rules import upholds
from understudy.mock.authserver.oauth_errors import NO_STORE, TokenRefused
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.store.people import account_number
from understudy.mock.store.tokens import TOKENS, is_valid


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
