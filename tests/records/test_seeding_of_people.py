"""Whatever is wrong with a person is refused with the file, the key and the remedy."""

import re

import pytest

from understudy.errors import FixtureError
from understudy.mock.fixtures.loading import RESERVED_SLUGS, load

MIRA = "slug: mira\nabout: Nothing special.\nemails: [{email: mira@example.com}]\n"
AVATAR = "{image_id: %s, image: amber.png, updated_date: '2026-01-01T00:00:00Z'}" % ("a" * 32)


PERSON_REFUSALS = {
    "unknown key": (
        f"{MIRA}avatar: x\n",
        "Object contains unknown field `avatar`; did you mean 'avatars'?",
    ),
    "unknown key far down": (
        f"{MIRA}profile: {{links: [{{lable: x, url: y}}]}}\n",
        "unknown field `lable` - at `$.profile.links[0]`; did you mean 'label'?",
    ),
    "unknown key like no other": (f"{MIRA}zzz: x\n", "unknown field `zzz`; leave it out."),
    "wrong type": (
        f"{MIRA}profile: {{display_name: 7}}\n",
        "Expected `str`, got `int` - at `$.profile.display_name`; mend it.",
    ),
    "truth in quotes": (f"{MIRA}contact_public: 'false'\n", "got `str` - at `$.contact_public`"),
    "missing key": ("slug: mira\nabout: x\n", "missing required field `emails`; add it."),
    "an empty file": ("", "Expected `object`, got `null`"),
    "another slug": (MIRA.replace("mira\n", "myra\n"), "slug: 'myra' must be the file's name"),
    "no e-mail": ("slug: mira\nabout: x\nemails: []\n", "emails: there is none"),
    "malformed e-mail": (MIRA.replace("@", " at "), "'mira at example.com' is no e-mail address"),
    "e-mail twice": (
        MIRA.replace("}]", "}, {email: MIRA@example.com}]"),
        "emails: 'mira@example.com' is given twice.",
    ),
    "avatar of nobody": (
        MIRA.replace("com}", f"com, avatar: {'b' * 32}}}"),
        f"avatar '{'b' * 32}' of mira@example.com is not among this person's avatars",
    ),
    "malformed image_id": (
        f"{MIRA}avatars: [{AVATAR.replace('aaa', 'XYZ')}]\n",
        "avatars: image_id",
    ),
    "image_id twice": (f"{MIRA}avatars: [{AVATAR}, {AVATAR}]\n", "and each only once"),
    "avatar's date": (
        f"{MIRA}avatars: [{AVATAR.replace('-01T', '-32T')}]\n",
        "updated_date '2026-01-32T00:00:00Z' is no YYYY-MM-DDTHH:MM:SSZ",
    ),
    "avatar's image": (
        f"{MIRA}avatars: [{AVATAR.replace('amber', 'ambre')}]\n",
        "avatars: there is no image 'ambre.png' in images/; did you mean 'amber.png'?",
    ),
    "gallery's image": (
        f"{MIRA}profile: {{gallery: [{{image: sea.jpg}}]}}\n",
        "profile.gallery: there is no image 'sea.jpg' in images/; there are amber.png.",
    ),
    "header's image": (
        f"{MIRA}profile: {{header_image: {{image: sea.jpg}}}}\n",
        "profile.header_image: there is no image 'sea.jpg'",
    ),
    "visibility": (f"{MIRA}visibility: hidden\n", "Invalid enum value 'hidden'"),
}


@pytest.mark.parametrize(("text", "said"), PERSON_REFUSALS.values(), ids=PERSON_REFUSALS)
def test_a_person_is_refused_with_file_and_remedy(write, text, said):
    directory = write({"people/mira.yaml": text})
    with pytest.raises(FixtureError) as refusal:
        load(directory)
    assert str(refusal.value).startswith(f"{directory / 'people/mira.yaml'}: ")
    assert said in str(refusal.value)


@pytest.mark.parametrize("key", ["last_profile_edit", "registration_date"])
@pytest.mark.parametrize(
    "date",
    ["2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00+00:00", "yesterday"],
)
def test_a_date_that_no_deployment_writes_is_refused(write, key, date):
    directory = write({"people/mira.yaml": f"{MIRA}profile: {{{key}: '{date}'}}\n"})
    with pytest.raises(FixtureError, match=f"profile.{key}: '{re.escape(date)}' is no YYYY-MM-DD"):
        load(directory)


@pytest.mark.parametrize("slug", ["a" * 64, "-a", "Mira", "mi ra", "__mira", "mïra", "a.b"])
def test_a_slug_that_is_none_is_refused(write, slug):
    directory = write({f"people/{slug}.yaml": MIRA.replace("mira\n", f"'{slug}'\n")})
    with pytest.raises(FixtureError, match="is no slug; use up to 63 of a-z, 0-9 and -"):
        load(directory)


@pytest.mark.parametrize("slug", sorted(slug for slug in RESERVED_SLUGS if "." not in slug))
def test_a_slug_that_is_an_address_of_the_service_is_refused(write, slug):
    directory = write({f"people/{slug}.yaml": MIRA.replace("mira\n", f"{slug}\n")})
    with pytest.raises(FixtureError, match=f"slug: '{slug}' is an address of the service"):
        load(directory)


def test_two_people_with_one_slug_are_refused_with_both_files(write):
    line = '{"slug": "mira", "about": "", "emails": [{"email": "m@example.org"}]}'
    directory = write({"people/many.jsonl": line})
    with pytest.raises(FixtureError) as refusal:
        load(directory)
    assert str(refusal.value) == (
        f"{directory}/people/many.jsonl:1: slug: 'mira' is also in"
        f" {directory}/people/mira.yaml; choose another."
    )


def test_two_people_with_one_address_are_refused_with_both_files(write):
    second = MIRA.replace("slug: mira", "slug: nils").replace("mira@", "' MIRA@").replace("}", "'}")
    directory = write({"people/nils.yaml": second})
    with pytest.raises(FixtureError) as refusal:
        load(directory)
    assert str(refusal.value) == (
        f"{directory}/people/nils.yaml: emails: ' MIRA@example.com' is also in"
        f" {directory}/people/mira.yaml; it can be one person's only."
    )


def test_two_people_with_one_image_id_are_refused_with_both_files(write):
    mira = f"{MIRA}avatars: [{AVATAR}]\n"
    directory = write({"people/mira.yaml": mira, "people/nils.yaml": mira.replace("mira", "nils")})
    with pytest.raises(FixtureError) as refusal:
        load(directory)
    assert f"{directory}/people/nils.yaml: avatars: image_id" in str(refusal.value)
    assert f"is also in {directory}/people/mira.yaml" in str(refusal.value)
