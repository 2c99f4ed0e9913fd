"""Real client libraries against the running mock: with their defaults, and with the cure.

The default of two is HTTP Basic, which the service refuses; what it says must lead to the cure.
"""

import asyncio
import json
import subprocess
import sys
import time as machine_time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from httpx_oauth.oauth2 import GetAccessTokenError, OAuth2
from oauthlib.oauth2 import (
    AccessDeniedError,
    InvalidClientError,
    LegacyApplicationClient,
    MobileApplicationClient,
)
from requests_oauthlib import OAuth2Session
from tests import patient
from tests.mock.authserver.conftest import BROWSER_CALLBACK, CALLBACK, VERIFIER

SCOPE = ["auth", "avatar-profile:read"]
APPLICATION = ("server-app", "server-app-secret")
OWNER: dict[str, Any] = {"username": "ada", "password": "ada-password"}
CURE = "client_secret_post"


class Server:
    """A mock in a process of its own."""

    def __init__(self, base_url: str, auth_url: str) -> None:
        self.profile = f"{base_url}/me/profile"
        self.authorize = f"{auth_url}/oauth2/authorize"
        self.token = f"{auth_url}/oauth2/token"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    ready = tmp_path_factory.mktemp("serve") / "ready.json"
    command = Path(sys.executable).with_name("understudy")
    options = ("--port", "0", "--auth-port", "0", "--log", "off", "--ready-file", str(ready))
    with subprocess.Popen([command, "serve", *options], stdout=subprocess.DEVNULL) as process:
        try:
            yield Server(**addresses(ready, process))
        finally:
            process.terminate()


def addresses(ready: Path, process: subprocess.Popen[bytes]) -> dict[str, str]:
    """Waits for the mock and returns where it answers."""
    for _ in range(2400):
        if ready.exists():
            found: dict[str, str] = json.loads(ready.read_text())
            return found
        assert process.poll() is None, "the mock ended"
        machine_time.sleep(0.05)  # noqa: TID251 - another process is waited for
    pytest.fail("the mock did not answer within two minutes")


@pytest.fixture(autouse=True)
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets oauthlib speak to this machine without TLS."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


def followed(url: str) -> str:
    """Returns where the authorization server sends a browser."""
    answer = requests.get(url, allow_redirects=False, timeout=60)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def approved(session: OAuth2Session, server: Server) -> str:
    return followed(session.authorization_url(server.authorize, mock_approve="ada")[0])


def test_requests_oauthlib_by_default_is_refused_and_told_the_cure(server):
    with OAuth2Session(APPLICATION[0], redirect_uri=CALLBACK, scope=SCOPE) as session:
        back = approved(session, server)
        with pytest.raises(InvalidClientError, match=CURE):
            session.fetch_token(
                server.token, authorization_response=back, client_secret=APPLICATION[1]
            )


def test_requests_oauthlib_completes_the_code_grant(server):
    with OAuth2Session(APPLICATION[0], redirect_uri=CALLBACK, scope=SCOPE) as session:
        session.fetch_token(
            server.token,
            authorization_response=approved(session, server),
            include_client_id=True,
            client_secret=APPLICATION[1],
        )
        assert session.get(server.profile, timeout=60).json()["display_name"] == "Ada Merrowdale"


def test_requests_oauthlib_completes_the_code_grant_with_pkce(server):
    with OAuth2Session(APPLICATION[0], redirect_uri=CALLBACK, scope=SCOPE, pkce="S256") as session:
        session.fetch_token(
            server.token,
            authorization_response=approved(session, server),
            include_client_id=True,
            client_secret=APPLICATION[1],
        )
        assert session.get(server.profile, timeout=60).status_code == 200


def test_requests_oauthlib_raises_what_the_person_answered(server):
    with OAuth2Session(APPLICATION[0], redirect_uri=CALLBACK, scope=SCOPE) as session:
        back = followed(session.authorization_url(server.authorize, mock_deny="ada")[0])
        with pytest.raises(AccessDeniedError):
            session.fetch_token(server.token, authorization_response=back)


def test_requests_oauthlib_completes_the_implicit_grant(server):
    client = MobileApplicationClient("browser-app")
    with OAuth2Session(client=client, redirect_uri=BROWSER_CALLBACK, scope=SCOPE) as session:
        token = session.token_from_fragment(approved(session, server))
        assert int(token["expires_in"]) == 1209600
        assert session.get(server.profile, timeout=60).status_code == 200


def test_requests_oauthlib_by_default_is_refused_the_password_grant_too(server):
    with (
        OAuth2Session(client=LegacyApplicationClient(APPLICATION[0])) as session,
        pytest.raises(InvalidClientError, match=CURE),
    ):
        session.fetch_token(server.token, **OWNER, auth=APPLICATION)


def test_requests_oauthlib_completes_the_password_grant(server):
    with OAuth2Session(client=LegacyApplicationClient(APPLICATION[0])) as session:
        session.fetch_token(
            server.token, **OWNER, include_client_id=True, client_secret=APPLICATION[1]
        )
        assert session.get(server.profile, timeout=60).status_code == 200


def authlib(**options: str) -> AuthlibSession:
    return AuthlibSession(*APPLICATION, redirect_uri=CALLBACK, scope=SCOPE, **options)


def test_authlib_by_default_is_refused_and_told_the_cure(server):
    with authlib() as session:
        url, state = session.create_authorization_url(server.authorize, mock_approve="ada")
        with pytest.raises(OAuthError, match=CURE):
            session.fetch_token(server.token, authorization_response=followed(url), state=state)
        with pytest.raises(OAuthError, match=CURE):
            session.fetch_token(server.token, **OWNER)


def test_authlib_completes_the_code_grant_with_pkce(server):
    with authlib(token_endpoint_auth_method=CURE, code_challenge_method="S256") as session:
        url, state = session.create_authorization_url(
            server.authorize, code_verifier=VERIFIER, mock_approve="ada"
        )
        session.fetch_token(
            server.token,
            authorization_response=followed(url),
            state=state,
            code_verifier=VERIFIER,
        )
        assert session.get(server.profile, timeout=60).json()["display_name"] == "Ada Merrowdale"


def test_authlib_completes_the_implicit_grant(server):
    with AuthlibSession("browser-app", redirect_uri=BROWSER_CALLBACK, scope=SCOPE) as session:
        url, state = session.create_authorization_url(
            server.authorize, response_type="token", mock_approve="ada"
        )
        session.fetch_token(authorization_response=followed(url), state=state)
        assert session.get(server.profile, timeout=60).status_code == 200


def test_authlib_completes_the_password_grant(server):
    with authlib(token_endpoint_auth_method=CURE) as session:
        session.fetch_token(server.token, **OWNER)
        assert session.get(server.profile, timeout=60).status_code == 200


async def httpx_oauth_token(client: OAuth2) -> str:
    url = await client.get_authorization_url(
        CALLBACK, state="s", scope=SCOPE, extras_params={"mock_approve": "ada"}
    )
    code = httpx.URL(followed(url)).params["code"]
    token = await client.get_access_token(code, CALLBACK)
    return str(token["access_token"])


def test_httpx_oauth_with_http_basic_is_refused_and_told_the_cure(server):
    client = OAuth2(
        *APPLICATION,
        server.authorize,
        server.token,
        token_endpoint_auth_method="client_secret_basic",
    )
    with pytest.raises(GetAccessTokenError) as caught:
        asyncio.run(httpx_oauth_token(client))
    assert caught.value.response is not None
    assert CURE in caught.value.response.json()["error_description"]


def test_httpx_oauth_completes_the_code_grant_with_its_defaults(server):
    client = OAuth2(*APPLICATION, server.authorize, server.token)
    token = asyncio.run(httpx_oauth_token(client))
    headers = {"Authorization": f"Bearer {token}"}
    assert patient.get(server.profile, headers=headers).status_code == 200
