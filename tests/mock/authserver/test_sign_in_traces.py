"""Traced sign-ins: which requests belong together, what is to be said of them, and where they stop."""

from typing import Any

import pytest
from tests.mock.authserver.conftest import (
    CALLBACK,
    CHALLENGE,
    EXCHANGE,
    IMPLICIT,
    VERIFIER,
    Browser,
    answered,
)

from understudy.mock.server.journal import Journal

PKCE = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}


@pytest.fixture
def browser(browser: Browser) -> Browser:
    """A browser at a mock without a journal."""
    browser.mock.world.journal = Journal()
    return browser


def traced(browser: Browser) -> dict[str, Any]:
    """Returns the latest sign-in."""
    answer = browser.get("http://127.0.0.1:8080/__admin/sign-ins")
    trace: dict[str, Any] = answer.json()[0]
    return trace


def verdicts(step: dict[str, Any]) -> dict[str, str]:
    return {it["name"]: it["verdict"] for it in step["parameters"]}


def test_a_whole_sign_in_is_traced_to_the_first_call(browser: Browser) -> None:
    browser.sign_in()
    page = browser.authorize(**PKCE)
    code = answered(browser.decide(page))["code"]
    form = {**EXCHANGE, "code": code, "code_verifier": VERIFIER}
    token = browser.post("/oauth2/token", data=form).json()["access_token"]
    browser.me(token)
    trace = traced(browser)
    kinds = [step["kind"] for step in trace["steps"]]
    assert kinds == ["authorize", "consent", "token", "call"]
    assert trace["steps"][1]["returned"] == ["code", "state"]
    assert (trace["stopped"], trace["advice"]) == (None, [])
    assert {v for step in trace["steps"] for v in verdicts(step).values()} == {"right"}
    assert trace["application"] == "Trail Journal"


def test_a_trace_contains_no_secret(browser: Browser) -> None:
    token = browser.token()
    text = browser.get("http://127.0.0.1:8080/__admin/sign-ins").text
    assert token not in text
    assert EXCHANGE["client_secret"] not in text


def test_what_a_client_should_do_better_stands_beside(browser: Browser) -> None:
    code = browser.code(state=None)
    form = {**EXCHANGE, "code": code}
    browser.post("/oauth2/token", data=form, headers={"Origin": "http://127.0.0.1:5000"})
    trace = traced(browser)
    authorize, token = trace["steps"]
    assert (verdicts(authorize)["state"], verdicts(authorize)["code_challenge"]) == (
        "advice",
        "advice",
    )
    assert verdicts(token)["client_secret"] == "advice"
    assert [text.split(";")[0].split(".")[0] for text in trace["advice"]] == [
        "No state was sent",
        "No code_challenge was sent",
        "The client secret was sent from a browser, where anybody can read it",
    ]


def test_the_implicit_grant_is_traced_through_the_fragment(browser: Browser) -> None:
    browser.me(browser.implicit_token())
    trace = traced(browser)
    assert trace["flow"] == IMPLICIT["response_type"]
    assert [step["kind"] for step in trace["steps"]] == ["authorize", "call"]
    assert "access_token" in trace["steps"][0]["returned"]
    assert any("code grant with PKCE" in text for text in trace["advice"])


@pytest.mark.parametrize(
    ("changes", "stopped", "wrong"),
    [
        ({"client_id": "nobody"}, "refused with a page", ["client_id", "redirect_uri"]),
        ({"redirect_uri": f"{CALLBACK}/"}, "refused with a page", ["redirect_uri"]),
        ({"response_type": "both"}, "unsupported_response_type", ["response_type"]),
        ({"scope[1]": "everything"}, "invalid_scope", ["scope[1]"]),
        ({}, "has not signed in", []),
        ({"mock_deny": "1"}, "access_denied", []),
        ({"mock_approve": "ada"}, "was not exchanged", []),
    ],
)
def test_where_a_sign_in_stopped_is_said(browser, changes, stopped, wrong) -> None:
    browser.authorize(**changes)
    trace = traced(browser)
    assert stopped in trace["stopped"]
    found = verdicts(trace["steps"][0])
    assert [name for name, verdict in found.items() if verdict == "wrong"] == wrong


def test_a_refused_exchange_is_where_it_stopped(browser: Browser) -> None:
    form = {**EXCHANGE, "code": browser.code(), "redirect_uri": "http://other.example.com/"}
    browser.post("/oauth2/token", data=form)
    trace = traced(browser)
    assert trace["stopped"] == "The exchange was refused: invalid_grant."
    assert verdicts(trace["steps"][1])["redirect_uri"] == "wrong"


def test_a_person_who_signed_in_and_did_not_decide_is_where_it_stopped(browser: Browser) -> None:
    browser.authorize()
    browser.sign_in()
    assert "has not decided" in traced(browser)["stopped"]
