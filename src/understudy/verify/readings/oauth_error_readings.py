"""Reads the status and the error code by which the authorization server refuses, where that is open."""

from functools import partial
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import TOKEN, TOKEN_INFO
from understudy.verify.checks import was_refused
from understudy.verify.history import History
from understudy.verify.readings.switch_reading import SwitchReading
from understudy.verify.rules.error_codes import error_form
from understudy.verify.rules.password_grant import WHOLE, is_owner, owner_uses_two_steps
from understudy.verify.rules.token_info import names_client_and_token


def names_known_client(exchange: Exchange, history: History) -> bool:
    """Tells whether the client is one that the target names."""
    target = history.target
    known = (target.application.client_id, target.other_application.client_id)
    return exchange.request.query.get("client_id") in known


_error_form: Final = partial(error_form, member="error")  # RFC 6749, 5.2

OAUTH_ERROR_READINGS: Final = (
    SwitchReading(
        "token-info-unspecific",
        (TOKEN_INFO,),
        (was_refused, names_client_and_token, names_known_client),
        _error_form,
    ),
    SwitchReading(
        "password-grant-two-step-error",
        (TOKEN,),
        (was_refused, *WHOLE, owner_uses_two_steps, is_owner),
        _error_form,
    ),
)
"""The exchanges that show how the authorization server writes an error."""
