"""Under a newer definition of the service, every response is as it declares: no client changes."""

from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace
from openapi_core import Config, OpenAPI
from tests.mock.service.conftest import SITE
from tests.mock.service.test_oracle import ADA_AVATAR, ADA_HASH, PORTRAIT, Answered, Asked

from understudy.mock.app import Mock
from understudy.mock.service.representations import public_profile
from understudy.mock.settings import Settings
from understudy.mock.store.people import PEOPLE, account_number

DOCUMENT = Path(__file__).with_name("newer_service.yaml")


ME, API_KEY = "ada-full", "ada-api-key"
NOBODY = "0" * 64
FILES = {"image": ("a.png", PORTRAIT)}
SEARCH = "/profiles/search/by-verified-account"


@pytest.fixture(params=["on", "off"], scope="session")
def built(request) -> Mock:
    return Mock(Settings(document=DOCUMENT, choices={"rate-limits": request.param}))


def read(document: Path, config: Config | None = None) -> OpenAPI:
    """Returns what judges responses by a document; slow, so once for all tests of a module."""
    servers = [{"url": f"{SITE}/v3"}]
    return OpenAPI.from_dict(
        {**yaml.safe_load(document.read_text()), "servers": servers}, config=config
    )


def judging(ask, oracle: OpenAPI):
    """Returns what sends a request, and finds nothing wrong with the response by a document."""

    def send(method, path, token=None, **options):
        response = ask(method, f"/v3{path}", token, **options)
        assert "x-mock-violation" not in response.headers, response.text
        oracle.validate_response(Asked(response.request), Answered(response))
        return response

    return send


@pytest.fixture(scope="module")
def oracle():
    return read(DOCUMENT)


@pytest.fixture
def judged(ask, oracle):
    return judging(ask, oracle)


CASES = [
    ("GET", "/profiles/ada", {}, None, 200),
    ("GET", "/profiles/ada", {}, ME, 200),
    ("GET", f"/profiles/{NOBODY}", {}, None, 404),
    ("GET", f"{SEARCH}?username=ada", {}, None, 401),
    ("GET", f"{SEARCH}?username=ada", {}, ME, 200),
    ("GET", f"{SEARCH}?username=nobody-at-all", {}, ME, 404),
    ("GET", "/verified-accounts/services", {}, None, 200),
    ("GET", "/verified-accounts/services", {}, "made-up", 200),
    ("GET", "/qr-code/ada?type=gallery", {}, None, 200),
    ("GET", f"/qr-code/{NOBODY}", {}, None, 200),
    ("GET", "/me/avatars", {}, None, 401),
    ("GET", "/me/avatars", {}, ME, 200),
    ("POST", "/me/avatars", {"files": FILES}, ME, 201),
    ("PATCH", f"/me/avatars/{ADA_AVATAR}", {"json": {"rating": "PG"}}, ME, 200),
    ("PATCH", f"/me/avatars/{NOBODY}", {"json": {"rating": "PG"}}, ME, 404),
    ("DELETE", f"/me/avatars/{ADA_AVATAR}", {}, ME, 200),
    ("POST", f"/me/avatars/{ADA_AVATAR}/email", {"json": {"email_hash": ADA_HASH}}, ME, 200),
    ("GET", f"/me/associated-email?email_hash={ADA_HASH}", {}, ME, 200),
    ("GET", f"/me/associated-email?email_hash={ADA_HASH}", {}, None, 401),
    ("GET", "/me/profile", {}, ME, 200),
    ("GET", "/me/profile", {}, None, 401),
    ("PATCH", "/me/profile", {"json": {"display_name": "A."}}, ME, 200),
]


@pytest.mark.parametrize(("method", "path", "options", "token", "status"), CASES)
def test_every_response_is_as_the_document_declares(judged, method, path, options, token, status):
    response = judged(method, path, token, **options)
    assert response.status_code == status, response.text


def test_a_rating_that_the_document_leaves_open_is_one_of_the_interface(ask):
    response = ask("PATCH", f"/v3/me/avatars/{ADA_AVATAR}", ME, json={"rating": "M"})
    assert response.status_code == 400
    assert "rating: 'M' is none of G, PG, R, X." in response.text


def test_the_profile_of_an_account_without_avatars_is_still_complete(ask, judged):
    for avatar in ask("GET", "/v3/me/avatars", ME).json():
        assert ask("DELETE", f"/v3/me/avatars/{avatar['image_id']}", ME).status_code == 200
    profile = judged("GET", "/profiles/ada", ME).json()
    assert [it["slug"] for it in profile["interests"]] == ["cartography", "hill-walking"]
    assert profile["user_id"] == int(account_number("ada"))
    assert profile["avatar_url"].endswith(f"/avatar/{ADA_HASH}")


def test_what_an_edit_stores_is_shown_where_it_is_declared_and_there_alone(judged):
    visibility = {"contact": "private", "payments": "public"}
    changes = {"contact_email": "ada@example.net", "section_visibility": visibility}
    profile = judged("PATCH", "/me/profile", ME, json=changes).json()
    assert profile["contact_info"]["email"] == "ada@example.net"
    assert profile["section_visibility"] == visibility
    assert "contact_email" not in profile


def test_what_one_operation_lists_another_finds(judged, mock):
    listed = [it["service_type"] for it in judged("GET", "/verified-accounts/services").json()]
    assert len(set(listed)) == len(listed) > 1
    account = next(iter(mock.world.get(PEOPLE, "ada").profile.verified_accounts))
    assert account.service_type in listed
    name = account.url.rpartition("/")[2]
    path = f"{SEARCH}?username={name}&service={account.service_type}&per_page=1"
    assert judged("GET", path, ME).json()["profiles"]


def test_declared_headers_have_the_values_of_the_mock(judged, mock):
    headers = judged("GET", f"/qr-code/{NOBODY}").headers
    assert headers["x-gallery-profile-status"] == "not-found"
    assert "x-profile-status" not in headers
    headers = judged("GET", "/profiles/ada").headers
    left = 100 if mock.world.choices["rate-limits"] == "off" else 98  # the QR code counts too
    assert headers["x-gallery-quota-ratelimit-remaining"] == str(left)
    assert headers["x-gallery-quota-ratelimit-limit"] == "100"
    assert not [name for name in headers if name.startswith("x-ratelimit")]


def test_the_public_sees_what_only_a_document_declares_and_nothing_that_the_interface_hides(built):
    person = replace(built.world.get(PEOPLE, "ada"), extra={"tagline": "Hello", "timezone": 5})
    shown = public_profile(person, "http://127.0.0.1", {"tagline", "timezone"})
    assert shown["tagline"] == "Hello"
    assert "timezone" not in shown
