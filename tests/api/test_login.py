"""The token of any service is had by a grant or a login operation that the target file describes."""

from base64 import b64encode
from dataclasses import replace
from urllib.parse import parse_qs

import httpx
import orjson
import pytest

from understudy.api.opening import logged_in, open_deployment
from understudy.api.options import DeploymentOptions
from understudy.errors import StartupError

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
