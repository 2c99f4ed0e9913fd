"""The mock in the words of a deployment that uses others (``--vocabulary``)."""

import asyncio
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import httpx
import pytest
from tests.interface.test_vocabulary import OTHER_WORDS
from tests.mock.service.test_oracle import PORTRAIT

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

ME = {"Authorization": "Bearer ada-full"}
READER = {"Authorization": "Bearer ada-read-only"}
PASSWORD = {
    "grant_type": "password",
    "client_id": "server-app",
    "client_secret": "server-app-secret",
    "username": "ada",
    "password": "ada-password",
}
DOCUMENT = Path(__file__).with_name("documents") / "published-3.1.yaml"

Request = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> Path:
    path: Path = tmp_path_factory.mktemp("words") / "words.yaml"
    path.write_text(OTHER_WORDS)
    return path


def sender(settings: Settings) -> Iterator[Request]:
    mock = Mock(settings)

    async def send(method: str, path: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(mock.resource)
        base_url = "http://127.0.0.1:8080"
        async with httpx.AsyncClient(transport=transport, base_url=base_url) as client:
            return await client.request(method, path, **options)

    with asyncio.Runner() as runner:
        yield lambda *args, **options: runner.run(send(*args, **options))


@pytest.fixture(scope="module")
def ask(words: Path) -> Iterator[Request]:
    yield from sender(Settings(single_port=True, vocabulary=words))


@pytest.fixture(scope="module")
def ask_by_document(words: Path) -> Iterator[Request]:
    yield from sender(Settings(single_port=True, vocabulary=words, document=DOCUMENT))


def test_tokens_are_granted_and_described_in_these_scopes(ask):
    token = ask("POST", "/oauth2/token", data={**PASSWORD, "scope": "login gallery:read"}).json()
    assert token["scope"] == "login gallery:read"
    query = {"client_id": "server-app", "token": token["access_token"]}
    assert ask("GET", "/oauth2/token-info", params=query).json()["scope"] == token["scope"]
    every = ask("POST", "/oauth2/token", data=PASSWORD).json()["scope"]
    assert every == "login gallery:read gallery:edit"


def test_a_scope_of_the_interface_is_unknown_there(ask):
    refusal = ask("POST", "/oauth2/token", data={**PASSWORD, "scope": "auth"}).json()
    assert refusal["error"] == "invalid_scope"
    assert "login, gallery:read, gallery:edit" in refusal["error_description"]


def test_the_consent_page_names_these_scopes(ask):
    query = {
        "client_id": "server-app",
        "redirect_uri": "http://127.0.0.1:5000/callback",
        "response_type": "token",
        "scope[0]": "login",
        "mock_approve": "ada",
    }
    redirect = ask("GET", "/oauth2/authorize", params=query)
    assert "access_token=" in redirect.headers["location"]
    page = ask("GET", "/oauth2/authorize", params={**query, "scope[0]": "auth"})
    assert "error=invalid_scope" in page.headers["location"]


def test_the_tokens_of_the_fixtures_keep_their_powers(ask):
    assert ask("PATCH", "/v3/me/profile", json={}, headers=ME).status_code == 200
    refusal = ask("PATCH", "/v3/me/profile", json={}, headers=READER)
    assert refusal.status_code == 403
    assert 'scope="gallery:edit login"' in refusal.headers["www-authenticate"]


def test_the_admin_api_issues_tokens_in_either_words(ask):
    for scopes in (["login", "gallery:read"], ["auth", "avatar-profile:read"]):
        token = ask("POST", "/__admin/tokens", json={"person": "ada", "scopes": scopes}).json()
        assert token["scopes"] == ["login", "gallery:read"]


def test_an_exported_world_is_imported_with_its_tokens(ask):
    archive = ask("GET", "/__admin/export").content
    with ZipFile(BytesIO(archive)) as files:
        assert b"avatar-profile:read" in files.read("tokens.yaml")
    kind = {"Content-Type": "application/zip"}
    imported = ask("POST", "/__admin/import", content=archive, headers=kind)
    assert imported.status_code == 204, imported.text
    assert ask("PATCH", "/v3/me/profile", json={}, headers=ME).status_code == 200


def test_rate_limits_are_told_under_this_prefix(ask):
    headers = ask("GET", "/v3/profiles/ada").headers
    assert headers["x-gallery-quota-limit"] == "100"
    assert {"x-gallery-quota-remaining", "x-gallery-quota-reset"} < set(headers)
    assert not [name for name in headers if name.startswith("x-ratelimit")]


def test_a_qr_code_takes_this_type_and_not_the_interfaces(ask):
    assert ask("GET", "/v3/qr-code/ada?type=logo").status_code == 200
    refusal = ask("GET", "/v3/qr-code/ada?type=service")
    assert refusal.status_code == 400
    assert "logo" in refusal.json()["error"]


def test_an_upload_is_sent_as_this_field(ask):
    files = {"picture": ("a.png", PORTRAIT)}
    assert ask("POST", "/v3/me/avatars", files=files, headers=ME).status_code == 200
    other = {"portrait": ("a.png", PORTRAIT)}
    refusal = ask("POST", "/v3/me/avatars", files=other, headers=ME)
    assert refusal.status_code == 400
    assert "picture" in refusal.text


def test_a_message_names_the_field_that_was_sent(ask):
    files = {"image": ("a.txt", b"text")}
    refusal = ask("POST", "/v3/me/avatars", files=files, headers=ME)
    assert refusal.json()["error"].startswith("image: ")


def test_the_document_in_force_decides_where_it_says_a_word(ask_by_document):
    ask = ask_by_document
    files = {"image": ("a.png", PORTRAIT)}
    assert ask("POST", "/v3/me/avatars", files=files, headers=ME).status_code == 200
    headers = ask("GET", "/v3/profiles/ada").headers
    assert headers["x-ratelimit-limit"] == "100"  # declared so
    assert "x-gallery-quota-reset" in headers  # declared by no name
    granted = ask("POST", "/oauth2/token", data=PASSWORD).json()["scope"]
    assert granted == "login read manage"  # of its operations
