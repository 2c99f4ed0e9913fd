"""Under a definition with other quirks, strangers, owners and unknown people get what it declares."""

from pathlib import Path

import pytest
from tests.mock.service.test_newer_service import FILES, ME, NOBODY, SEARCH, judging, read
from tests.mock.service.test_oracle import ADA_AVATAR, ADA_HASH

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

DOCUMENT = Path(__file__).with_name("another_newer_service.yaml")
KEY, WRONG_KEY = {"X-Api-Key": "ada-api-key"}, {"X-Api-Key": "wrong"}
AVATAR = f"/me/avatars/{ADA_AVATAR}"


@pytest.fixture(params=["on", "off"], scope="session")
def built(request) -> Mock:
    return Mock(Settings(document=DOCUMENT, choices={"rate-limits": request.param}))


@pytest.fixture(scope="module")
def oracle():
    return read(DOCUMENT)


@pytest.fixture
def judged(ask, oracle):
    return judging(ask, oracle)


CASES = [
    ("GET", "/profiles/ada", {}, None, 200),
    ("GET", "/profiles/ada", {}, ME, 200),
    ("GET", "/profiles/ada", {"headers": KEY}, None, 200),
    ("GET", "/profiles/ada", {"headers": WRONG_KEY}, None, 401),
    ("GET", f"/profiles/{NOBODY}", {}, None, 404),
    ("GET", "/profiles/hush", {}, None, 403),
    ("GET", f"{SEARCH}?account=ada", {}, None, 401),
    ("GET", f"{SEARCH}?account=ada", {}, ME, 200),
    ("GET", f"{SEARCH}?account=a", {}, ME, 400),
    ("GET", "/verified-accounts/services", {}, None, 401),
    ("GET", "/verified-accounts/services", {}, ME, 200),
    ("GET", "/verified-accounts/services", {"headers": KEY}, None, 200),
    ("GET", "/verified-accounts/services", {"headers": WRONG_KEY}, None, 401),
    ("GET", "/qr-code/ada", {}, None, 200),
    ("GET", "/qr-code/ada?size=3", {}, None, 400),
    ("GET", "/me/avatars", {}, None, 401),
    ("GET", "/me/avatars", {}, "ben-full", 200),
    ("POST", "/me/avatars", {"files": {"file": FILES["image"]}}, ME, 200),
    ("PATCH", AVATAR, {"json": {"rating": "PG"}}, ME, 200),
    ("PATCH", AVATAR, {"json": {"rating": "PG"}}, "ben-full", 404),
    ("DELETE", AVATAR, {}, ME, 200),
    ("POST", f"{AVATAR}/email", {"json": {"email_hash": ADA_HASH}}, ME, 200),
    ("GET", f"/me/associated-email?email_hash={ADA_HASH}", {}, ME, 200),
    ("GET", "/me/associated-email?email_hash=short", {}, ME, 400),
    ("GET", "/me/profile", {}, "ben-full", 200),
    ("GET", "/me/profile", {}, None, 401),
    ("PATCH", "/me/profile", {"json": {"display_name": "A.", "tagline": None}}, ME, 200),
    ("PATCH", "/me/profile", {"json": {"nickname": "A."}}, ME, 400),
]


@pytest.mark.parametrize(("method", "path", "options", "token", "status"), CASES)
def test_every_response_is_as_the_document_declares(judged, method, path, options, token, status):
    response = judged(method, path, token, **options)
    assert response.status_code == status, response.text


def test_a_refusal_without_a_code_has_that_of_its_status(judged):
    assert judged("GET", "/me/profile").json()["code"] == "unauthorized"


def test_a_change_has_the_body_that_the_document_declares(judged):
    chosen = judged("POST", f"{AVATAR}/email", ME, json={"email_hash": ADA_HASH}).json()
    assert chosen["image_id"] == ADA_AVATAR
    assert judged("DELETE", AVATAR, ME).json() == {"deleted": True, "image_id": ADA_AVATAR}


def test_a_list_stands_in_the_object_that_the_document_declares_around_it(judged):
    listed = judged("GET", "/me/avatars", ME).json()
    assert ADA_AVATAR in [it["image_id"] for it in listed["avatars"]]
    assert listed["total"] == len(listed["avatars"])
    services = judged("GET", "/verified-accounts/services", ME).json()
    assert services["meta"]["total"] == len(services["items"])
    for service in services["items"][:2]:
        found = judged("GET", f"{SEARCH}?account=ada&service={service['service_type']}", ME).json()
        assert found["total"] == len(found["results"])
    assert "photos" in [it["service_type"] for it in services["items"]]
    assert judged("GET", f"{SEARCH}?account=ada&service=photos", ME).json()["results"]


def test_what_a_response_repeats_of_its_request_is_what_was_sent(judged):
    response = judged("GET", f"/me/associated-email?email_hash={ADA_HASH}", ME).json()
    assert (response["associated"], response["email_hash"]) == (True, ADA_HASH)


def test_a_date_of_registration_has_a_time_only_where_the_document_declares_one(judged):
    assert judged("GET", "/profiles/ada", ME).json()["registration_date"] == "2015-04-01"
