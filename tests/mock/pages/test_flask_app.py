import re

import pytest
from msgspec.structs import replace
from tests.mock.pages.conftest import Ask

from understudy.mock.pages.public_pages import SHOWN
from understudy.mock.server.worlds import World
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import PEOPLE, Email, Link, Person, Profile, VerifiedAccount
from understudy.mock.store.tokens import TOKENS, Token

SITE = "http://127.0.0.1:8080"


def put(world: World, slug: str, profile: Profile, visibility: str = "public") -> None:
    emails = (Email(f"{slug}@example.com"),)
    person = Person(slug, "About.", emails, profile)
    world.put(PEOPLE, slug, replace(person, visibility=visibility))


def test_the_front_page_tells_addresses_people_and_tokens(ask: Ask):
    text = ask("/").text
    for told in (f"{SITE}/v3/openapi", "Ada Winterbourne", "The person to begin with.", "ada-full"):
        assert told in text
    assert f"curl {SITE}/v3/profiles/ada<" in text
    assert f"{SITE}/avatar/{email_hash('ada@example.com')}?s=96" in text


def test_the_front_page_tells_which_tokens_have_expired(ask: Ask, world: World):
    world.put(TOKENS, "old", Token("old", "ada", expires="2026-04-30T00:00:00Z"))
    states = re.findall(r'data-label="State">.*?>(\w+)</span>', ask("/").text)
    assert states == ["valid", "expired"]


def test_the_front_page_of_an_empty_world_says_so(ask: Ask, world: World):
    world.remove(PEOPLE, "ada")
    world.remove(TOKENS, "ada-full")
    text = ask("/").text
    assert "There are no people in this world." in text
    assert "curl" not in text


def test_the_front_page_stops_at_a_hundred_people_and_counts_the_rest(ask: Ask, world: World):
    for number in range(SHOWN + 1_000):
        put(world, f"p{number}", Profile())
    text = ask("/").text
    assert text.count('loading="lazy"') == SHOWN
    assert "and 1,001 more" in text


@pytest.mark.parametrize("path", ["/", "/ada", "/no/such"])
def test_every_address_of_a_page_stays_on_its_site(ask: Ask, path: str):
    addresses = re.findall(r'(?:href|src)="([^"]*)"', ask(path).text)
    assert addresses
    assert all(address.startswith((f"{SITE}/", "#")) for address in addresses)


def test_what_a_page_loads_of_the_house_is_there(ask: Ask):
    own = re.findall(rf'"{SITE}(/static/[^"]*)"', ask("/").text)
    assert {ask(path).status for path in own} == {200}


def test_a_profile_shows_what_the_person_says(ask: Ask, world: World):
    account = VerifiedAccount("tidebook", "Tidebook", "https://tidebook.example.org/ada")
    profile = Profile("Ada", location="Port Ellery", pronouns="she", verified_accounts=(account,))
    put(world, "ada", profile)
    text = ask("/ada").text
    for told in ("Port Ellery", "she", account.url, f"{SITE}/icons/tidebook.svg"):
        assert told in text
    assert f"{SITE}/v3/qr-code/ada?size=240" in text
    assert f'href="{SITE}/v3/profiles/ada"' in text


def test_what_a_person_writes_is_text_and_never_markup(ask: Ask, world: World):
    odd = "<script>'\"&"
    put(
        world, "odd", Profile(odd, description=odd, company=odd, links=(Link(odd, 'https://a/"<'),))
    )
    for path in ("/", "/odd"):
        text = ask(path).text
        assert "<script>'" not in text
        assert "&lt;script&gt;" in text


def test_only_web_addresses_become_links(ask: Ask, world: World):
    links = (Link("Tides", "https://tides.example.org"), Link("Trap", "javascript:alert(1)"))
    put(world, "ada", Profile(links=links))
    text = ask("/ada").text
    assert 'href="https://tides.example.org"' in text
    assert "Trap" in text
    assert "javascript:" not in text


def test_a_private_profile_is_refused_without_a_word_of_it(ask: Ask, world: World):
    put(world, "mia", Profile("Mia Lowe"), "private")
    page = ask("/mia")
    assert page.status == 403
    assert "private" in page.text
    assert "Mia Lowe" not in page.text


def test_a_disabled_profile_looks_like_none(ask: Ask, world: World):
    put(world, "gone", Profile("Gone"), "disabled")
    page = ask("/gone")
    assert page.status == 404
    assert "There is nothing at <code>/gone</code>" in page.text


def test_a_slug_of_any_script_leads_to_its_page(ask: Ask, world: World):
    put(world, "ليلى", Profile("ليلى"))
    assert "/%D9%84%D9%8A%D9%84%D9%89" in ask("/").text
    assert ask("/ليلى").status == 200


def test_a_failure_is_left_to_the_engine(ask: Ask, world: World):
    world.put(PEOPLE, "ada", Person("ada", "An account that no fixture could be.", emails=()))
    with pytest.raises(IndexError):
        ask("/ada")
