"""Scopes as requests write them."""

import pytest

from understudy.interface.vocabulary import OWN_WORDS
from understudy.mock.authserver.authorization_request import error_in, requested


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (
            [("scope[0]", "auth"), ("scope[1]", "avatar-profile:read")],
            ("auth", "avatar-profile:read"),
        ),
        ([("scope[1]", "auth")], ("auth",)),
        ([("scope[7]", "b"), ("scope[2]", "a")], ("a", "b")),
        ([("scope", "auth avatar-profile:read")], ("auth", "avatar-profile:read")),
        ([("scope[]", "auth"), ("scope[]", "x")], ("auth", "x")),
        ([("scope[0]", "auth"), ("scope[1]", "auth")], ("auth",)),
        ([("scopes", "auth"), ("scope[x]", "auth"), ("scope[0", "auth")], ()),
        ([("scope", "")], ()),
    ],
)
def test_scopes_are_read_in_every_form_that_clients_write(parameters, expected):
    assert requested(parameters) == expected


@pytest.mark.parametrize(
    ("scopes", "says"),
    [
        ((), "at least one"),
        (("avatar-profile:read",), "auth is missing"),
        (("auth", "profile"), "'profile' is unknown"),
    ],
)
def test_a_faulty_set_of_scopes_is_told_what_to_do(scopes, says):
    assert says in (error_in(scopes, OWN_WORDS) or "")


def test_auth_alone_is_enough():
    assert error_in(("auth",), OWN_WORDS) is None
