"""openapi-core judges the mock's answers: a second opinion that shares no code with ours."""

from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

from understudy.openapi.bundled import fixtures_directory, openapi_directory

PORTRAIT = (fixtures_directory() / "images" / "portrait-amber.png").read_bytes()
ADA_AVATAR = "288781428e4dfa058dcb4ccb157f0b79"
ADA_HASH = "b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72"
PEOPLE = sorted(path.stem for path in (fixtures_directory() / "people").glob("*.yaml"))


class Asked:
    """A request as openapi-core reads it."""

    def __init__(self, request: httpx.Request) -> None:
        parts = urlsplit(str(request.url))
        self.host_url = f"{parts.scheme}://{parts.netloc}"
        self.path = parts.path
        self.method = request.method.lower()
        self.body = request.read()
        self.content_type = request.headers.get("content-type", "")
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(request.url.params.multi_items()),
            header=Headers(list(request.headers.items())),
        )


class Answered:
    """A response as openapi-core reads it."""

    def __init__(self, response: httpx.Response) -> None:
        self.data = response.content
        self.status_code = response.status_code
        self.content_type = response.headers.get("content-type", "")
        self.headers = response.headers


@cache
def oracle(name: str) -> Any:
    return OpenAPI.from_file_path(str(openapi_directory() / name))


def judged(response: httpx.Response, document: str = "service.yaml") -> httpx.Response:
    """Returns a response that openapi-core finds nothing wrong with."""
    oracle(document).validate_response(Asked(response.request), Answered(response))
    return response


@pytest.mark.parametrize("token", [None, "ada-full", "ada-api-key", "hush-full"])
@pytest.mark.parametrize("slug", PEOPLE)
def test_every_persons_profile_keeps_to_the_document(ask, slug, token):
    response = judged(ask("GET", f"/v3/profiles/{slug}", token))
    assert response.status_code in {200, 403, 404}


@pytest.mark.parametrize("slug", PEOPLE)
def test_every_person_is_valid_by_the_document_with_all_that_a_token_shows(ask, slug):
    response = ask("GET", f"/v3/profiles/{slug}", "hush-full" if slug == "hush" else "ada-full")
    if slug != "gone":
        assert judged(response).json()["number_verified_accounts"] >= 0


@pytest.mark.parametrize("query", ["", "?size=1", "?size=300&version=3&type=user&utm_medium=m"])
def test_qr_codes_keep_to_the_document(ask, query):
    assert judged(ask("GET", f"/v3/qr-code/ada{query}")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("GET", "/v3/me/avatars", {}, 200),
        ("POST", "/v3/me/avatars", {"files": {"data": PORTRAIT}}, 200),
        ("PATCH", f"/v3/me/avatars/{ADA_AVATAR}", {"json": {"rating": "PG"}}, 200),
        ("POST", f"/v3/me/avatars/{ADA_AVATAR}/email", {"json": {"email_hash": ADA_HASH}}, 204),
        ("DELETE", f"/v3/me/avatars/{ADA_AVATAR}", {}, 204),
        ("GET", "/v3/me/profile", {}, 200),
        ("PATCH", "/v3/me/profile", {"json": {"location": ""}}, 200),
        ("GET", f"/v3/me/associated-email?email_hash={ADA_HASH}", {}, 200),
        ("GET", "/v3/openapi", {}, 200),
    ],
)
def test_every_operation_of_the_caller_keeps_to_the_document(ask, method, path, options, status):
    assert judged(ask(method, path, "ada-full", **options)).status_code == status


@pytest.mark.parametrize(
    ("method", "path", "token", "options", "status"),
    [
        ("GET", "/v3/profiles/nobody", None, {}, 404),
        ("GET", "/v3/profiles/hush", None, {}, 403),
        ("GET", "/v3/profiles/ada", "wrong", {}, 401),
        ("GET", "/v3/qr-code/ada?size=0", None, {}, 400),
        ("GET", "/v3/qr-code/ada?size=1_0", None, {}, 400),
        ("GET", "/v3/qr-code/ada?version=2", None, {}, 400),
        ("GET", "/v3/me/profile", None, {}, 401),
        ("GET", "/v3/me/profile", "ada-api-key", {}, 401),
        ("GET", "/v3/me/profile", "ada-expired", {}, 401),
        ("GET", "/v3/me/profile", "ada-auth-only", {}, 403),
        ("GET", "/v3/me/profile", "gone-full", {}, 404),
        ("PATCH", "/v3/me/profile", "ada-read-only", {"json": {}}, 403),
        ("PATCH", "/v3/me/profile", "ada-full", {"json": {"hash": "x"}}, 400),
        ("PATCH", "/v3/me/profile", "ada-full", {"json": {"location": 5}}, 400),
        ("POST", "/v3/me/avatars", "ada-full", {"files": {"data": b"no picture"}}, 400),
        ("POST", "/v3/me/avatars", "ada-full", {"files": {"other": PORTRAIT}}, 400),
        ("POST", "/v3/me/avatars", "ada-full", {"json": {}}, 415),
        ("DELETE", "/v3/me/avatars/nothing", "ada-full", {}, 404),
        ("GET", "/v3/me/associated-email", "ada-full", {}, 400),
    ],
)
def test_every_refusal_keeps_to_the_document(ask, method, path, token, options, status):
    response = judged(ask(method, path, token, **options))
    assert response.status_code == status
    assert response.json()["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/avatar/" + ADA_HASH,
        f"/avatar/{ADA_AVATAR}?s=200",
        "/avatar/nobody?d=identicon",
        "/image/header-waves.jpg",
        "/icons/blog.svg",
    ],
)
def test_what_answers_link_to_keeps_to_its_document(ask, path):
    assert judged(ask("GET", path), "web.yaml").status_code == 200
