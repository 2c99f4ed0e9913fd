"""Handlers fit definitions of the service as others publish them, in OpenAPI 3.0 and 3.1."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Pixels
from tests.mock.service.test_oracle import PORTRAIT

from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.mock.store.people import PEOPLE

DOCUMENTS = sorted(Path(__file__).with_name("documents").glob("*.yaml"))
ME = {"token": "ada-full"}


@pytest.fixture(params=DOCUMENTS, ids=lambda path: path.stem, scope="session")
def built(request) -> Mock:
    return Mock(Settings(document=request.param, choices={"rate-limits": "off"}))


def test_required_members_that_the_mock_does_not_know_are_made_up_once(ask):
    profile = ask("GET", "/v3/profiles/ada", **ME)
    assert "x-mock-violation" not in profile.headers
    slugs = [interest["slug"] for interest in profile.json()["interests"]]
    assert slugs == ["cartography", "hill-walking"]
    assert ask("GET", "/v3/profiles/ada", **ME).json() == profile.json()


def test_a_patch_keeps_every_member_that_the_document_declares(ask):
    changes = {
        "first_name": "Adele",
        "cell_phone": "+1 555 0199",
        "contact_email": "adele@example.org",
        "hidden_contact_info": True,
    }
    edited = ask("PATCH", "/v3/me/profile", json={**changes, "undeclared": "x"}, **ME).json()
    for profile in (edited, ask("GET", "/v3/me/profile", **ME).json()):
        declared = {name: value for name, value in changes.items() if name != "contact_email"}
        assert {name: profile.get(name) for name in declared} == declared
        assert "contact_email" not in profile, "it is shown among the contact details alone"
        assert profile["contact_info"]["email"] == "adele@example.org"
        assert "undeclared" not in profile
    assert "first_name" not in ask("GET", "/v3/profiles/ada").json()


def test_an_empty_string_unsets_a_declared_member(ask):
    ask("PATCH", "/v3/me/profile", json={"first_name": "Adele", "contact_email": "a@b.cd"}, **ME)
    cleared = {"first_name": "", "contact_email": ""}
    profile = ask("PATCH", "/v3/me/profile", json=cleared, **ME).json()
    assert {"first_name", "contact_email"}.isdisjoint(profile)
    assert "email" not in profile["contact_info"]


@pytest.mark.parametrize("query", ["size=0", "size=-1", "size=20000", "version=4"])
def test_a_qr_code_that_cannot_be_drawn_is_refused(ask, query):
    assert ask("GET", f"/v3/qr-code/ada?{query}").status_code == 400


def test_qr_parameters_of_other_types_mean_the_same(ask):
    dots = ask("GET", "/v3/qr-code/ada?version=3&type=logo&size=240")
    squares = ask("GET", "/v3/qr-code/ada?version=1&type=logo&size=240")
    assert dots.content != squares.content
    with Pixels.open(BytesIO(dots.content)) as picture:
        assert picture.size == (240, 240)


def test_uploads_and_assignments_take_the_names_and_statuses_of_the_document(ask):
    files = {"image": ("a.png", PORTRAIT)}
    image_id = ask("POST", "/v3/me/avatars", files=files, **ME).json()["image_id"]
    hash_ = ask("GET", "/v3/me/profile", **ME).json()["hash"]
    path = f"/v3/me/avatars/{image_id}/email"
    assert ask("POST", path, json={"email_hash": hash_}, **ME).status_code == 200
    deleted = ask("DELETE", f"/v3/me/avatars/{image_id}", **ME)
    assert (deleted.status_code, deleted.content) == (200, b"")


def test_profiles_are_found_by_verified_account(ask):
    accounts = ask("GET", "/v3/profiles/ada").json()["verified_accounts"]
    username, service = accounts[0]["url"].rpartition("/")[2], accounts[0]["service_type"]
    path = "/v3/profiles/search/by-verified-account"
    found = ask("GET", path, params={"username": username.upper(), "service": service}).json()
    assert "ada" in [p["profile_url"].rpartition("/")[2] for p in found["profiles"]]
    assert found["total_pages"] == 1
    assert ask("GET", path, params={"username": username, "page": 2}).json()["profiles"] == []
    assert ask("GET", path, params={"username": "nobody-at-all"}).json()["total_pages"] == 0


def test_the_services_of_verified_accounts_are_listed(ask):
    services = ask("GET", "/v3/verified-accounts/services").json()["services"]
    types = [service["service_type"] for service in services]
    assert types == sorted(set(types))
    assert types
    assert all(isinstance(service["is_oauth"], bool) for service in services)


@pytest.mark.parametrize(("value", "is_selected"), [("1", True), ("0", False)])
def test_a_boolean_is_taken_as_a_number_where_clients_send_one(ask, mock, value, is_selected):
    files = {"image": ("a.png", PORTRAIT)}
    path = f"/v3/me/avatars?select_avatar={value}"
    image_id = ask("POST", path, files=files, **ME).json()["image_id"]
    assert (mock.world.get(PEOPLE, "ada").emails[0].avatar == image_id) is is_selected
    assert ask("POST", "/v3/me/avatars?select_avatar=2", files=files, **ME).status_code == 400
