"""What an authorization request says; what a browser sees of it is in ``test_authorize_page``."""

from urllib.parse import unquote_to_bytes, urlencode, urlsplit

from hypothesis import given
from hypothesis import strategies as st
from tests.mock.authserver.conftest import CALLBACK, CHALLENGE, OTHER, SERVER

from understudy.mock.authserver.authorization_request import (
    find_return_address,
    parameters_of,
    validate,
)

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


def test_an_empty_parameter_counts_as_left_out():
    assert "state" not in dict(parameters_of(b"state=&client_id=a"))


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
