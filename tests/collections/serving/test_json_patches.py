"""A JSON patch (RFC 6902) changes a value, or says which operation cannot be applied, and why."""

from typing import Any

import pytest

from understudy.collections.serving import patched
from understudy.errors import BadRequest, Conflict, LimitExceeded

ITEM: dict[str, Any] = {"tags": ["a", "b"], "owner": {"name": "Ada"}, "a/b": 1, "#x": 2}


@pytest.mark.parametrize(
    ("operation", "path", "expected"),
    [
        ({"op": "add", "path": "/tags/1", "value": "c"}, "tags", ["a", "c", "b"]),
        ({"op": "add", "path": "/tags/-", "value": "c"}, "tags", ["a", "b", "c"]),
        ({"op": "remove", "path": "/tags/0"}, "tags", ["b"]),
        ({"op": "replace", "path": "/a~1b", "value": 7}, "a/b", 7),
        ({"op": "move", "from": "/owner", "path": "/owner"}, "owner", {"name": "Ada"}),
        ({"op": "copy", "from": "/owner", "path": "/#x"}, "#x", {"name": "Ada"}),
        ({"op": "test", "path": "/owner/name", "value": "Ada"}, "a/b", 1),
    ],
    ids=str,
)
def test_an_operation_changes_a_copy(operation: dict[str, Any], path: str, expected: Any):
    before = repr(ITEM)
    assert patched(ITEM, [operation])[path] == expected
    assert repr(ITEM) == before


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/none"},
        {"op": "remove", "path": "/#owner"},  # an extension of the library's pointers
        {"op": "remove", "path": "/tags/-1"},
        {"op": "replace", "path": "/tags/01", "value": 1},
        {"op": "add", "path": "/tags/3", "value": 1},
        {"op": "add", "path": "/owner/name/first", "value": 1},
        {"op": "add", "path": "owner", "value": 1},
        {"op": "add", "path": 7, "value": 1},
        {"op": "add", "path": "/owner"},
        {"op": "copy", "path": "/owner"},
        {"op": "copy", "from": "/none", "path": "/owner"},
        {"op": "move", "from": "/owner", "path": "/owner/name"},
        {"op": "addne", "path": "/new", "value": 1},  # an extension of the library
        {"path": "/owner"},
        "remove",
    ],
    ids=str,
)
def test_an_operation_that_cannot_be_applied_is_named_by_its_place(operation: Any):
    with pytest.raises(BadRequest, match=r"^Operation 1 of the patch "):
        patched(ITEM, [{"op": "add", "path": "/new", "value": 1}, operation])


def test_a_test_that_fails_is_a_conflict():
    with pytest.raises(Conflict, match=r"The test of '/a~1b' fails"):
        patched(ITEM, [{"op": "test", "path": "/a~1b", "value": 2}])


def test_copies_that_double_a_value_are_refused_before_the_memory_is_full():
    double = {"op": "copy", "from": "/tags", "path": "/tags/0"}
    with pytest.raises(LimitExceeded):
        patched(ITEM, [double] * 64)
