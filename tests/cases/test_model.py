"""A case's values: what a request says on the wire, and what an answer must be."""

import pytest

from understudy.cases.model import Case, CaseRequest, ExpectedResponse

REQUEST = CaseRequest(
    "authorization",
    "POST",
    "/token",
    (("a", "~~TOKEN_ENCODED~~"), ("b", None), ("", "1")),
    (("Authorization", "Bearer ~~TOKEN~~"),),
    b"secret=~~CLIENT_SECRET_ENCODED~~&x=~~nobody~~",
)


def test_a_target_is_path_and_query_as_they_are_written():
    assert REQUEST.target == "/token?a=~~TOKEN_ENCODED~~&b&=1"


def test_a_request_names_its_secrets_once_and_without_their_twins():
    assert REQUEST.variables == ("TOKEN", "CLIENT_SECRET")


def test_secrets_are_put_in_and_encoded_where_they_stand_in_a_query_or_form():
    filled = REQUEST.filled({"TOKEN": "a b&c", "CLIENT_SECRET": "s+t"})
    assert filled.query[0] == ("a", "a%20b%26c")
    assert filled.headers == (("Authorization", "Bearer a b&c"),)
    assert filled.body == b"secret=s%2Bt&x=~~nobody~~"


@pytest.mark.parametrize(
    ("expected", "status", "location", "fault"),
    [
        (ExpectedResponse(("2XX",), ""), 204, "", ""),
        (ExpectedResponse(("2XX",), ""), 404, "", "answered 404, expected 2XX"),
        (ExpectedResponse(("404", "2XX"), ""), 404, "", ""),
        (ExpectedResponse(("401",), ""), 403, "", "answered 403, expected 401"),
        (ExpectedResponse(("302",), "", "with error"), 302, "https://a/?error=x", ""),
        (ExpectedResponse(("302",), "", "with error"), 302, "https://a/#state=1&error=x", ""),
        (
            ExpectedResponse(("302",), "", "with error"),
            302,
            "https://a/?code=error=",
            "redirected without error, expected with error",
        ),
        (
            ExpectedResponse(("200", "302"), "", "without error"),
            302,
            "https://a/?error=x",
            "redirected with error, expected without error",
        ),
        (ExpectedResponse(("200", "302"), "", "without error"), 200, "", ""),
    ],
)
def test_an_answer_is_held_to_its_class(expected, status, location, fault):
    assert str(expected.mismatch(status, location) or "") == fault


@pytest.mark.parametrize(
    ("outcome", "has_failed"),
    [("failed: answered 200", True), ("passed: 200", False), ("not sent: why", False), ("", False)],
)
def test_only_what_was_answered_otherwise_has_failed(outcome, has_failed):
    case = Case(
        "a-1",
        "a",
        "",
        "",
        "",
        "",
        "valid",
        REQUEST,
        ExpectedResponse(("2XX",), ""),
        outcome=outcome,
    )
    assert case.has_failed is has_failed
