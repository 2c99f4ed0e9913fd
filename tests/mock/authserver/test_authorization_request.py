"""The attack list on the authorization request: what must never be redirected, and what must."""

from urllib.parse import parse_qs, unquote_to_bytes, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mock.authserver.conftest import CALLBACK, CHALLENGE, OTHER, SERVER

from understudy.mock.authserver.authorization_request import (
    find_return_address,
    parameters_of,
    validate,
)
from understudy.mock.authserver.oauth_errors import RefusedPage, RefusedRedirect

APPLICATIONS = {app.client_id: app for app in (SERVER, OTHER)}

GOOD = {
    "client_id": "server-app",
    "redirect_uri": CALLBACK,
    "response_type": "code",
    "scope[0]": "auth",
    "state": "s",
}


def address(parameters):
    return find_return_address(tuple(parameters), APPLICATIONS.get)


def request(**changes):
    parameters = {name: text for name, text in {**GOOD, **changes}.items() if text is not None}
    pairs = tuple(parameters.items())
    return validate(pairs, address(pairs))


def test_a_good_request_is_understood():
    found = request(code_challenge=CHALLENGE, code_challenge_method="S256")
    assert found.return_address.application is SERVER
    assert (found.response_type, found.scopes) == ("code", ("auth",))
    assert (found.challenge, found.challenge_method) == (CHALLENGE, "S256")


@pytest.mark.parametrize(
    "redirect_uri",
    [
        "https://127.0.0.1:5000/callback",
        "http://localhost:5000/callback",
        "http://127.0.0.1:5001/callback",
        "http://127.0.0.1/callback",
        "http://127.0.0.1:5000/Callback",
        "http://127.0.0.1:5000/callback/",
        "http://127.0.0.1:5000/callback/../evil",
        "http://127.0.0.1:5000/x/../callback",
        "http://127.0.0.1:5000%2Fcallback",
        "http://127.0.0.1:5000/callback?x=1",
        "http://127.0.0.1:5000/callback#x",
        "http://user@127.0.0.1:5000/callback",
        "HTTP://127.0.0.1:5000/callback",
        " http://127.0.0.1:5000/callback",
        "http://127.0.0.1:5000/callback\n",
        "http://other.example.com/",
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example.com",
    ],
)
def test_a_redirect_that_is_not_registered_is_never_followed(redirect_uri):
    with pytest.raises(RefusedPage, match="is not registered for Server App"):
        address({**GOOD, "redirect_uri": redirect_uri}.items())


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_client_and_redirect_must_be_there_and_once(name):
    without = [(key, text) for key, text in GOOD.items() if key != name]
    with pytest.raises(RefusedPage, match=f"{name} is missing"):
        address(without)
    with pytest.raises(RefusedPage, match=f"{name} is given 2 times"):
        address([*GOOD.items(), (name, GOOD[name])])


def test_an_unknown_client_gets_a_page():
    with pytest.raises(RefusedPage, match="no application"):
        address({**GOOD, "client_id": "nobody"}.items())


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"scope[0]": None}, "invalid_scope"),
        ({"scope[0]": "profile"}, "invalid_scope"),
        ({"scope[0]": "avatar-profile:read"}, "invalid_scope"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": CHALLENGE, "code_challenge_method": "S512"}, "invalid_request"),
    ],
)
def test_other_faults_are_told_at_the_registered_address(changes, error):
    with pytest.raises(RefusedRedirect) as caught:
        request(**changes)
    assert caught.value.error == error
    assert caught.value.description


@pytest.mark.parametrize("name", ["response_type", "state", "scope[0]", "code_challenge"])
def test_a_parameter_given_twice_is_refused(name):
    pairs = [*GOOD.items(), ("code_challenge", CHALLENGE), (name, "code")]
    with pytest.raises(RefusedRedirect, match="given more than once"):
        validate(pairs, address(pairs))


def test_unknown_parameters_are_ignored():
    assert request(nonce="n", prompt="login", audience="x").scopes == ("auth",)


def test_an_empty_parameter_counts_as_left_out():
    assert "state" not in dict(parameters_of(b"state=&client_id=a"))


def test_the_answer_to_code_stands_in_the_query_and_to_token_in_the_fragment():
    query = urlsplit(request().return_address.with_response(code="c"))
    fragment = urlsplit(
        request(response_type="token").return_address.with_response(access_token="t")
    )
    assert (parse_qs(query.query), query.fragment) == ({"code": ["c"], "state": ["s"]}, "")
    assert (fragment.query, parse_qs(fragment.fragment)["access_token"]) == ("", ["t"])


def test_a_denial_says_access_denied():
    answer = parse_qs(urlsplit(request().return_address.denied()).query)
    assert answer["error"] == ["access_denied"]
    assert answer["error_description"]
    assert answer["state"] == ["s"]


def test_a_registered_query_is_kept():
    app = SERVER.__class__("q", "s", "Q", "ada", ("http://127.0.0.1:5000/callback?app=1",))
    pairs = tuple({**GOOD, "redirect_uri": app.redirect_uris[0]}.items())
    back = find_return_address(pairs, lambda _: app)
    assert back.with_response(code="c").startswith("http://127.0.0.1:5000/callback?app=1&code=c")


@given(st.binary(min_size=1, max_size=200))
def test_state_comes_back_byte_for_byte(state):
    query = urlencode({**GOOD, "state": state}).encode()
    back = address(parameters_of(query))
    answered = urlsplit(back.with_response(code="c")).query.rpartition("state=")[2]
    assert unquote_to_bytes(answered) == state


def test_line_ends_and_markup_in_state_stay_escaped():
    answer = request(state="a\r\nLocation: x<script>&b").return_address.with_response(code="c")
    assert not set("\r\n<>") & set(answer)
