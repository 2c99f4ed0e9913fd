"""Under a definition that nests its bodies, every response is as it declares, and means what it says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from openapi_core import Config
from tests.mock.service.test_newer_service import ME, NOBODY, SEARCH, judging, read
from tests.mock.service.test_oracle import ADA_AVATAR, ADA_HASH, PORTRAIT

from understudy.mock.app import Mock
from understudy.mock.server.completion import uuid_of
from understudy.mock.settings import Settings

DOCUMENT = Path(__file__).with_name("third_newer_service.yaml")
KEY, WRONG_KEY = "app_key=ada-api-key", "app_key=wrong"
AVATAR = f"/me/avatars/{ADA_AVATAR}"
BEN = "ben-full"
MERGE = {"json": {"rating": "PG"}, "headers": {"Content-Type": "application/merge-patch+json"}}
READERS: dict[str, Callable[[bytes], Any]] = {
    "application/problem+json": lambda content, **_: json.loads(content)
}


@pytest.fixture(params=["on", "off"], scope="session")
def built(request) -> Mock:
    return Mock(Settings(document=DOCUMENT, choices={"rate-limits": request.param}))


@pytest.fixture(scope="module")
def oracle():
    return read(DOCUMENT, Config(extra_media_type_deserializers=READERS))


@pytest.fixture
def judged(ask, oracle):
    return judging(ask, oracle)


CASES = [
    ("GET", "/profiles/ada", {}, None, 200),
    ("GET", "/profiles/ada", {}, ME, 200),
    ("GET", "/profiles/ada", {}, "made-up", 401),
    ("GET", f"/profiles/ada?{KEY}", {}, None, 200),
    ("GET", f"/profiles/ada?{WRONG_KEY}", {}, None, 401),
    ("GET", f"/profiles/{NOBODY}", {}, None, 404),
    ("GET", f"/profiles/{NOBODY}", {}, ME, 404),
    ("GET", f"{SEARCH}?username=ada", {}, None, 200),
    ("GET", f"{SEARCH}?username=ada", {}, ME, 200),
    ("GET", f"{SEARCH}?username=", {}, None, 400),
    ("GET", "/verified-accounts/services", {}, None, 200),
    ("GET", f"/verified-accounts/services?{KEY}", {}, None, 200),
    ("GET", "/qr-code/ada?version=3", {}, None, 200),
    ("GET", f"/qr-code/{NOBODY}", {}, None, 200),
    ("GET", "/qr-code/ada?size=3", {}, None, 400),
    ("GET", "/me/avatars", {}, None, 401),
    ("GET", "/me/avatars", {}, ME, 200),
    ("GET", "/me/avatars", {}, BEN, 200),
    ("POST", "/me/avatars", {"files": {"picture": ("a.png", PORTRAIT)}}, ME, 201),
    ("PATCH", AVATAR, MERGE, ME, 200),
    ("PATCH", AVATAR, MERGE, BEN, 404),
    ("DELETE", AVATAR, {}, ME, 202),
    ("DELETE", AVATAR, {}, BEN, 404),
    ("POST", f"{AVATAR}/email", {"json": {"email_hash": ADA_HASH}}, None, 401),
    ("GET", f"/me/associated-email?email_hash={NOBODY}", {}, ME, 200),
    ("GET", f"/me/associated-email?email_hash={NOBODY}", {}, None, 401),
    ("GET", "/me/profile", {}, ME, 200),
    ("GET", "/me/profile", {}, BEN, 200),
    ("GET", "/me/profile", {}, None, 401),
    ("PATCH", "/me/profile", {"json": {"display_name": ""}}, ME, 200),
    ("PATCH", "/me/profile", {"json": {"contact": {}}}, ME, 200),
    ("PATCH", "/me/profile", {"json": {}}, ME, 400),
]


@pytest.mark.parametrize(("method", "path", "options", "token", "status"), CASES)
def test_every_response_is_as_the_document_declares(judged, method, path, options, token, status):
    response = judged(method, path, token, **options)
    assert response.status_code == status, response.text


def test_a_profile_stands_in_the_object_that_the_document_declares_around_it(judged):
    profile = judged("GET", "/profiles/ada", ME).json()["data"]
    assert profile["hash"] == ADA_HASH
    assert profile["interests"][0]["id"] == "11"  # a number of the mock's, declared as a text
    assert "job_title" not in profile  # the object is closed
    changes = {"contact": {"email": "ada@example.net"}, "display_name": "A."}
    changed = judged("PATCH", "/me/profile", ME, json=changes).json()["data"]
    assert changed.items() >= changes.items()


def test_what_is_made_up_of_a_record_is_made_of_what_is_known_of_it(judged):
    services = judged("GET", "/verified-accounts/services").json()
    assert [it["id"] for it in services] == [it["service_type"] for it in services]
    assert len({it["icon"]["url"] for it in services}) == len(services)
    accounts = judged("GET", "/profiles/ada").json()["data"]["verified_accounts"]
    assert {it["service"]["id"] for it in accounts} <= {it["id"] for it in services}
    chosen = judged("POST", f"{AVATAR}/email", ME, json={"email_hash": ADA_HASH}).json()["data"]
    assert chosen == {"email_hash": ADA_HASH, "image_id": ADA_AVATAR}


def test_a_list_that_is_whole_says_that_it_ends(judged):
    paging = judged("GET", f"{SEARCH}?username=ada").json()["paging"]
    assert paging == {"next_cursor": None, "total": 1, "has_more": False}


def test_an_identifier_that_is_declared_as_a_uuid_is_one_and_is_taken_as_one(judged):
    own = judged("GET", "/me/avatars", ME).json()["data"][0]["image_id"]
    assert own == str(UUID(ADA_AVATAR))
    assert judged("PATCH", f"/me/avatars/{own}", ME, **MERGE).status_code == 200
    assert uuid_of("11") == str(UUID(uuid_of("11")))
