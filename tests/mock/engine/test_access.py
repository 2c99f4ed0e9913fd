"""Who may call an operation, by the document and by what we know better."""

from typing import Any

import pytest

from understudy.mock.engine.access import BEARER, Access, Credential, access
from understudy.openapi.operations import Operation

SCHEMES = {
    "bearer": {"type": "http", "scheme": "Bearer"},
    "oauth": {"type": "oauth2", "flows": {}},
    "openid": {"type": "openIdConnect"},
    "key": {"type": "apiKey", "in": "query", "name": "k"},
    "basic": {"type": "http", "scheme": "basic"},
    "certificate": {"type": "mutualTLS"},
}


def decided(
    *security: dict[str, Any], scopes: frozenset[str] | None = None, is_implemented: bool = False
) -> Access:
    operation = Operation("GET", "/a", "a", (), None, {}, security, "#/paths/~1a/get")
    return access(operation, SCHEMES, scopes, is_implemented=is_implemented)


@pytest.mark.parametrize("scheme", ["bearer", "oauth", "openid"])
def test_a_scheme_that_bears_tokens_requires_one(scheme: str) -> None:
    assert decided({scheme: ()}) == Access("required")


def test_an_empty_alternative_makes_it_optional_wherever_it_stands() -> None:
    assert decided({}, {"bearer": ()}) == decided({"bearer": ()}, {}) == Access("optional")


def test_without_security_no_token_is_read() -> None:
    assert decided() == decided(is_implemented=True) == Access("unread")


def test_ours_is_optional_unless_we_want_scopes() -> None:
    assert decided({"bearer": ()}, is_implemented=True) == Access("optional")
    wanted = frozenset({"auth"})
    assert decided(scopes=wanted, is_implemented=True) == Access("required", wanted)


def test_what_is_no_token_is_only_looked_for() -> None:
    key, basic = Credential("query", "k"), Credential("header", "authorization", "basic")
    assert decided({"key": ()}, {"basic": ()}) == Access("unread", alternatives=((key,), (basic,)))


def test_parts_of_one_alternative_are_wanted_together() -> None:
    both = (Credential("query", "k"), BEARER)
    assert decided({"key": (), "bearer": ()}) == Access("unread", alternatives=(both,))


@pytest.mark.parametrize("open_", [{}, {"certificate": ()}])
def test_nothing_is_looked_for_where_one_alternative_asks_for_nothing(open_) -> None:
    assert decided({"basic": ()}, open_) == Access("unread")
