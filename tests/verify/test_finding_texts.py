"""What findings write of values: JSON, which readers know who do not know Python."""

import ast
from pathlib import Path

import pytest
from tests.verify.exchanges import BASE_URL, exchange_of

from understudy.exchange.messages import Response
from understudy.interface.operations import OWN_PROFILE, UPDATE_PROFILE
from understudy.verify import rules as sections
from understudy.verify.account_history import differing
from understudy.verify.history import History
from understudy.verify.rules.errors import body_is_json
from understudy.verify.rules.own_profile import disabled_profile_is_not_found
from understudy.verify.rules.token_requests import error_is_described
from understudy.verify.shapes import EDITABLE
from understudy.verify.target import Target
from understudy.verify.value_texts import as_pairs

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
