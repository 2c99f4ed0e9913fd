import pytest

from understudy.mock.pages.public_profile import (
    avatar_alt,
    backdrop,
    is_web_address,
    language,
    shown_accounts,
)
from understudy.mock.store.people import (
    Avatar,
    Email,
    HeaderImage,
    Language,
    Person,
    Profile,
    VerifiedAccount,
)


def account(label: str, *, is_hidden: bool = False) -> VerifiedAccount:
    return VerifiedAccount("tidebook", label, "https://tidebook.example.org", is_hidden)


def test_strangers_see_the_first_four_accounts_that_are_not_hidden():
    accounts = (account("secret", is_hidden=True), *(account(label) for label in "abcde"))
    shown = shown_accounts(Profile(verified_accounts=accounts))
    assert [account.service_label for account in shown] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//example.com", ""])
def test_what_is_no_web_address_is_told_apart(url: str):
    assert not is_web_address(url)
    assert is_web_address("HTTPS://example.com")


@pytest.mark.parametrize(
    "colour",
    ["rgb(12, 34, 56)", "#fff", "linear-gradient(120deg, rgb(1,2,3) 0%, hsl(10,20%,30%))"],
)
def test_a_plain_colour_or_gradient_lies_behind_the_card(colour: str):
    assert backdrop(Profile(background_color=colour), "") == colour


@pytest.mark.parametrize(
    "colour",
    [
        "red; position: fixed",
        "url(//evil.example.com/x)",
        "linear-gradient(red, blue), url(//evil.example.com/x)",
        "rgb(1,2,3)} body {",
    ],
)
def test_what_is_more_than_a_colour_is_left_out(colour: str):
    assert backdrop(Profile(background_color=colour), "") == ""


def test_a_header_image_lies_over_the_colour():
    header = HeaderImage("quay's end.png", "no-repeat 50% 1% / 100%")
    profile = Profile(header_image=header, background_color="#fff")
    expected = "url('http://m/image/quay%27s%20end.png') no-repeat 50% 1% / 100%, #fff"
    assert backdrop(profile, "http://m/image") == expected


def test_a_header_image_with_more_than_a_placement_is_left_out():
    header = HeaderImage("quay.png", "no-repeat; position: fixed")
    assert backdrop(Profile(header_image=header), "") == ""


def test_the_language_of_a_profile_is_its_primary_one():
    languages = (Language("en", "English", False, 1), Language("ar", "Arabic", True, 2))
    assert language(Profile(languages=languages)) == "ar"
    assert language(Profile()) == ""


def test_the_avatar_is_told_in_the_words_of_its_owner_or_by_name():
    avatar = Avatar("0" * 32, "ada.png", "2026-05-01T00:00:00Z", alt_text="A lighthouse")
    person = Person("ada", "", (Email("ada@example.com", avatar.image_id),), avatars=(avatar,))
    assert avatar_alt(person) == "A lighthouse"
    assert avatar_alt(Person("ada", "", (Email("ada@example.com"),))) == "Avatar of ada"
