"""A body is kept for a record that is shown again, and built anew for any other."""

from msgspec.structs import replace

from understudy.mock.server.call import SharedBody
from understudy.mock.service import representations
from understudy.mock.store.people import Email, Person, Profile

SITE = "http://127.0.0.1:8080"
MIA = Person("mia", "", (Email("mia@example.com"),), Profile(display_name="Mia"))


def edited(**members: object) -> Person:
    return replace(MIA, profile=replace(MIA.profile), **members)


def kept(person: Person) -> SharedBody:
    """Returns the body that is kept for a person, who is shown for the second time."""
    representations.shared_profile(person, SITE)
    return representations.shared_profile(person, SITE)


def test_a_record_that_is_shown_again_has_the_same_body() -> None:
    body = kept(MIA)
    assert representations.shared_profile(MIA, SITE) is body


def test_a_record_that_differs_has_another_body() -> None:
    body = kept(MIA)
    other = replace(MIA, profile=Profile(display_name="Mia M."))
    assert representations.shared_profile(other, SITE) is not body


def test_one_and_true_are_not_taken_for_each_other_in_members_of_any_type() -> None:
    for value, expected in ((1, b"1"), (True, b"true"), (1.0, b"1.0")):
        body = kept(edited(extra={"level": value}))
        assert b'"level":%b' % expected in body.encoded()
