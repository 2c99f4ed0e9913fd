"""The mock under the document of another service: its paths, its credentials, its start page."""

import asyncio
import html
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.mock.asking import SITE, Ask, asking

from understudy.errors import StartupError
from understudy.mock.app import Mock
from understudy.mock.settings import Settings, TokenPolicy
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import load

PETSTORE = Path(__file__).with_name("petstore.yaml")


@pytest.fixture(scope="module")
def ask() -> Ask:
    return asking(Mock(Settings(document=PETSTORE)))


@pytest.fixture(scope="module")
def ask_knowing() -> Ask:
    return asking(Mock(Settings(document=PETSTORE, tokens="known")))


def test_a_document_without_a_server_is_served_at_the_root(ask):
    assert ask("GET", "/pets?tag=cat").status_code == 200
    assert ask("GET", "/v3/pets?tag=cat").status_code == 404
    assert ask("GET", "/openapi").json()["servers"] == [{"url": SITE}]


SERVICE = load(openapi_directory() / "service.yaml").raw


def serving(directory: Path, document: dict[str, Any], **settings: Any) -> Mock:
    """Returns a mock that serves a document."""
    path = directory / "document.json"
    path.write_text(json.dumps(document))
    return Mock(Settings(document=path, **settings))


def bound(mock: Mock) -> set[str]:
    """Returns the operations that have a bundled handler."""
    return {it.operation.path for it in mock.endpoints if it.binding.handler is not None}


def test_our_own_service_keeps_its_base_path_without_a_server(tmp_path):
    mock = serving(tmp_path, {name: it for name, it in SERVICE.items() if name != "servers"})
    assert (mock.base_path, mock.listing) == ("/v3", None)


OTHER_PROFILE = {"properties": {"username": {"type": "string"}, "bio": {"type": "string"}}}
OTHER: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Articles", "version": "1"},
    "paths": {
        path: {
            "get": {
                "responses": {"200": {"content": {"application/json": {"schema": OTHER_PROFILE}}}}
            }
        }
        for path in ("/profiles/{username}", "/me/profile", "/openapi")
    },
}


def test_another_service_with_the_paths_of_ours_meets_no_handler(tmp_path):
    mock = serving(tmp_path, OTHER)
    assert (mock.base_path, bound(mock), len(mock.endpoints)) == ("", set(), 3)
    for path in ("/profiles/ada", "/me/profile", "/openapi"):
        assert asking(mock)("GET", path).json().keys() == {"username", "bio"}


def test_an_operation_of_ours_that_another_document_describes_otherwise_is_answered_from_it(
    tmp_path,
):
    paths = {**SERVICE["paths"], "/me/profile": OTHER["paths"]["/me/profile"]}
    mock = serving(tmp_path, {**SERVICE, "paths": paths})
    assert bound(mock) >= {"/profiles/{profileIdentifier}", "/me/avatars"}
    assert asking(mock)("GET", "/v3/me/profile").json().keys() == {"username", "bio"}


def test_without_handlers_every_response_is_made_from_the_document(tmp_path):
    mock = serving(tmp_path, SERVICE, handlers="off")
    assert (bound(mock), mock.base_path, len(mock.endpoints)) == (set(), "/v3", 10)
    profile = asking(mock)("GET", "/v3/profiles/nobody-at-all")
    assert (profile.status_code, profile.headers["x-mock-response"]) == (200, "generated")


def test_people_and_their_pictures_are_not_there(ask):
    browser = {"Accept": "text/html"}
    assert [ask("GET", path, headers=browser).status_code for path in ("/ada", "/avatar/ada")] == [
        404,
        404,
    ]
    assert ask("GET", "/petz").json()["message"].endswith("did you mean '/pets'?")


@pytest.mark.parametrize(
    ("request_", "is_let_in"),
    [
        ({"headers": {"X-Api-Key": "k"}}, True),
        ({"auth": ("someone", "something")}, True),
        ({"params": {"api_key": ""}}, True),
        ({}, False),
        ({"headers": {"Authorization": "Basic !"}}, False),
        ({"headers": {"Authorization": "Bearer x"}}, False),
    ],
)
def test_any_credential_of_a_declared_kind_is_let_in(ask, request_, is_let_in: bool):
    photo = {"file": ("photo.png", b"1")}
    answer = ask("PUT", "/pets/1/photo", files=photo, **request_)
    assert answer.status_code == (204 if is_let_in else 401)


def test_any_bearer_token_is_let_in(ask):
    pet = {"Authorization": "Bearer whatever"}
    assert ask("GET", "/pets/1", headers=pet).status_code == 200
    assert ask("GET", "/pets/1").status_code == 401


@pytest.mark.parametrize("text", ["whatever", "ada-expired"])
def test_known_tokens_are_those_of_the_fixtures(ask_knowing, text: str):
    sent = [{"Authorization": f"Bearer {token}"} for token in (text, "ada-full")]
    assert [ask_knowing("GET", "/pets/1", headers=it).status_code for it in sent] == [401, 200]
    keys = [{"X-Api-Key": token} for token in (text, "ada-api-key")]
    pet = {"json": {"name": "Rex", "kind": "dog"}}
    answers = [ask_knowing("POST", "/pets", headers=it, **pet) for it in keys]
    assert [answer.status_code for answer in answers] == [401, 201]
    assert "`understudy fixtures --list` shows" in answers[0].json()["message"]


def test_known_accounts_are_people_with_their_passwords(ask_knowing):
    accounts = [("ada", "wrong"), ("nemo", ""), ("ada", "ada-password")]
    answers = [ask_knowing("DELETE", "/pets/1", auth=account) for account in accounts]
    assert [answer.status_code for answer in answers] == [401, 401, 204]
    assert answers[0].headers["www-authenticate"] == 'Basic realm="understudy"'


def test_wrong_passwords_get_a_401_however_many_there_were(ask_knowing):
    answers = [ask_knowing("DELETE", "/pets/1", auth=("ben", "wrong")) for _ in range(25)]
    assert {answer.status_code for answer in answers} == {401}


def test_strict_tokens_have_the_scopes_that_the_document_names():
    strict = asking(Mock(Settings(document=PETSTORE, tokens="strict")))
    refused = strict("GET", "/pets/1", headers={"Authorization": "Bearer ada-full"})
    assert refused.status_code == 403
    assert "was not granted the scope this needs: read" in refused.json()["message"]


def test_any_token_is_refused_for_our_own_service_where_each_speaks_for_a_person():
    with pytest.raises(StartupError, match="--tokens any needs --document of another service"):
        Mock(Settings(tokens="any"))


@pytest.mark.parametrize(("tokens", "credential"), [(None, "anything"), ("known", "ada-full")])
def test_the_start_page_shows_operations_and_credentials_and_no_people(
    tokens: TokenPolicy | None, credential: str
):
    page = html.unescape(asking(Mock(Settings(document=PETSTORE, tokens=tokens)))("GET", "/").text)
    assert "Petstore, on your machine" in page
    assert f"curl {SITE}/pets/1 -H 'Authorization: Bearer {credential}'" in page
    assert page.count("data-copy=") >= 10
    assert "Merrowdale" not in page


def test_tokens_are_not_shown_to_other_machines():
    mock = Mock(Settings(document=PETSTORE, tokens="strict", host="0.0.0.0"))
    transport = httpx.ASGITransport(mock.resource, client=("192.0.2.7", 50_000))

    async def page() -> str:
        async with httpx.AsyncClient(transport=transport, base_url=SITE) as client:
            return (await client.get("/")).text

    text = asyncio.run(page())
    assert "Bearer TOKEN" in text
    assert "ada-full" not in text


def test_paths_below_oauth2_are_of_the_document_and_open_to_browsers(tmp_path):
    paths = {"/oauth2/token": {"post": {"responses": {"200": {"description": "A token."}}}}}
    mock = serving(tmp_path, {**OTHER, "paths": paths})
    headers = {"Origin": "http://app.example", "Host": "mock.example"}
    response = asking(mock)("POST", "/oauth2/token", headers=headers)
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "*"


def test_a_path_of_the_document_wins_over_the_mocks_own_at_one_port(tmp_path):
    document = tmp_path / "tokens.yaml"
    document.write_text(
        "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths:\n  /oauth2/token:\n    get:\n"
        "      responses: {'200': {description: T, content: {application/json: {example: {a: 1}}}}}\n"
    )
    answer = asking(Mock(Settings(document=document, single_port=True)))("GET", "/oauth2/token")
    assert answer.json() == {"a": 1}


def test_a_refusal_lists_all_violations_where_no_error_schema_is_declared(tmp_path):
    document = tmp_path / "bare.yaml"
    document.write_text(
        "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths:\n  /a:\n    get:\n      parameters:\n"
        "      - {name: b, in: query, required: true, schema: {type: integer}}\n"
        "      - {name: c, in: query, required: true, schema: {type: integer}}\n"
        "      responses: {'200': {description: T}}\n"
    )
    refused = asking(Mock(Settings(document=document)))("GET", "/a?c=x")
    assert refused.status_code == 400
    assert refused.json()["error"] == (
        "Query parameter 'b' is missing; it is required. "
        """Query parameter 'c': "x" is not of type "integer"."""
    )


def test_a_preferred_status_has_the_example_of_the_document(ask):
    preferred = ask("GET", "/pets?tag=cat", headers={"Prefer": "code=422"})
    assert preferred.status_code == 422
    assert preferred.json() == {
        "message": "Nope",
        "errors": [{"field": "name", "problem": "required"}],
    }
