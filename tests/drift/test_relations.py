"""A response relates to what its sender sent and read before, whatever the values are."""

import orjson
import pytest
from tests.verify.exchanges import exchange_of

from understudy.drift.differences import COUNTED_REQUESTS, relations
from understudy.exchange.messages import Identity, Request, Response

OWNER = Identity("owner", "oauth", "own")
JSON = (("content-type", "application/json"),)


def read(number, body, *, sender="walk", path="/me/profile"):
    """Returns a read of the owner."""
    return exchange_of(
        path,
        number=number,
        operation=f"GET {path}",
        identity=OWNER,
        source=sender,
        response=Response(200, JSON, orjson.dumps(body)),
    )


def written(number, body, *, response=None, sender="walk"):
    """Returns an update of the own profile."""
    return exchange_of(
        "/me/profile",
        number=number,
        operation="PATCH /me/profile",
        identity=OWNER,
        source=sender,
        request=Request("PATCH", "http://127.0.0.1:1/v3/me/profile", JSON, orjson.dumps(body)),
        response=Response(200, JSON, orjson.dumps(body if response is None else response)),
    )


def last(*exchanges):
    """Returns the relations of the last exchange of a sender, among those of the run."""
    own = [it for it in exchanges if it.source == "walk"]
    return relations(own, exchanges)[-1]


@pytest.mark.parametrize(("text", "relation"), [("Ada", "as sent"), ("", "otherwise")])
def test_what_was_written_is_read_back_or_not(text, relation):
    update = written(1, {"location": "Ada"})
    assert last(update, read(2, {"location": text}))["read back location"] == relation
    response = {"location": text}
    assert last(written(1, {"location": "Ada"}, response=response)) == {
        "read back location": relation
    }


@pytest.mark.parametrize(("more", "length"), [([], "+0"), ([{"image_id": "b"}], "+1")])
def test_a_list_grows_or_stays_as_long(more, length):
    path = "/me/avatars"
    before, after = read(1, [{"image_id": "a"}], path=path), [{"image_id": "a"}, *more]
    assert last(before, read(2, after, path=path)) == {"length since the last read": length}


def test_what_nobody_changed_stays_as_it_was():
    before = read(1, {"pronouns": "she", "last_profile_edit": "2030-01-01", "hash": "a"})
    after = read(2, {"pronouns": "they", "last_profile_edit": "2030-01-02", "hash": "b"})
    assert last(before, after) == {"pronouns since the last read": "changed"}


def test_what_a_limit_counted_is_related_where_no_request_is_in_between():
    def lookup(number, remaining, *, reset=1_900_000_000):
        counts = {"limit": 100, "remaining": remaining, "reset": reset}
        headers = tuple((f"x-ratelimit-{name}", str(count)) for name, count in counts.items())
        response = Response(200, (*JSON, *headers), b"{}")
        return exchange_of(
            "/profiles/ada",
            number=number,
            operation="GET /profiles/{}",
            source="walk",
            response=response,
        )

    counted = {COUNTED_REQUESTS: "2"}
    assert last(lookup(1, 90), lookup(2, 88)) == counted
    assert last(lookup(1, 90), lookup(3, 88)) == {}
    assert last(lookup(1, 90), lookup(2, 99, reset=1_900_003_600)) == {}


def test_nothing_is_related_over_a_write_of_another_sender():
    other = written(2, {"location": "Elsewhere"}, sender="probe")
    assert last(read(1, {"location": "a"}), other, read(3, {"location": "b"})) == {}
    assert last(written(1, {"location": "a"}), other, read(3, {"location": "b"})) == {}
    update = written(3, {"company": "c"}, response={"location": "Elsewhere", "company": "c"})
    assert last(written(1, {"location": "a"}), other, update) == {"read back company": "as sent"}
