"""The authorization request: what is sent back, where, and after whose decision."""

from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from tests import patient
from tests.proofs.reference.people import BEACON, ISOLDE, KILN
from tests.proofs.reference.service import Options
from tests.proofs.reference.serving import served

CALLBACK, BACK_WITH_QUERY = BEACON.redirect_uris
ASKED = {
    "client_id": BEACON.client_id,
    "redirect_uri": CALLBACK,
    "response_type": "code",
    "scope[0]": "auth",
    "scope[1]": "avatar-profile:read",
    "state": "a b&c",
}
SIGNED_IN = {"decision": "approve", "username": "isolde", "password": ISOLDE.password}


def sent(answer: httpx.Response, part: str) -> dict[str, str]:
    location = urlsplit(answer.headers["location"])
    assert location._replace(query="", fragment="").geturl() == CALLBACK
    empty = {"query": location.fragment, "fragment": location.query}[part]
    assert empty == ""
    return dict(parse_qsl({"query": location.query, "fragment": location.fragment}[part]))


def without(name: str) -> dict[str, str]:
    return {key: value for key, value in ASKED.items() if key != name}


def test_the_page_names_the_application_and_the_scopes_and_works_without_scripts(authorization):
    page = authorization.get("/authorize", params=ASKED)
    assert page.status_code == 200
    assert all(
        word in page.text for word in ("Beacon", "avatar-profile:read", '<form method="post">')
    )
    assert "<script" not in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


def test_approving_sends_a_code_in_the_query(authorization):
    answer = authorization.post("/authorize", params=ASKED, data=SIGNED_IN)
    assert answer.status_code == 303
    values = sent(answer, "query")
    assert values.keys() == {"code", "state"}
    assert values["state"] == "a b&c"


def test_the_implicit_grant_sends_a_token_in_the_fragment(authorization, client):
    asked = {**ASKED, "response_type": "token"}
    values = sent(authorization.post("/authorize", params=asked, data=SIGNED_IN), "fragment")
    assert values.keys() == {"access_token", "expires_in", "token_type", "site_id", "state"}
    assert (values["expires_in"], values["token_type"]) == ("1209600", "bearer")
    profile = client(values["access_token"]).get("/me/profile").json()
    assert profile["hash"] == ISOLDE.hashes[0]


@pytest.mark.parametrize(("response_type", "part"), [("code", "query"), ("token", "fragment")])
def test_denying_needs_no_password(authorization, response_type, part):
    asked = {**ASKED, "response_type": response_type}
    values = sent(authorization.post("/authorize", params=asked, data={"decision": "deny"}), part)
    assert values["error"] == "access_denied"
    assert values["access_denied"] == "1"
    assert values["state"] == "a b&c"


@pytest.mark.parametrize("wrong", [{"username": "bram"}, {"password": "guess"}])
def test_a_wrong_password_shows_the_page_again(authorization, wrong):
    answer = authorization.post("/authorize", params=ASKED, data={**SIGNED_IN, **wrong})
    assert answer.status_code == 403
    assert "Username or password is wrong." in answer.text


@pytest.mark.parametrize(
    "query",
    [
        {**ASKED, "client_id": "9999"},
        {**ASKED, "client_id": KILN.client_id},
        without("client_id"),
        without("redirect_uri"),
        *(
            {**ASKED, "redirect_uri": address}
            for address in (
                f"{CALLBACK}/",
                f"{CALLBACK}?more=1",
                CALLBACK.upper(),
                CALLBACK.removesuffix("back"),
                f"{CALLBACK}/../callback",
                "http://127.0.0.1:9999/back",
            )
        ),
    ],
)
def test_nobody_is_sent_to_an_address_in_doubt(authorization, query):
    answer = authorization.get("/authorize", params=query)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (without("response_type"), "invalid_request"),
        ({**ASKED, "response_type": "id_token"}, "unsupported_response_type"),
        ({**ASKED, "scope[0]": "everything"}, "invalid_scope"),
        ({**without("scope[0]"), "scope[1]": ""}, "invalid_scope"),
        ({**without("scope[0]"), "scope[1]": "", "scope": "auth"}, "invalid_scope"),
        ({**ASKED, "code_challenge": "short"}, "invalid_request"),
        ({**ASKED, "code_challenge": "c" * 43, "code_challenge_method": "S1"}, "invalid_request"),
        ({**ASKED, "code_challenge_method": "S256"}, "invalid_request"),
        ([*ASKED.items(), ("scope[0]", "auth")], "invalid_request"),
    ],
)
def test_other_mistakes_are_told_to_the_application(authorization, query, error):
    answer = authorization.get("/authorize", params=query)
    values = sent(answer, "query")
    assert (answer.status_code, values["error"], values["state"]) == (302, error, "a b&c")


def test_mistakes_of_the_implicit_grant_are_told_in_the_fragment(authorization):
    query = {**ASKED, "response_type": "token", "scope[0]": "everything"}
    assert sent(authorization.get("/authorize", params=query), "fragment")["error"]


def test_the_query_of_a_registered_address_stays(authorization):
    asked = {**ASKED, "redirect_uri": BACK_WITH_QUERY}
    answer = authorization.post("/authorize", params=asked, data=SIGNED_IN)
    assert answer.headers["location"].startswith("http://127.0.0.1:9999/back?from=beacon&code=")


def test_an_operator_may_grant_without_a_page():
    with served(options=Options(approve="isolde")) as addresses:
        answer = patient.get(f"{addresses.auth_url}/oauth2/authorize", params=ASKED)
    assert answer.status_code == 302
    assert sent(answer, "query").keys() == {"code", "state"}
