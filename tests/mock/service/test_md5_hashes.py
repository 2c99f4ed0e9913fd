"""MD5 hashes of e-mail addresses, which count only where a switch says so."""

from hashlib import md5

import pytest
from tests.mock.service.test_oracle import ADA_AVATAR, ADA_HASH

ADA_MD5 = md5(b"ada@example.com", usedforsecurity=False).hexdigest()
TOO = {"X-Mock-Choose": "email-hashes=md5-too"}


@pytest.mark.parametrize("digits", [ADA_MD5, ADA_MD5.upper()])
def test_a_profile_is_found_by_md5_where_it_counts(ask, digits):
    assert ask("GET", f"/v3/profiles/{digits}", headers=TOO).json()["hash"] == ADA_HASH
    assert ask("GET", f"/v3/qr-code/{digits}", headers=TOO).headers["x-profile-status"] == "enabled"


@pytest.mark.parametrize("digits", [ADA_MD5, ADA_MD5.upper()])
def test_a_picture_is_found_by_md5_where_it_counts(ask, digits):
    picture = ask("GET", f"/avatar/{digits}?d=404", headers=TOO)
    assert picture.content == ask("GET", f"/avatar/{ADA_HASH}").content
    assert ask("GET", f"/avatar/{digits}?d=404").status_code == 404


def test_an_address_of_the_caller_is_named_by_md5_where_it_counts(ask):
    query = {"email_hash": ADA_MD5}
    path = "/v3/me/associated-email"
    taken = ask("GET", path, "ada-full", params=query, headers=TOO).json()
    assert (taken, ask("GET", path, "ada-full", params=query).json()) == (
        {"associated": True},
        {"associated": False},
    )


def test_elsewhere_the_message_names_the_switch(ask):
    refusal = ask("GET", f"/v3/profiles/{ADA_MD5}")
    assert refusal.status_code == 404
    assert "--choose email-hashes=md5-too" in refusal.json()["error"]


@pytest.mark.parametrize("identifier", ["0" * 32, ADA_MD5[:31], f"{ADA_MD5}0"])
def test_other_digits_find_nobody(ask, identifier):
    assert ask("GET", f"/v3/profiles/{identifier}", headers=TOO).status_code == 404


def test_an_avatar_is_still_found_by_its_id(ask):
    picture = ask("GET", f"/avatar/{ADA_AVATAR}", headers=TOO)
    assert picture.content == ask("GET", f"/avatar/{ADA_AVATAR}").content
