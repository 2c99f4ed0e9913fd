"""A response takes the memory of its text, as the journal keeps many."""

import tracemalloc

import orjson
import pytest

from understudy.mock.server.call import HandlerResponse, SharedBody
from understudy.mock.server.json_bodies import json_bytes
from understudy.mock.server.response_sending import encode

VALUE = {"description": "x" * 5000}


WAYS = {
    "json_bytes": lambda: json_bytes(VALUE),
    "a shared body": lambda: SharedBody(VALUE).encoded(),
    "a response": lambda: encode(HandlerResponse(VALUE)).body,
}


@pytest.mark.parametrize("encoded", WAYS.values(), ids=WAYS)
def test_the_json_of_a_response_takes_no_more_memory_than_its_text(encoded) -> None:
    tracemalloc.start()
    kept = [encoded() for _ in range(20)]
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept[0] == orjson.dumps(VALUE)
    assert size < 1.1 * sum(map(len, kept))
