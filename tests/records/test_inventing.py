import subprocess
import sys
from itertools import islice

import msgspec
import pytest
from msgspec import UNSET

from understudy.mock.fixtures.inventing import LOCALES, people
from understudy.mock.fixtures.loading import load
from understudy.mock.store.people import PEOPLE, Profile
from understudy.openapi.bundled import fixtures_directory

MANY = list(people(2000, 7))


def lines(count, seed):
    return b"\n".join(msgspec.json.encode(person) for person in people(count, seed))


def test_the_same_count_and_seed_invent_the_same_bytes_in_another_process():
    program = (
        "import sys, msgspec; from understudy.mock.fixtures.inventing import people;"
        "sys.stdout.buffer.write(b'\\n'.join(map(msgspec.json.encode, people(50, 3))))"
    )
    again = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert again.stdout == lines(50, 3)


def test_more_people_begin_with_the_same_ones():
    assert list(people(20, 7)) == MANY[:20] == list(islice(people(10_000, 7), 20))


def test_another_seed_invents_other_people():
    assert {person.slug for person in people(200, 8)}.isdisjoint(person.slug for person in MANY)


def test_nobody_is_invented_twice():
    addresses = [email.email for person in MANY for email in person.emails]
    assert len({person.slug for person in MANY}) == len(MANY)
    assert len(set(addresses)) == len(addresses)


def test_invented_people_can_be_loaded(write):
    portraits = (fixtures_directory() / "images").iterdir()
    pictures = {f"images/{path.name}": path.read_bytes() for path in portraits}
    some = b"\n".join(msgspec.json.encode(person) for person in MANY)
    baseline = load(write({"people/invented.jsonl": some, **pictures}))
    assert len(baseline[PEOPLE.name]) == len(MANY) + 1


@pytest.mark.parametrize("key", Profile.__struct_fields__)
def test_every_field_that_can_be_unset_is_unset_with_some_people_and_not_with_others(key):
    unset = {getattr(person.profile, key) in ("", (), UNSET) for person in MANY}
    always = {"display_name": {False}, "pronunciation": {True}}
    assert unset == always.get(key, {True, False})


def test_people_differ_in_what_decides_who_sees_what():
    assert {person.visibility for person in MANY} == {"public", "private", "disabled"}
    assert {len(person.emails) for person in MANY} == {1, 2, 3}
    assert {person.contact_public for person in MANY} == {True, False}
    assert {avatar.rating for person in MANY for avatar in person.avatars} == {"G", "PG", "R", "X"}


def test_people_come_from_every_locale():
    assert {person.about for person in MANY} == {f"Invented, locale {name}." for name in LOCALES}
