"""What a single request wishes for itself."""

import pytest

from understudy.errors import MockRefusal
from understudy.mock.server.preferences import RequestPreferences, preferences_of


def test_a_request_that_wishes_nothing_keeps_its_query() -> None:
    assert preferences_of("", "a=1&b=%20&c") == (None, "a=1&b=%20&c")


@pytest.mark.parametrize(
    ("header", "wish"),
    [
        ("code=404", RequestPreferences(code=404)),
        ('example="a b"', RequestPreferences(example="a b")),
        ("dynamic=true, seed=7", RequestPreferences(dynamic=True, seed=7)),
        ("delay=1.5; fault=slow", RequestPreferences(delay=1.5, fault="slow")),
        (
            "fault=missing-field:links.0.url",
            RequestPreferences(fault="missing-field", field="links.0.url"),
        ),
    ],
)
def test_the_header_is_read_as_rfc_7240_writes_it(header: str, wish: RequestPreferences) -> None:
    found, _ = preferences_of(header, "")
    assert found is not None
    assert found._replace(texts={}) == wish


def test_preferences_that_others_define_are_left_alone() -> None:
    assert preferences_of("return=minimal, respond-async, wait=10", "") == (None, "")


def test_the_query_has_twins_that_win_and_are_taken_out() -> None:
    wish, query = preferences_of("code=500", "a=1&__code=404&b=2")
    assert wish is not None
    assert (wish.code, wish.applied(is_stream=False), query) == (404, "code=404", "a=1&b=2")


def test_other_names_with_two_underscores_are_the_clients_own_business() -> None:
    assert preferences_of("", "__cache_buster_9=1") == (None, "__cache_buster_9=1")


@pytest.mark.parametrize(
    ("header", "query", "reason"),
    [
        ("cod=404", "", "did you mean 'code'?"),
        ("", "__cod=404", "did you mean 'code'?"),
        ("code=4O4", "", "not a status"),
        ("code=99", "", "not a status"),
        ("dynamic=yes", "", "neither true nor false"),
        ("seed=x", "", "not a whole number"),
        ("delay=soon", "", "not a number of seconds"),
        ("delay=61", "", "not a number of seconds"),
        ("fault=slwo", "", "did you mean 'slow'?"),
        ("fault=missing-field", "", "name it"),
    ],
)
def test_what_is_not_understood_is_said_so(header: str, query: str, reason: str) -> None:
    with pytest.raises(MockRefusal, match=reason.replace("?", r"\?")) as refusal:
        preferences_of(header, query)
    assert refusal.value.status == 400
