"""Handlers are bound by method and path, whatever a document calls its operations."""

from typing import Any

import pytest

from understudy.errors import StartupError
from understudy.mock.server.call import Binding, bind, keyword_name, shape
from understudy.openapi.operations import Operation, Parameter


def operation(path: str, *names: str) -> Operation:
    parameters = tuple(
        Parameter(name, "query", required=False, style="form", explode=True, schema=None)
        for name in names
    )
    return Operation("GET", path, "any", parameters, None, {}, (), "#")


def handler(call: Any, first: str, *, utm_medium: str = "", type_: str = "") -> None: ...


def with_body(call: Any, *, body: Any) -> None: ...


def test_a_handler_gets_path_arguments_by_position_and_the_others_by_keyword() -> None:
    operations = [operation("/a/{imageHash}", "utmMedium", "type", "unknown")]
    (binding,) = bind(operations, {("GET", "/a/{id}"): handler})
    keywords = (("utmMedium", "utm_medium"), ("type", "type_"))
    assert binding == Binding(handler, ("imageHash",), keywords)


def test_a_handler_that_asks_for_the_body_gets_it() -> None:
    (binding,) = bind([operation("/a")], {("GET", "/a"): with_body})
    assert binding == Binding(with_body, (), (("body", "body"),), frozenset({"body"}))


def test_an_operation_without_a_handler_is_bound_to_none() -> None:
    assert bind([operation("/a")], {("GET", "/b"): with_body}) == (Binding(None),)


def test_two_handlers_for_one_operation_are_refused() -> None:
    with pytest.raises(StartupError, match=r"Two handlers claim GET /a/\{y\}; keep one"):
        bind([], {("GET", "/a/{x}"): handler, ("GET", "/a/{y}"): handler})


def test_a_handler_with_another_number_of_path_parameters_is_refused() -> None:
    with pytest.raises(
        StartupError, match=r"has 0 path parameters, and its handler handler takes 1"
    ):
        bind([operation("/a")], {("GET", "/a"): handler})


def test_the_shape_of_a_path_leaves_out_the_names_of_its_parameters() -> None:
    assert shape("GET", "/a/{b}/{c-d}.png") == ("GET", "/a/{}/{}.png")


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("size", "size"),
        ("utmMedium", "utm_medium"),
        ("X-Rate-Limit", "x_rate_limit"),
        ("type", "type_"),
        ("class", "class_"),
        ("scope[]", "scope"),
        ("sha256Hash", "sha256_hash"),
    ],
)
def test_a_parameters_name_is_written_as_python_writes_it(name: str, python: str) -> None:
    assert keyword_name(name) == python
