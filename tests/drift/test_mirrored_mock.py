"""The mock of a comparison has the people of the deployment, under the same names."""

from contextlib import closing
from io import BytesIO

import msgspec
import pytest
from PIL import Image
from tests.proofs.learning import reference

from understudy.drift.mirrored_mock import (
    USUAL_FORM,
    AccountSeen,
    AvatarSeen,
    generated,
    mirrored_baseline,
    mirrored_profile,
    mirrored_target,
    read_accounts,
)
from understudy.drift.mock_beside import mock_beside
from understudy.interface.facts import Fact, Facts
from understudy.interface.vocabulary import OWN_WORDS
from understudy.mock.store.people import IMAGES, PEOPLE
from understudy.record.pseudonyms import PictureForm
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import RunOptions, start
from understudy.verify.target import Known
from understudy.verify.value_texts import NEARLY

MEMBERS = ("display_name", "languages", "links", "payments", "number_verified_accounts")


@pytest.fixture(scope="module")
def deployment():
    with closing(reference({})) as opened:
        yield opened


@pytest.fixture(scope="module")
def mock(deployment):
    with closing(mock_beside(deployment)) as opened:
        yield opened


def client_of(deployment):
    return ProbeClient(start(deployment, RunOptions()).gateway, "test")


@pytest.mark.parametrize("who", ["anonymous", "owner", "api_key"])
def test_a_profile_has_the_same_members_and_texts_at_both(deployment, mock, who):
    slug = deployment.target.known.slug
    theirs, ours = (
        client_of(each).get(f"/profiles/{slug}", who).json_object for each in (deployment, mock)
    )
    assert theirs.keys() == ours.keys()
    assert [theirs.get(name) for name in MEMBERS] == [ours.get(name) for name in MEMBERS]


def test_avatars_are_as_many_and_generated_in_the_size_of_the_deployment(deployment, mock):
    theirs, ours = (client_of(each).get("/me/avatars", "owner").body for each in (deployment, mock))
    assert [avatar["rating"] for avatar in theirs] == [avatar["rating"] for avatar in ours]
    accounts = read_accounts(deployment)
    target = mirrored_target(deployment.target, accounts, mock.target.base_url)
    images = mirrored_baseline(target, accounts, OWN_WORDS)[IMAGES.name]
    sizes = {Image.open(BytesIO(image.content)).size for image in images.values()}
    assert {
        (seen.picture.width, seen.picture.height) for seen in accounts[0].avatars or ()
    } <= sizes


def test_private_people_tokens_and_applications_are_there(deployment, mock):
    client = client_of(mock)
    private = deployment.target.known.private_slug
    assert client.get(f"/profiles/{private}").response.is_refusal
    assert client.get("/me/profile", "private").response.is_success
    refused = ("expired", *NEARLY)
    assert [client.get("/me/profile", it).status for it in refused] == [401] * len(refused)
    assert client.get("/me/profile", "auth_only").status == 403


def test_addresses_that_a_target_names_by_their_hashes_are_made_up(deployment):
    target = deployment.target
    by_hash = Known(slug="ada", hashes=("a" * 64, "b" * 64))
    (account,) = [AccountSeen("own", "ada", {}, (AvatarSeen({}, USUAL_FORM, (1,)),))]
    own = mirrored_target(
        type(target)(base_url=target.base_url, known=by_hash), [account], "http://127.0.0.1:1/v3"
    )
    person = mirrored_baseline(own, [account], OWN_WORDS)[PEOPLE.name]["ada"]
    assert own.known.hashes == ()
    assert [it.email for it in person.emails] == list(own.known.emails)
    assert [it.avatar is not None for it in person.emails] == [False, True]


def mirrored(*accounts):
    """Returns the people of a mock that has these accounts."""
    target = mirrored_target(reference({}).target, accounts, "http://127.0.0.1:1/v3")
    return mirrored_baseline(target, accounts, OWN_WORDS)[PEOPLE.name]


def test_the_mock_waits_for_a_limit_only_if_the_deployment_may(deployment, mock) -> None:
    assert mock.allowance.pause == deployment.allowance.pause  # else codes expire at the mock alone


def test_values_of_another_type_are_left_out_and_not_served():
    account = AccountSeen("own", "ada", {"display_name": 7, "timezone": [], "links": "none"})
    profile = mirrored(account)["ada"].profile
    assert (profile.display_name, bool(profile.timezone), bool(profile.links)) == ("", False, False)


def test_a_part_that_does_not_fit_is_left_out_alone() -> None:
    seen = {
        "interests": [{"id": 1, "name": "x", "more": {}}, {"id": "no", "name": "y"}, {"name": 1}],
        "payments": {"links": [{"label": "l", "url": "https://a.example", "z": 2}]},
    }
    profile = msgspec.to_builtins(mirrored_profile(seen, str))
    assert list(profile["interests"]) == [{"id": 1, "name": "x"}]
    assert [it["label"] for it in profile["payments"]["links"]] == ["l"]


def test_values_that_break_a_rule_are_left_out_and_not_served():
    account = AccountSeen("own", "ada", {"last_name": "", "timezone": "+01:00", "pronouns": "she"})
    profile = mirrored(account)["ada"].profile
    assert (bool(profile.last_name), bool(profile.timezone), profile.pronouns) == (
        False,
        False,
        "she",
    )


def test_dates_urls_and_places_that_break_a_rule_are_replaced():
    spoken = {"code": "en", "name": "English", "is_primary": True, "order": 0}
    members = {
        "last_profile_edit": "2024-02-03T04:05:06+02:00",
        "registration_date": "1 April 2015",
        "languages": [spoken, {**spoken, "code": "pt"}],
        "verified_accounts": [{"service_type": "code", "service_label": "Code"}],
        "links": [{"label": "Home", "url": "nowhere"}],
        "payments": {"links": [{"label": "Tip", "url": ""}]},
    }
    profile = mirrored(AccountSeen("own", "ada", members))["ada"].profile
    assert (profile.last_profile_edit, profile.registration_date) == ("2020-01-01T00:00:00Z",) * 2
    assert [(it.order, it.is_primary) for it in profile.languages] == [(0, True), (1, False)]
    linked = (*profile.verified_accounts, *profile.links, *profile.payments.links)
    assert {it.url for it in linked} == {"https://example.com/"}


def test_an_avatar_that_two_accounts_list_is_one_accounts():
    shared, own = (AvatarSeen({"image_id": text * 32}, USUAL_FORM) for text in "ab")
    people = mirrored(
        AccountSeen("own", "ada", {}, (own, shared)), AccountSeen("other", "olu", {}, (shared,))
    )
    listed = {slug: [it.image_id for it in people[slug].avatars] for slug in ("ada", "olu")}
    assert listed == {"ada": ["b" * 32], "olu": ["a" * 32]}


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF"])
def test_pictures_are_generated_in_the_kind_of_the_deployment(form):
    assert generated(PictureForm(form, 3, 2)).media_type == f"image/{form.lower()}"


def test_a_disabled_account_without_a_slug_is_known_by_its_token():
    reading = "410 disabled_profile_error"
    fact = Fact("own-profile-disabled-404", reading, (), 1, "2026-11-22")
    facts = Facts("http://reference.test/v3", "2026-11-22", 1, (fact,), ())
    with closing(reference({"disabled-profile-error": reading})) as ours:
        assert ours.target.known.disabled_slug is None
        with closing(mock_beside(ours, [facts])) as opened:
            assert client_of(opened).get("/me/profile", "disabled").status == 410
