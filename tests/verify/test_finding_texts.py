"""What findings write of values: JSON, which readers know who do not know Python."""

import ast
from pathlib import Path
from typing import Any

import pytest
from tests.verify.exchanges import BASE_URL, exchange_of

from understudy.exchange.messages import Request, Response
from understudy.interface.operations import LOOKUP, OWN_PROFILE, UPDATE_PROFILE
from understudy.verify import rules as sections
from understudy.verify.account_history import differing
from understudy.verify.catalogue import catalogue
from understudy.verify.checks import CHECKS
from understudy.verify.findings import Finding
from understudy.verify.history import History
from understudy.verify.reports import by_cause
from understudy.verify.rules.equivalent_requests import answers_alike
from understudy.verify.rules.errors import body_is_json
from understudy.verify.rules.own_profile import disabled_profile_is_not_found
from understudy.verify.rules.profiles import required_members_are_there
from understudy.verify.rules.token_requests import error_is_described
from understudy.verify.shapes import EDITABLE
from understudy.verify.target import Target
from understudy.verify.value_texts import as_pairs, in_parts

HISTORY = History(Target(BASE_URL))
JSON = (("content-type", "application/json"),)
HTML = (("content-type", "text/html"),)


@pytest.mark.parametrize(
    ("judge", "response", "actual"),
    [
        (disabled_profile_is_not_found, Response(403, JSON, b"{}"), "status 403, code null"),
        (body_is_json, Response(200, HTML, b'<a id="1">'), r'text/html: "<a id=\"1\">"'),
        (error_is_described, Response(400, JSON, b'{"code":"x"}'), 'status 400, ["code"]'),
    ],
)
def test_a_check_writes_values_as_json(judge, response, actual):
    exchange = exchange_of("/me/profile", operation=OWN_PROFILE, response=response)
    assert judge(exchange, HISTORY).actual == actual


def test_a_type_of_json_is_json():
    typed = (("content-type", "application/problem+json"),)
    exchange = exchange_of(
        "/me/profile", operation=OWN_PROFILE, response=Response(401, typed, b"{}")
    )
    assert body_is_json(exchange, HISTORY).holds


def test_what_differs_is_written_with_both_values():
    assert as_pairs({"location": ("Port", ""), "links": (None, [1])}) == (
        'location: was "Port", is ""; links: was null, is [1]'
    )


def test_a_finding_of_an_update_names_the_old_and_the_new_value():
    before = Response(200, JSON, b'{"hash":"a","location":"Port","company":"Mill"}')
    after = Response(200, JSON, b'{"hash":"a","location":"Port","company":""}')
    exchange = exchange_of("/me/profile", operation=UPDATE_PROFILE, response=after)
    earlier = exchange_of("/me/profile", operation=OWN_PROFILE, response=before)
    changed = differing(exchange, earlier, EDITABLE)
    assert as_pairs(changed) == 'company: was "Mill", is ""'


RULE = catalogue()["equivalent-address"]


def heading(path: str, expected: str, actual: str, where: str = "", **more: Any) -> str:
    finding = Finding(RULE, expected, actual, (exchange_of(path, **more),), where=where)
    (cause,) = by_cause([finding])
    return cause.heading({"hush-hush": "READ_TOKEN"})


@pytest.mark.parametrize(
    ("expected", "actual", "where", "words"),
    [
        ("status 404", "status 400", "the identifier is made up", "was refused with 400, where the identifier"
         " is made up; expected 404"),
        ("a refusal, 4XX", "status 200", "", "was answered with 200; expected a refusal, 4XX"),
        ("no failure", "status 503", "", "failed with 503; expected no failure"),
        ("200", "status 404, unknown", "", "was refused with 404, unknown; expected 200"),
    ],
)  # fmt: skip
def test_a_cause_is_headed_by_what_was_done_with_the_request(expected, actual, where, words):
    assert heading("/profiles/ada", expected, actual, where) == f"GET /profiles/ada {words}"


def test_a_cause_is_headed_by_what_is_said_of_the_status():
    words = heading("/profiles/ada", "an answer that the document allows", "status 201 is new")
    assert (
        words == "GET /profiles/ada: status 201 is new; expected an answer that the document allows"
    )


def test_a_cause_is_headed_by_the_value_that_came():
    words = heading("/profiles/ada", "a PNG", "image/jpeg", "a code was drawn")
    assert words == "GET /profiles/ada, where a code was drawn: image/jpeg; expected a PNG"


def test_a_heading_says_the_path_that_was_sent_and_no_secret():
    sent = Request("GET", f"{BASE_URL}/profiles/%61da?key=hush-hush")
    words = heading("/profiles/ada", "200", "status 400", request=sent)
    assert words.startswith("GET /profiles/%61da?key=")
    assert "hush" not in words


@pytest.mark.parametrize(("status", "said"), [(200, ""), (403, ', "Draws maps."')])
def test_only_a_refusal_is_followed_by_what_its_response_says(status, said):
    response = Response(status, JSON, b'{"description": "Draws maps."}')
    finding = Finding(RULE, "200", f"status {status}", (exchange_of("/a", response=response),))
    assert finding.received == f"status {status}{said}"


def test_a_heading_is_a_sentence_however_long_the_values_are():
    assert len(heading(f"/profiles/{'a' * 9000}", "200", "b" * 9000)) < 400


def test_of_long_values_a_finding_shows_where_they_begin_to_differ():
    text = "word " * 50
    shown = as_pairs({"description": (f"{text}\ta{text}", f"{text} a{text}")}, "should be")
    assert r"word \taword" in shown
    assert "word  aword" in shown
    assert len(shown) < 180


def test_a_check_names_the_condition_that_tells_its_exchange_from_others():
    of = {each.rules: each for each in CHECKS}
    assert of["token-repeated-field",].where == "a field is sent twice"
    assert of["upload-square",].where == "the picture is not square"
    assert of["token-answer",].where == ""  # which every success is


def test_a_request_that_is_written_otherwise_names_its_headers():
    plain = exchange_of("/profiles/ada", operation=LOOKUP, response=Response(200, JSON, b"{}"))
    sent = Request("GET", f"{BASE_URL}/profiles/ada", (("accept-encoding", "identity"),))
    other = exchange_of(
        "/profiles/ada",
        number=2,
        operation=LOOKUP,
        request=sent,
        response=Response(406, JSON, b"{}"),
    )
    history = History(Target(BASE_URL))
    history.add(plain)
    said = answers_alike(other, history).actual
    assert said == "status 406, before 200, sent with accept-encoding: identity"


@pytest.mark.parametrize(
    "path",
    sorted(Path(sections.__file__).parent.glob("*.py")),
    ids=lambda path: path.stem,
)
def test_no_check_writes_a_value_as_python_does(path):
    converted = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FormattedValue) and node.conversion == ord("r")
    ]
    assert converted == []


@pytest.mark.parametrize(
    "rule", ["error-shape", "head-like-get", "qr-no-authentication", "avatar-list-of-caller"]
)
def test_a_heading_has_no_condition_that_nearly_every_request_meets(rule):
    for check in (each for each in CHECKS if rule in each.rules):
        assert not any(it in check.where for it in ("or none", "not refused", "every", "known"))


def test_what_is_wrong_is_told_in_parts_that_have_a_value():
    assert in_parts(lacking=["a", "b"], of_another_account=[7], twice=[]) == (
        "lacking a, b; of another account 7"
    )
    assert in_parts(lacking=[]) == "nothing"


def test_a_profile_without_a_member_is_told_without_empty_parts():
    response = Response(200, JSON, b'{"display_name":"Ada"}')
    exchange = exchange_of("/me/profile", operation=OWN_PROFILE, response=response)
    actual = required_members_are_there(exchange, HISTORY).actual
    assert actual.startswith("lacking hash, profile_url, ")
    assert "[" not in actual
    assert "wrong" not in actual
