"""The token of any service is had by a grant or a login operation that the target file describes."""

from base64 import b64encode
from dataclasses import replace
from urllib.parse import parse_qs

import httpx
import orjson
import pytest

from understudy.api.opening import as_if_logged_in, logged_in, open_deployment
from understudy.api.options import DeploymentOptions
from understudy.errors import StartupError
from understudy.exchange.messages import Request
from understudy.verify.transport import received

PASSWORD = "correct-horse"
BASIC = b64encode(f"client:{PASSWORD}".encode()).decode()


def respond(request: httpx.Request) -> httpx.Response:
    """Responds as a service with a token endpoint and two login operations."""
    if request.url.path == "/v1/token":
        form = {name: texts[0] for name, texts in parse_qs(request.content.decode()).items()}
        known = {**form, "basic": request.headers.get("authorization", "")}
        by = {"client_credentials": "basic", "password": "password"}[form["grant_type"]]
        is_known = known[by] in {f"Basic {BASIC}", PASSWORD}
        body = {"access_token": f"by-{form['grant_type']}"} if is_known else {"error": "unknown"}
        return httpx.Response(200 if is_known else 401, json=body)
    sent = orjson.loads(request.content)
    if sent.get("user", sent).get("password") != PASSWORD:
        return httpx.Response(403, json={"message": "no"})
    return httpx.Response(
        200, json={"tokens": [{"value": "by-login"}], "user": {"token": "nested"}}
    )


@pytest.fixture
def token_of(tmp_path):
    def token_of(login: str) -> str | None:
        path = tmp_path / "target.toml"
        path.write_text(f'base_url = "http://127.0.0.1:9/v1"\n[login]\n{login}')
        environment = {"SECRET": PASSWORD, "CLIENT": f"client:{PASSWORD}"}
        opened = open_deployment(DeploymentOptions(path), environment)
        target = logged_in(replace(opened, transport=httpx.MockTransport(respond))).target
        assert PASSWORD in " ".join(target.secrets())
        return target.credentials.access_token

    return token_of


@pytest.mark.parametrize(
    ("login", "expected"),
    [
        (
            'path = "/token"\nbasic = "env:CLIENT"\nform = {grant_type = "client_credentials"}',
            "by-client_credentials",
        ),
        (
            'path = "/token"\nform = {grant_type = "password", password = "env:SECRET"}',
            "by-password",
        ),
        (
            'path = "/sessions"\njson = {password = "env:SECRET"}\ntoken = "tokens/0/value"',
            "by-login",
        ),
        (
            'path = "/sessions"\njson = {user = {password = "env:SECRET"}}\ntoken = "user/token"',
            "nested",
        ),
    ],
)
def test_a_token_is_had_as_the_target_file_says(token_of, login, expected):
    assert token_of(login) == expected


def test_a_login_that_is_refused_is_named_with_its_response(token_of):
    with pytest.raises(StartupError, match=r"\[login\] POST .*/sessions answers 403") as refused:
        token_of('path = "/sessions"\njson = {password = "wrong"}')
    assert "wrong" not in str(refused.value)


def test_a_plan_counts_a_token_that_a_login_would_obtain(tmp_path):
    path = tmp_path / "target.toml"
    path.write_text('base_url = "http://127.0.0.1:9/v1"\n[other_login]\npath = "/sessions"')
    planned = as_if_logged_in(open_deployment(DeploymentOptions(path), {}))
    assert "other" in planned.target.identities()
    assert "owner" not in planned.target.identities()


class Sessions:
    """A service whose tokens end with ``DELETE /v1/sessions``."""

    def __init__(self, refusal: int = 401, most: int = 100) -> None:
        self.valid: set[str] = set()
        self.most = most
        self.logins = 0
        self.refusal = refusal

    def respond(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            self.logins += 1
            if self.logins > self.most:
                return httpx.Response(429)
            self.valid = {f"token-{self.logins}"}
            return httpx.Response(200, json={"token": f"token-{self.logins}"})
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.valid:
            return httpx.Response(401)
        if request.method == "DELETE":
            self.valid.clear()
            return httpx.Response(204)
        return httpx.Response(200 if request.url.path == "/v1/own" else self.refusal)


@pytest.fixture
def session(tmp_path):
    def session(service: Sessions):
        path = tmp_path / "target.toml"
        login = '[login]\npath = "/sessions"\ntoken = "token"'
        path.write_text(f'base_url = "http://127.0.0.1:9/v1"\n{login}')
        opened = open_deployment(DeploymentOptions(path), {})
        deployment = logged_in(replace(opened, transport=httpx.MockTransport(service.respond)))
        token = deployment.target.credentials.access_token

        def status(method: str, target: str, credential: str = f"Bearer {token}") -> int:
            headers = (("authorization", credential),)
            request = Request(method, f"http://127.0.0.1:9/v1{target}", headers)
            return received(deployment.transport, request).status

        return status

    return session


def test_a_token_that_is_no_longer_accepted_is_had_anew(session):
    service = Sessions()
    status = session(service)
    assert status("DELETE", "/sessions") == 204
    assert [status("GET", "/own"), status("GET", "/own")] == [200, 200]
    assert service.logins == 2


def test_no_login_follows_a_refusal_of_another_token(session):
    service = Sessions()
    status = session(service)
    for credential in ("Bearer token-1x", "Bearer x", "Bearer  token-1", 'Bearer "token-1"'):
        assert status("GET", "/own", credential) == 401
    assert service.logins == 1


def test_a_service_that_refuses_a_valid_token_by_401_is_asked_for_few_tokens(session):
    service = Sessions()
    status = session(service)
    assert {status("GET", "/foreign") for _ in range(20)} == {401}
    assert status("GET", "/own") == 200
    assert service.logins == 4


def test_a_login_that_is_refused_in_the_middle_of_a_run_does_not_end_the_run(session):
    service = Sessions(most=1)
    status = session(service)
    assert status("DELETE", "/sessions") == 204
    assert {status("GET", "/own") for _ in range(3)} == {401}
    assert service.logins == 2
