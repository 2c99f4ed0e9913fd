"""An identifier that leads to nobody is noted with what it was meant to be, and the API says nothing of it."""

import hashlib
from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.mock.admin.conftest import Driver, Time

from understudy.mock.settings import Settings

ADDRESS = "ada@example.com"


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    with closing(Driver(Settings(choices={"rate-limits": "off"}), Time())) as made:
        yield made


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def notes(driver: Driver) -> str:
    [entry] = driver.admin("GET", "/requests", params={"limit": 1})["requests"]
    return " ".join(entry["notes"])


@pytest.mark.parametrize(
    ("identifier", "note"),
    [
        (sha256("ADA@EXAMPLE.COM"), "which was in upper case before it was hashed"),
        (sha256("Ada@example.com"), "which kept its capital first letter"),
        (sha256("Ada@Example.Com"), "which kept its capital letters"),
        (sha256(f"{ADDRESS}\n"), "which `echo` adds and `printf` does not"),
        (sha256(f"mailto:{ADDRESS}"), "which began with mailto:"),
        (hashlib.md5(ADDRESS.encode()).hexdigest(), "This is the MD5 of ada@example.com"),
        (hashlib.sha1(ADDRESS.encode()).hexdigest(), f"send its SHA-256 '{sha256(ADDRESS)}'"),
        (sha256(ADDRESS)[:63], "This has 63 hexadecimal digits; a SHA-256 hash has 64."),
        (ADDRESS, f"send its SHA-256 '{sha256(ADDRESS)}'"),
        ("adda", "did you mean 'ada'?"),
    ],
)
@pytest.mark.parametrize("place", ["/v3/profiles/", "/v3/qr-code/"])
def test_what_was_probably_meant_is_a_note_and_not_in_the_body(
    driver: Driver, place: str, identifier: str, note: str
) -> None:
    answer = driver.get(place + identifier)
    assert note in notes(driver)
    assert note.encode() not in answer.content
    is_lookup = place == "/v3/profiles/"
    assert (note in answer.headers.get("x-mock-hint", "")) is is_lookup


def test_a_wrong_hash_that_is_asked_about_is_hinted_at_and_a_right_one_of_another_not(
    driver: Driver,
) -> None:
    digit = {"slug": "digit", "emails": [{"email": "7@example.com"}], "about": "Digit."}
    driver.admin("POST", "/people", {**digit, "profile": {"display_name": "Digit"}})

    def hint(address: str) -> str:
        path = f"/v3/me/associated-email?email_hash={sha256(address)}"
        answer = driver.get(path, token="ada-full")
        assert answer.json() == {"associated": False}
        return str(answer.headers.get("x-mock-hint", ""))

    assert "was in upper case" in hint("ADA@EXAMPLE.COM")
    assert hint("7@example.com") == ""


def test_a_hash_in_the_address_of_a_picture_is_noted_too(driver: Driver) -> None:
    assert driver.get(f"/avatar/{sha256('ADA@EXAMPLE.COM')}.png").status_code == 200
    assert "was in upper case" in notes(driver)


def test_the_address_of_a_person_who_was_added_is_known_too(driver: Driver) -> None:
    driver.admin(
        "POST",
        "/people",
        {"slug": "zita", "about": "A late comer.", "emails": [{"email": "zita@example.com"}]},
    )
    driver.get(f"/v3/profiles/{sha256('ZITA@EXAMPLE.COM')}")
    assert "zita@example.com, an address of zita" in notes(driver)


@pytest.mark.parametrize("identifier", [sha256("nobody@elsewhere.example"), "q" * 30, "0" * 40])
def test_nothing_is_said_of_what_is_like_nothing(driver: Driver, identifier: str) -> None:
    driver.get(f"/v3/profiles/{identifier}")
    assert notes(driver) == ""
