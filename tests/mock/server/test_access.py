"""Who may call an operation, by the document and by what we know better."""

from typing import Any

import pytest

from understudy.mock.server.endpoint import Access, access
from understudy.openapi.operations import BEARER, Credential, Operation, credentials_of

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


@pytest.mark.parametrize("word", ["bearer JWT", "BEARER", ""])
def test_an_http_scheme_is_its_first_word(word: str) -> None:
    assert list(credentials_of([{"type": "http", "scheme": word}])) == [BEARER]


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


def test_nothing_must_be_sent_where_one_alternative_asks_for_nothing() -> None:
    basic = Credential("header", "authorization", "basic")
    optional = Access("unread", alternatives=((basic,),), is_optional=True)
    assert decided({"basic": ()}, {}) == decided({}, {"basic": ()}) == optional
    assert decided({"bearer": ()}, {}) == Access("optional")
    assert decided({}) == Access("unread")


@pytest.mark.parametrize("other", [{"certificate": ()}, {"undeclared": ()}])
def test_an_alternative_that_no_request_can_meet_makes_no_other_optional(other) -> None:
    assert decided({"bearer": ()}, other) == decided(other, {"bearer": ()}) == Access("required")
    assert decided(other) == Access("unread")


def test_a_token_beside_other_kinds_is_one_alternative_of_several() -> None:
    alternatives = ((BEARER,), (Credential("query", "k"),))
    assert decided({"oauth": ()}, {"key": ()}) == Access("unread", alternatives=alternatives)


def test_scopes_are_those_of_token_schemes_and_each_alternative_names_its_own() -> None:
    both = decided({"oauth": ("a", "b"), "key": ("role",)}, {"openid": ("c",)})
    assert both.declared_scopes == (frozenset("ab"), frozenset("c"))
    assert decided({"oauth": ("a",)}, {"key": ("role",)}).declared_scopes == (frozenset("a"),)
    assert decided({"oauth": ("a",)}, {"openid": ()}).declared_scopes == ()


def test_of_several_in_the_one_authorization_header_each_is_an_alternative() -> None:
    key, basic = Credential("query", "k"), Credential("header", "authorization", "basic")
    both = decided({"oauth": (), "basic": (), "key": ()}, {"bearer": (), "openid": ()})
    assert both.alternatives == ((BEARER, key), (basic, key), (BEARER,))
