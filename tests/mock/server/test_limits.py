"""What is beyond a limit is refused by the limit's name, and what is within is not."""

import pytest

from understudy.errors import LimitExceeded
from understudy.limits import (
    FORM_BYTES,
    FORM_FIELDS,
    HEADER_BYTES,
    HEADER_FIELDS,
    JSON_BYTES,
    JSON_DEPTH,
    JSON_INTEGER,
    JSON_VALUES,
    MULTIPART_PARTS,
    TARGET_BYTES,
    Limit,
)
from understudy.mock.server.journal import Journal
from understudy.mock.server.json_bodies import read_json
from understudy.mock.server.worlds import Collection, World
from understudy.mock.store.people import IMAGES, Image, expect_room_for_picture

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
HOST = (b"host", b"mock.test")


def beyond(response) -> tuple[int, str]:
    """Returns the status and the limit of a refusal, whose body says the limit too."""
    limit = response.headers["x-mock-limit"]
    assert limit in response.json()["error"]
    return response.status_code, limit


def test_too_many_header_fields_are_431(notes) -> None:
    headers = (HOST, *((b"x-a", b"1") for _ in range(30_000)))
    assert beyond(notes.bare("GET", "/v1/notes", headers=headers)) == (431, HEADER_FIELDS.name)


def test_too_many_bytes_of_header_fields_are_431(notes) -> None:
    headers = (HOST, (b"x-a", b"1" * HEADER_BYTES.most))
    assert beyond(notes.bare("GET", "/v1/notes", headers=headers)) == (431, HEADER_BYTES.name)


def test_as_many_header_fields_as_the_limit_pass(notes) -> None:
    headers = (HOST, *((b"x-%d" % n, b"1") for n in range(HEADER_FIELDS.most - 1)))
    assert notes.bare("GET", "/v1/notes", headers=headers).status_code == 200


@pytest.mark.parametrize("query", [b"a" * TARGET_BYTES.most, b"%41=1"])
def test_a_target_beyond_the_limit_is_414(notes, query) -> None:
    path = "/v1/notes" + "/" * TARGET_BYTES.most
    assert beyond(notes.bare("GET", path, query)) == (414, TARGET_BYTES.name)


def test_a_query_of_too_many_fields_is_refused(notes) -> None:
    query = b"a&" * (FORM_FIELDS.most + 1)
    assert beyond(notes.bare("GET", "/v1/notes", query)) == (400, FORM_FIELDS.name)


def test_a_form_of_too_many_fields_is_refused_before_it_is_parsed(notes) -> None:
    content = b"a=1&" * (FORM_FIELDS.most + 1)
    refused = notes.post("/v1/forms", content=content, headers=FORM)
    assert beyond(refused) == (400, FORM_FIELDS.name)


def test_a_form_of_too_many_bytes_is_refused_before_it_is_decoded(notes) -> None:
    content = b"a=" + b"%41" * (FORM_BYTES.most // 3)
    assert beyond(notes.post("/v1/forms", content=content, headers=FORM)) == (413, FORM_BYTES.name)


def test_a_multipart_body_of_too_many_parts_is_refused(notes) -> None:
    files = [(f"f{number}", b"a") for number in range(MULTIPART_PARTS.most + 1)]
    assert beyond(notes.post("/v1/notes/1/picture", files=files)) == (400, MULTIPART_PARTS.name)


@pytest.mark.parametrize(
    ("content", "limit", "status"),
    [
        (b'"' + b"a" * JSON_BYTES.most + b'"', JSON_BYTES, 413),
        (b"[" + b"1," * JSON_VALUES.most + b"1]", JSON_VALUES, 400),
        (b"[" * (JSON_DEPTH.most + 2) + b"]" * (JSON_DEPTH.most + 2), JSON_DEPTH, 400),
        (b'{"text": %d}' % (JSON_INTEGER.most + 1), JSON_INTEGER, 400),
        (b'{"text": -1e30}', JSON_INTEGER, 400),
    ],
    ids=["bytes", "values", "depth", "integer", "float"],
)
def test_json_beyond_a_limit_is_refused(notes, content, limit, status) -> None:
    refused = notes.post("/v1/notes", content=content, headers=JSON)
    assert beyond(refused) == (status, limit.name)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"[7.0, 1e3, -0.0]", [7, 1000, 0]),
        (b'{"a": {"b": 1.5}}', {"a": {"b": 1.5}}),
        (b"[true, null, 9007199254740991]", [True, None, 2**53 - 1]),
    ],
)
def test_an_integral_number_is_an_integer_however_it_is_written(content, value) -> None:
    read = read_json(content)
    assert (read, str(read)) == (value, str(value))


@pytest.mark.parametrize("value", [b'"a"', b"1"], ids=["texts", "numbers"])
def test_a_body_of_declared_members_may_not_have_too_many_values(value) -> None:
    members = b",".join(b'"m%d": %b' % (number, value) for number in range(JSON_VALUES.most + 1))
    with pytest.raises(LimitExceeded, match=f"At most {JSON_VALUES.most:,}"):
        read_json(b"{%b}" % members, frozenset({"m0"}))


def test_a_number_that_is_not_stored_may_be_of_any_size() -> None:
    assert read_json(b'{"other": -1e30, "own": 7.0}', frozenset({"own"})) == {
        "other": -1e30,
        "own": 7,
    }


def test_a_journal_forgets_its_oldest_entries_beyond_its_bytes(monkeypatch) -> None:
    class Entry:
        number = 0
        exercised = None
        size = 400

    monkeypatch.setattr("understudy.mock.server.journal.JOURNAL_BYTES", FORM_FIELDS)
    journal: Journal = Journal()
    for _ in range(5):
        journal.add(Entry())
    assert [entry.number for entry in journal] == [4, 5]
    assert journal.get(3) is None


def test_a_transient_record_makes_room_and_another_is_refused(monkeypatch) -> None:

    monkeypatch.setattr("understudy.mock.server.worlds.RECORDS", Limit("records", 2, "records"))
    world = World("w", {})
    passing: Collection[int] = Collection("passing", int, is_transient=True)
    lasting: Collection[int] = Collection("lasting", int)
    for number in range(3):
        world.put(passing, str(number), number)
    assert dict(world.items(passing)) == {"1": 1, "2": 2}
    world.put(lasting, "a", 1)
    world.put(lasting, "b", 1)
    world.put(lasting, "a", 2)
    with pytest.raises(LimitExceeded, match="records"):
        world.put(lasting, "c", 3)


def test_a_world_keeps_pictures_up_to_so_many_bytes(monkeypatch) -> None:
    small = Limit("picture-bytes", 10, "bytes of uploads in a world", 413)
    monkeypatch.setattr("understudy.mock.store.people.PICTURE_BYTES", small)
    world = World("w", {"images": {"fixture.png": Image(b"not counted", "image/png")}})
    world.put(IMAGES, "a", Image(b"1234567", "image/png"))
    expect_room_for_picture(world, b"890")
    with pytest.raises(LimitExceeded, match="picture-bytes"):
        expect_room_for_picture(world, b"8901")
