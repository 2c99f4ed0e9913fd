"""People sign in at the mock while the authorization server does not respond, and stay signed in."""

from collections.abc import Iterator

import httpx
import pytest
from tests.mock.authserver.conftest import answered, hidden
from tests.record.proxied import ADA, AUTH_PROXY, PROXY, MockedDeployment, Session, proxied
from tests.record.test_fallback import Outage
from tests.record.test_sign_in import ThroughProxy

CLIENT = {"client_id": "an-app", "redirect_uri": "http://127.0.0.1:5173/"}
REQUEST = {**CLIENT, "scope[0]": "auth", "scope[1]": "avatar-profile:read", "state": "s"}
EXCHANGE = {**CLIENT, "client_secret": "its-secret", "grant_type": "authorization_code"}


@pytest.fixture
def outage() -> Outage:
    return Outage()


@pytest.fixture
def session(outage: Outage) -> Iterator[Session]:
    """A proxy with a fallback, of which somebody's profile has passed before the outage."""
    with proxied(MockedDeployment(outage), fallback=print) as session:
        session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
        outage.failure = httpx.ConnectError("down")
        yield session


@pytest.fixture
def browser(session: Session) -> Iterator[httpx.Client]:
    with httpx.Client(transport=ThroughProxy(session), base_url=AUTH_PROXY) as browser:
        yield browser


def consented(browser: httpx.Client, **parameters: str) -> dict[str, str]:
    """Signs in as the person whom the mock knows, and returns what the redirect tells the app."""
    page = browser.get("/oauth2/authorize", params={**REQUEST, **parameters})
    assert page.headers["x-mock-responder"] == "fallback"
    page = browser.post("/sign-in", data={**hidden(page), "person": "ada"})
    if page.is_redirect:
        page = browser.get(page.headers["location"])
    return answered(browser.post("/consent", data={**hidden(page), "decision": "approve"}))


def test_a_code_of_the_mock_is_exchanged_there_and_its_token_works_after_the_outage(
    session, outage, browser
):
    code = consented(browser, response_type="code")["code"]
    outage.failure = None
    exchanged = browser.post("/oauth2/token", data={**EXCHANGE, "code": code})
    assert exchanged.headers["x-mock-responder"] == "mock"
    token = {"Authorization": f"Bearer {exchanged.json()['access_token']}"}
    own = session.request("GET", f"{PROXY}/v3/me/profile", headers=token)
    theirs = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
    assert (own.headers["x-mock-responder"], own.json()["hash"]) == ("mock", theirs.json()["hash"])
    assert "x-mock-responder" not in theirs.headers
    assert session.findings == []


def test_a_sign_in_that_was_begun_at_the_mock_ends_there(outage, browser):
    page = browser.get("/oauth2/authorize", params={**REQUEST, "response_type": "token"})
    outage.failure = None
    signed_in = browser.post("/sign-in", data={**hidden(page), "person": "ada"})
    assert signed_in.headers["x-mock-responder"] == "mock"
    again = browser.get("/oauth2/authorize", params={**REQUEST, "response_type": "token"})
    assert "x-mock-responder" not in again.headers


@pytest.mark.parametrize("grant", ["authorization_code", "password"])
def test_a_code_or_password_of_the_deployment_is_not_judged_by_the_mock(session, grant):
    form = {**EXCHANGE, "grant_type": grant, "code": "of-the-deployment", "username": "ada"}
    response = session.request("POST", f"{AUTH_PROXY}/oauth2/token", data=form)
    assert (response.status_code, response.json()["error"]) == (502, "bad_gateway")


def test_the_admin_api_of_the_mock_is_not_reached(session):
    response = session.request("GET", f"{AUTH_PROXY}/__admin/applications")
    assert response.status_code == 502
