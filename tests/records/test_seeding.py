import re

import pytest

from understudy.errors import FixtureError, StartupError
from understudy.mock.fixtures.loading import load
from understudy.mock.store.applications import APPLICATIONS
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import IMAGES, PEOPLE, SLUGS_BY_HASH, SLUGS_BY_IMAGE_ID
from understudy.mock.store.tokens import TOKENS
from understudy.openapi.bundled import fixtures_directory

MIRA = "slug: mira\nabout: Nothing special.\nemails: [{email: mira@example.com}]\n"
TOKEN = "- {token: mira-full, person: mira, scopes: [auth]}\n"
AVATAR = "{image_id: %s, image: amber.png, updated_date: '2026-01-01T00:00:00Z'}" % ("a" * 32)


def test_a_person_is_found_by_slug_and_by_the_hash_of_any_address(write):
    person = MIRA.replace("}]", "}, {email: ' Mira@Example.ORG'}]")
    baseline = load(write({"people/mira.yaml": person}))
    assert list(baseline[PEOPLE.name]) == ["mira"]
    assert baseline[SLUGS_BY_HASH.name] == {
        email_hash("mira@example.com"): "mira",
        email_hash("mira@example.org"): "mira",
    }


def test_an_avatar_leads_to_its_owner_and_to_its_picture(write):
    baseline = load(write({"people/mira.yaml": f"{MIRA}avatars: [{AVATAR}]\n"}))
    assert baseline[SLUGS_BY_IMAGE_ID.name] == {"a" * 32: "mira"}
    picture = baseline[IMAGES.name][baseline[PEOPLE.name]["mira"].avatars[0].image]
    assert picture.media_type == "image/png"
    assert picture.content.startswith(b"\x89PNG")


def test_many_people_come_a_line_each(write):
    lines = "".join(
        f'{{"slug":"p-{n}","about":"","emails":[{{"email":"p{n}@example.net"}}]}}\n'
        for n in range(3)
    )
    baseline = load(write({"people/many.jsonl": lines}))
    assert list(baseline[PEOPLE.name]) == ["mira", "p-0", "p-1", "p-2"]


def test_tokens_and_applications_are_optional(write):
    baseline = load(write())
    assert not baseline[TOKENS.name]
    assert not baseline[APPLICATIONS.name]


def test_tokens_are_found_by_what_stands_behind_bearer(write):
    (token,) = load(write({"tokens.yaml": TOKEN}))[TOKENS.name].items()
    assert token[0] == token[1].token == "mira-full"


@pytest.mark.parametrize(("given", "password"), [("", "mira-password"), ("own", "own")])
def test_everybody_has_a_password(write, given, password):
    baseline = load(write({"people/mira.yaml": f"{MIRA}password: '{given}'\n"}))
    assert baseline[PEOPLE.name]["mira"].password == password


def test_the_bundled_fixtures_can_be_loaded():
    baseline = load(fixtures_directory())
    assert next(iter(baseline[PEOPLE.name])) == "ada"
    assert all(baseline.values())


@pytest.mark.parametrize(
    ("key", "date"),
    [
        ("registration_date", "'2026-01-31'"),
        ("registration_date", "'2026-01-31T23:59:59Z'"),
        ("registration_date", "null"),
        ("last_profile_edit", "'2026-01-31T23:59:59Z'"),
        ("last_profile_edit", "null"),
    ],
)
def test_every_shape_of_a_date_that_deployments_write_is_taken(write, key, date):
    baseline = load(write({"people/mira.yaml": f"{MIRA}profile: {{{key}: {date}}}\n"}))
    taken = getattr(baseline[PEOPLE.name]["mira"].profile, key)
    assert taken == (None if date == "null" else date.strip("'"))


LINE_REFUSALS = {
    "no JSON": (b"{", "; mend it."),
    "no UTF-8": (b'{"slug": "\xff"}', "; mend it."),
    "an empty line": (b"\n", "; mend it."),
    "unknown key": (b'{"slug": "a", "abuot": ""}', "did you mean 'about'?"),
    "missing key": (b'{"slug": "a", "about": ""}', "missing required field `emails`; add it."),
    "no slug": (b'{"slug": "", "about": "", "emails": []}', "slug: '' is no slug"),
}


@pytest.mark.parametrize(("line", "said"), LINE_REFUSALS.values(), ids=LINE_REFUSALS)
def test_a_line_is_refused_with_its_number(write, line, said):
    good = b'{"slug": "b", "about": "", "emails": [{"email": "b@example.org"}]}\n'
    directory = write({"people/many.jsonl": good + line})
    with pytest.raises(FixtureError) as refusal:
        load(directory)
    assert str(refusal.value).startswith(f"{directory}/people/many.jsonl:2: ")
    assert said in str(refusal.value)


TOKEN_REFUSALS = {
    "no list": ("token: x\n", "tokens.yaml: Expected `array`, got `object`"),
    "unknown key": ("- {token: x, person: mira, scope: []}\n", "; did you mean 'scopes'?"),
    "missing key": ("- {token: x}\n", "missing required field `person` - at `$[0]`; add it."),
    "kind": (TOKEN.replace("}", ", kind: basic}"), "Invalid enum value 'basic' - at `$[0].kind`"),
    "twice": (TOKEN + TOKEN, "tokens.yaml: token: 'mira-full' stands there twice"),
    "unknown person": (
        TOKEN.replace("person: mira", "person: myra"),
        "mira-full: person: there is no person 'myra'; did you mean 'mira'?",
    ),
    "unknown scope": (
        TOKEN.replace("[auth]", "[auth, write]"),
        "scope 'write' is not known; there are auth, avatar-profile:read, avatar-profile:manage.",
    ),
    "expires": (TOKEN.replace("}", ", expires: '2026-01-01'}"), "is no YYYY-MM-DDTHH:MM:SSZ"),
}


@pytest.mark.parametrize(("text", "said"), TOKEN_REFUSALS.values(), ids=TOKEN_REFUSALS)
def test_a_token_is_refused_with_file_and_remedy(write, text, said):
    directory = write({"tokens.yaml": text})
    with pytest.raises(FixtureError, match=re.escape(said)) as refusal:
        load(directory)
    assert str(refusal.value).startswith(f"{directory / 'tokens.yaml'}: ")


APPLICATION = "{client_id: shop, client_secret: s, name: Shop, owner: mira}"
APPLICATION_REFUSALS = {
    "another name": ("client_id: shop", "client_id: chop", "client_id: must be the file's name"),
    "unknown owner": ("mira", "myra", "owner: there is no person 'myra'; did you mean 'mira'?"),
    "unknown key": ("owner", "owners", "unknown field `owners`; did you mean 'owner'?"),
}


@pytest.mark.parametrize(
    ("good", "bad", "said"), APPLICATION_REFUSALS.values(), ids=APPLICATION_REFUSALS
)
def test_an_application_is_refused_with_file_and_remedy(write, good, bad, said):
    directory = write({"applications/shop.yaml": APPLICATION.replace(good, bad)})
    with pytest.raises(FixtureError, match=re.escape(said)):
        load(directory)


def test_a_picture_that_is_none_is_refused(write):
    directory = write({"images/birch.jpg": b"\x89PNG\r\n\x1a\n"})
    with pytest.raises(
        FixtureError, match=r"birch\.jpg holds no image/jpeg; give it the suffix of"
    ):
        load(directory)


@pytest.mark.parametrize("name", ["images/a.png", "people/a.jsonl", "people/a.yaml"])
def test_what_cannot_be_read_is_refused(write, name):
    directory = write()
    (directory / name).mkdir()
    with pytest.raises(StartupError, match=f"{name} cannot be read: Is a directory"):
        load(directory)


@pytest.mark.parametrize(("name", "meant"), [("nils.yml", ".yaml"), ("many.json", ".jsonl")])
def test_a_file_that_would_be_passed_over_is_refused(write, name, meant):
    directory = write({f"people/{name}": ""})
    with pytest.raises(FixtureError, match=f"{name} is not read; its name should end with {meant}"):
        load(directory)


def test_a_set_without_people_is_refused(write):
    directory = write()
    (directory / "people/mira.yaml").unlink()
    with pytest.raises(FixtureError, match=r"people holds nobody; put a person into <slug>\.yaml"):
        load(directory)


def test_a_directory_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FixtureError, match="nowhere is no directory; --fixtures takes one"):
        load(tmp_path / "nowhere")
