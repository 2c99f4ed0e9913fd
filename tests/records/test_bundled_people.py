"""The people and tokens of ``fixtures/`` are what their ``about`` says they are."""

import unicodedata

import pytest
from msgspec import UNSET
from msgspec.structs import asdict

from understudy.mock.fixtures.loading import load
from understudy.mock.store.people import IMAGES, PEOPLE
from understudy.mock.store.tokens import TOKENS
from understudy.openapi.bundled import fixtures_directory

BASELINE = load(fixtures_directory())
PEOPLE_BY_SLUG = BASELINE[PEOPLE.name]
TOKENS_BY_TEXT = BASELINE[TOKENS.name]


def test_there_are_at_least_sixteen_people_each_for_a_reason_of_its_own():
    reasons = {person.about for person in PEOPLE_BY_SLUG.values()}
    assert len(reasons - {""}) == len(PEOPLE_BY_SLUG) >= 16


def test_ada_has_every_optional_field():
    profile = PEOPLE_BY_SLUG["ada"].profile
    values = [*asdict(profile).values(), *asdict(profile.contact_info).values()]
    assert not [value for value in values if value in (UNSET, "", ())]
    assert profile.payments.links
    assert profile.payments.crypto_wallets


def test_ben_has_nothing_that_can_be_left_out():
    given = asdict(PEOPLE_BY_SLUG["ben"].profile)
    assert not [name for name, value in given.items() if value not in (UNSET, "", ())]


@pytest.mark.parametrize("shape", ["YYYY-MM-DD", "YYYY-MM-DDTHH:MM:SSZ", None])
def test_registration_dates_come_in_every_shape(shape):
    dates = [person.profile.registration_date for person in PEOPLE_BY_SLUG.values()]
    assert (len(shape) if shape else None) in [len(x) if isinstance(x, str) else x for x in dates]


def test_nora_has_more_verified_accounts_than_strangers_see_and_some_are_hidden():
    hidden = [account.is_hidden for account in PEOPLE_BY_SLUG["nora"].profile.verified_accounts]
    assert hidden.count(False) > 4
    assert any(hidden)


@pytest.mark.parametrize(("slug", "public"), [("ivo", True), ("mei", False)])
def test_contact_details_are_there_whether_public_or_not(slug, public):
    person = PEOPLE_BY_SLUG[slug]
    assert person.profile.contact_info is not UNSET
    assert person.contact_public is public


def test_olu_has_several_addresses_with_different_avatars():
    selected = {email.avatar for email in PEOPLE_BY_SLUG["olu"].emails}
    assert len(selected) == len(PEOPLE_BY_SLUG["olu"].emails) == 3


def test_vera_has_many_avatars_in_every_rating_and_finn_has_none():
    avatars = PEOPLE_BY_SLUG["vera"].avatars
    assert len(avatars) >= 12
    assert {avatar.rating for avatar in avatars} == {"G", "PG", "R", "X"}
    assert PEOPLE_BY_SLUG["finn"].avatars == ()


@pytest.mark.parametrize(
    ("slug", "is_wanted"),
    [
        ("leila", lambda letter: unicodedata.bidirectional(letter) in {"R", "AL"}),
        ("zoe", unicodedata.combining),
        ("momo", lambda letter: unicodedata.category(letter) == "So"),
    ],
)
def test_names_hold_letters_that_are_easily_broken(slug, is_wanted):
    assert any(map(is_wanted, PEOPLE_BY_SLUG[slug].profile.display_name))


def test_profiles_are_public_private_and_disabled():
    seen = {person.visibility for person in PEOPLE_BY_SLUG.values()}
    assert seen == {"public", "private", "disabled"}


def test_somebody_is_an_organization_and_somebody_takes_coins():
    profiles = [person.profile for person in PEOPLE_BY_SLUG.values()]
    assert any(profile.is_organization is True for profile in profiles)
    assert PEOPLE_BY_SLUG["kenji"].profile.payments.crypto_wallets


def test_every_picture_is_somebody_s():
    used = {avatar.image for person in PEOPLE_BY_SLUG.values() for avatar in person.avatars}
    for person in PEOPLE_BY_SLUG.values():
        profile = person.profile
        used |= {picture.image for picture in profile.gallery or ()}
        used |= {profile.header_image.image} if profile.header_image else set()
    assert used == set(BASELINE[IMAGES.name])


def test_there_is_a_token_for_every_answer_to_one():
    granted = {name: token.scopes for name, token in TOKENS_BY_TEXT.items()}
    assert granted["ada-full"] == ("auth", "avatar-profile:read", "avatar-profile:manage")
    assert granted["ada-read-only"] == ("auth", "avatar-profile:read")
    assert granted["ada-auth-only"] == ("auth",)
    assert TOKENS_BY_TEXT["ada-expired"].expires is not None
    assert TOKENS_BY_TEXT["ada-api-key"].kind == "api_key"
    assert PEOPLE_BY_SLUG[TOKENS_BY_TEXT["gone-full"].person].visibility == "disabled"
    assert {token.person for token in TOKENS_BY_TEXT.values()} > {"ada", "ben"}
    assert all(token.about for token in TOKENS_BY_TEXT.values())
