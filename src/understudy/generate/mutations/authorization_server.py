"""The interface's prose of the authorization server's operations: authorize, token and token-info."""

from functools import partial

from understudy.generate.mutations import authorization_requests, token_requests
from understudy.generate.mutations.operation_context import InterfaceProse
from understudy.generate.test_data import TestData
from understudy.interface.operations import AUTHORIZE, TOKEN, TOKEN_INFO


def prose(key: str, data: TestData) -> InterfaceProse | None:
    """Returns what the interface says of an operation, or None for other operations."""
    if key == AUTHORIZE:
        return InterfaceProse(
            partial(authorization_requests.with_known_values, data),
            authorization_requests.context(data),
            authorization_requests.mutations_of(data),
            "without error",
        )
    if key == TOKEN:
        return InterfaceProse(
            partial(token_requests.password_grant, data),
            token_requests.token_context(data),
            token_requests.grants(data),
        )
    if key == TOKEN_INFO:
        return InterfaceProse(
            partial(token_requests.plain_validation, data),
            token_requests.token_info_context(data),
            token_requests.validations,
        )
    return None
