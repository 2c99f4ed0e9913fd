"""People who are kept as JSON are the same people, and take less memory."""

import tracemalloc

import msgspec

from understudy.mock.server.worlds import World
from understudy.mock.store.people import (
    PEOPLE,
    Email,
    PeopleLines,
    Person,
    Profile,
    is_changed,
    with_password,
)


def person(number: int) -> Person:
    profile = Profile(display_name=f"Person {number}", description="x" * 1000)
    emails = (Email(f"p{number}@example.com"),)
    return Person(f"p{number}", "Nothing special.", emails, profile)


def line(number: int) -> bytes:
    return msgspec.json.encode(person(number)) + b"\n"


def test_people_of_lines_are_those_that_were_written() -> None:
    expected = {f"p{number}": with_password(person(number)) for number in range(5)}
    people = PeopleLines({"p0": expected["p0"], **{f"p{n}": line(n) for n in range(1, 5)}})
    assert dict(people.items()) == dict(people) == expected
    assert (list(people), len(people)) == (list(expected), 5)
    assert "p4" in people
    assert "p5" not in people
    assert people.get("p5") is None
    assert people["p4"].password == "p4-password"


def test_who_is_asked_for_again_and_again_is_the_same_object() -> None:
    people = PeopleLines({"p1": line(1)})
    assert people["p1"] == people["p1"]
    assert people["p1"] is people["p1"]


def test_a_person_is_unchanged_as_often_as_their_line_is_decoded() -> None:
    world = World("w", {PEOPLE.name: PeopleLines({"p1": line(1)})})
    assert not is_changed(world, "p1")
    world.put(PEOPLE, "p1", person(2))
    assert is_changed(world, "p1")


def test_a_look_at_everyone_keeps_nobody_decoded() -> None:
    people = PeopleLines({f"p{number}": line(number) for number in range(3000)})
    _, kept = people["p1"], people["p1"]
    tracemalloc.start()
    assert sum(len(one.emails) for _, one in people.items()) == 3000
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 100_000
    assert people["p1"] is kept
