"""Texts become other texts that the same parsers take."""

import re
from datetime import UTC, datetime

import pytest

from understudy.record.pseudonyms import Pseudonyms
from understudy.verify.target import Target

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("0B2F8D1C-1111-4222-8333-444455556666", r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}"),
        ("1969-07-21", r"\d{4}-\d\d-\d\d"),
        ("1969-07-21T02:56:15+01:00", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
        ("2026-11-22T00:00:01Z", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
        ("02:56", r"\d\d:\d\d"),
        ("02:56:15", r"\d\d:\d\d:15"),
        ("-12.50", r"\d+\.00"),
        ("1042", r"\d+"),
        ("mia@example.net", r"\S+@example\.com"),
        ("https://example.net/mia", r"https://www\.example\.com/\S+"),
        ("Mia, 1969-07-21", r"[A-Z][a-z]+ [a-z]+ \w+"),
        ("", ""),
    ],
)
def test_the_pseudonym_of_a_text_has_the_form_that_clients_parse(text, form):
    pseudonyms = Pseudonyms(bytes(32), Target("http://127.0.0.1:8080"), NOW)
    made = pseudonyms.text(text)
    assert re.fullmatch(form, made)
    assert made == pseudonyms.text(text)
    assert not text or made != text


def test_a_number_in_a_path_has_the_pseudonym_of_the_number_in_a_body():
    pseudonyms = Pseudonyms(bytes(32), Target("http://127.0.0.1:8080"), NOW)
    assert pseudonyms.text("1042") == str(pseudonyms.number("number", "1042", 10**6))
