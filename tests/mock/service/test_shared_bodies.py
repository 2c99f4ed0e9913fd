"""A body is kept for a record that is shown again, and built anew for any other."""

from msgspec.structs import replace

from understudy.mock.server.call import SharedBody
from understudy.mock.service import representations
from understudy.mock.store.people import Avatar, Email, Person, Profile

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


TWO = (Avatar("a", "a", "2026-11-28T09:00:00Z"), Avatar("b", "b", "2026-11-28T09:00:00Z"))
BY_TWO_ADDRESSES = replace(
    MIA,
    emails=(Email("mia@example.com", "a"), Email("mia@example.org", "b"), Email("m@example.com")),
    avatars=TWO,
)


def kept_list(person: Person, index: int = 0) -> SharedBody:
    """Returns the list that is kept for a person, whose avatars are listed for the second time."""
    representations.shared_avatars(person, SITE, index)
    return representations.shared_avatars(person, SITE, index)


def test_a_list_of_avatars_is_kept_until_the_avatars_change() -> None:
    body = kept_list(BY_TWO_ADDRESSES)
    renamed = replace(BY_TWO_ADDRESSES, profile=Profile(display_name="Mia M."))
    rated = replace(BY_TWO_ADDRESSES, avatars=(TWO[0], replace(TWO[1], rating="X")))
    assert representations.shared_avatars(renamed, SITE, 0) is body
    assert [it["rating"] for it in kept_list(rated).value] == ["G", "X"]


def test_a_list_of_avatars_shows_the_one_that_the_address_selects() -> None:
    lists = [kept_list(BY_TWO_ADDRESSES, index).value for index in range(3)]
    assert [[it["selected"] for it in avatars] for avatars in lists] == [
        [True, False],
        [False, True],
        [False, False],
    ]


def test_a_long_list_of_avatars_is_not_kept() -> None:
    many = tuple(Avatar(str(number), "a", "2026-11-28T09:00:00Z") for number in range(17))
    first, second = (kept_list(replace(MIA, avatars=many)) for _ in range(2))
    assert first is not second
    assert len(first.value) == 17
