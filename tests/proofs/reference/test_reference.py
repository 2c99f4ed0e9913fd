"""Profiles as the interface has them: who sees what, and what an owner may change."""

import pytest
from tests.proofs.reference.people import BRAM, ISOLDE

REQUIRED = {
    "hash",
    "display_name",
    "profile_url",
    "avatar_url",
    "avatar_alt_text",
    "location",
    "description",
    "job_title",
    "company",
    "verified_accounts",
    "pronunciation",
    "pronouns",
}
PUBLIC = {"header_image", "hide_default_header_image", "background_color"}
WITH_TOKEN = {
    "timezone",
    "languages",
    "first_name",
    "last_name",
    "is_organization",
    "links",
    "interests",
    "payments",
    "contact_info",
    "gallery",
    "number_verified_accounts",
    "last_profile_edit",
    "registration_date",
}


@pytest.mark.parametrize("identifier", [ISOLDE.slug, *ISOLDE.hashes, ISOLDE.hashes[0].upper()])
def test_a_profile_is_found_by_slug_and_by_the_hash_of_any_email(nobody, identifier):
    answer = nobody.get(f"/profiles/{identifier}")
    assert (answer.status_code, answer.json()["hash"]) == (200, ISOLDE.hashes[0])


def test_the_public_sees_no_field_that_is_for_tokens(nobody):
    assert nobody.get(f"/profiles/{ISOLDE.slug}").json().keys() == REQUIRED | PUBLIC


def test_an_empty_profile_keeps_its_required_fields(nobody):
    profile = nobody.get("/profiles/noor-vesperling").json()
    assert profile.keys() == REQUIRED
    assert (profile["avatar_url"], profile["location"]) == ("", "")


@pytest.mark.parametrize(
    "token", ["isolde-full", "isolde-read-only", "bram-full", "beacon-api-key"]
)
def test_any_bearer_token_sees_the_full_profile(client, token):
    profile = client(token).get(f"/profiles/{ISOLDE.slug}").json()
    assert profile.keys() == REQUIRED | PUBLIC | WITH_TOKEN


def test_the_public_sees_four_verified_accounts_that_are_not_hidden(nobody, isolde):
    some = nobody.get(f"/profiles/{ISOLDE.slug}").json()["verified_accounts"]
    assert [a["service_label"] for a in some] == ["Quillpost", "Signalmast", "Foghorn", "Tidetable"]
    profile = isolde.get(f"/profiles/{ISOLDE.slug}").json()
    assert len(profile["verified_accounts"]) == profile["number_verified_accounts"] == 6


def test_contact_details_that_are_not_public_are_left_out(isolde):
    assert "contact_info" not in isolde.get(f"/profiles/{BRAM.slug}").json()


def test_the_own_profile_is_the_full_lookup(isolde):
    assert isolde.get("/me/profile").json() == isolde.get(f"/profiles/{ISOLDE.slug}").json()


def test_the_address_of_a_profile_shows_its_page(nobody):
    url = nobody.get(f"/profiles/{ISOLDE.slug}").json()["profile_url"]
    page = nobody.get(url)
    assert page.headers["content-type"].startswith("text/html")
    assert "Isolde Quillfeather" in page.text


def test_an_unknown_identifier_is_404_by_the_error_schema(nobody):
    answer = nobody.get("/profiles/nobody-at-all")
    assert answer.status_code == 404
    assert isinstance(answer.json()["error"], str)


def test_only_the_fields_sent_are_changed_and_everybody_sees_it(isolde, nobody):
    before = isolde.get("/me/profile").json()
    after = isolde.patch("/me/profile", json={"location": "Ashore"}).json()
    assert {name for name in after if after[name] != before[name]} == {
        "location",
        "last_profile_edit",
    }
    assert nobody.get(f"/profiles/{ISOLDE.slug}").json()["location"] == "Ashore"


def test_an_empty_string_unsets_a_field(isolde):
    assert isolde.patch("/me/profile", json={"pronouns": ""}).json()["pronouns"] == ""


def test_an_empty_object_changes_nothing(isolde):
    before = isolde.get("/me/profile").json()
    assert isolde.patch("/me/profile", json={}).json() == before


@pytest.mark.parametrize(
    "body",
    [{"first_name": "I"}, {"location": "Ashore", "hash": "0"}, {"location": None}, ["location"]],
)
def test_a_refused_edit_changes_nothing(isolde, body):
    before = isolde.get("/me/profile").json()
    assert isolde.patch("/me/profile", json=body).status_code == 400
    assert isolde.get("/me/profile").json() == before


def test_an_edit_that_is_no_json_is_refused(isolde):
    assert isolde.patch("/me/profile", content="{").status_code == 415
    for text in ("{", "[" * 100_000):
        is_json = {"Content-Type": "application/json"}
        assert isolde.patch("/me/profile", content=text, headers=is_json).status_code == 400


def test_an_email_is_associated_with_its_owner_alone(isolde, bram):
    for email_hash in ISOLDE.hashes:
        query = {"email_hash": email_hash}
        assert isolde.get("/me/associated-email", params=query).json() == {"associated": True}
        assert bram.get("/me/associated-email", params=query).json() == {"associated": False}
    assert isolde.get("/me/associated-email").status_code == 400
