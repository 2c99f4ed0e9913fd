"""What was secret stands in no answer but the one that hands it out, and in no log line."""

import httpx
import pytest
from tests.mock.authserver.conftest import (
    CHALLENGE,
    CREDENTIALS,
    EXCHANGE,
    PASSWORD,
    RESOURCE,
    VERIFIER,
    Browser,
    hidden,
)

from understudy.cli.serve import log_lines
from understudy.mock.app import Mock
from understudy.mock.settings import Settings

LASTING = ("server-app-secret", "ada-password", VERIFIER, "whisper9")


class Witness(Browser):
    """A browser that keeps everything it is answered."""

    def __init__(self, mock):
        super().__init__(mock)
        self.answers: list[httpx.Response] = []
        self.event_hooks = {"response": [self.answers.append]}

    def told(self):
        """Returns all answers as text, heads and bodies."""
        return [f"{dict(answer.headers)} {answer.text}" for answer in self.answers]


def live(browser):
    """Does everything that has a secret in it, rightly and wrongly; returns what was issued."""
    browser.sign_in()
    browser.post("/sign-in", data={**hidden(browser.get("/sign-in")), "password": "whisper9"})
    pkce = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    code = browser.code(**pkce)
    form = {**EXCHANGE, "code": code}
    for changes in (
        {"code_verifier": "whisper9"},
        {"client_secret": "whisper9"},
        {"code": "whisper9"},
    ):
        browser.post("/oauth2/token", data={**form, **changes})
    for name in ("client_secret", "code", "code_verifier", "password"):
        browser.post("/oauth2/token", params={name: "whisper9"}, data=form)
    token = browser.post("/oauth2/token", data={**form, "code_verifier": VERIFIER}).json()
    browser.post("/oauth2/token", data={**form, "code_verifier": VERIFIER})
    browser.post("/oauth2/token", data={**PASSWORD, "password": "whisper9"})
    browser.post("/oauth2/token", json={**PASSWORD, "password": "whisper9"})
    browser.post("/oauth2/token", data={**CREDENTIALS, "grant_type": "refresh_token"})
    browser.get("/oauth2/token-info", params={"client_id": "server-app", "token": "whisper9"})
    browser.get("/oauth2/authorize", params={"client_id": "x", "password": "whisper9"})
    browser.get(f"{RESOURCE}/v3/me/profile", params={"access_token": "whisper9"})
    browser.get(f"{RESOURCE}/v3/me/profile", headers={"Authorization": "Bearer whisper9"})
    browser.get("/apps/server-app")
    return code, token["access_token"]


def test_no_answer_repeats_a_secret(mock):
    with Witness(mock) as browser:
        code, token = live(browser)
        told = browser.told()
    for secret in LASTING:
        repeated = [text for text in told if secret in text]
        assert repeated == []
    assert len([text for text in told if code in text]) == 1  # the redirect that hands it out
    assert len([text for text in told if token in text]) == 1


@pytest.mark.parametrize("log", ["text", "json"])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_no_log_line_keeps_a_secret(log, is_terminal):
    lines: list[str] = []
    mock = Mock(Settings(), log_lines(log, lines.append, is_terminal=is_terminal))
    with Browser(mock) as browser:
        code, token = live(browser)
    assert len(lines) > 20
    for secret in (*LASTING, code, token):
        assert [line for line in lines if secret in line] == []
