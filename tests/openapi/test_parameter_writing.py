"""Values are written as the table of OpenAPI 3.0.3 (4.7.12.4, style examples) has them."""

from urllib.parse import unquote

import pytest

from understudy.openapi.operations import Parameter
from understudy.openapi.parameter_writing import query_pairs, text_of

LIST = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}


def parameter(location: str, style: str, *, explode: bool) -> Parameter:
    return Parameter("color", location, True, style, explode, None)


@pytest.mark.parametrize(
    ("style", "explode", "value", "written"),
    [
        ("matrix", False, "blue", ";color=blue"),
        ("matrix", False, LIST, ";color=blue,black,brown"),
        ("matrix", True, LIST, ";color=blue;color=black;color=brown"),
        ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
        ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
        ("label", False, "blue", ".blue"),
        ("label", True, LIST, ".blue.black.brown"),
        ("label", True, OBJECT, ".R=100.G=200.B=150"),
        ("simple", False, "blue", "blue"),
        ("simple", False, LIST, "blue,black,brown"),
        ("simple", True, LIST, "blue,black,brown"),
        ("simple", False, OBJECT, "R,100,G,200,B,150"),
        ("simple", True, OBJECT, "R=100,G=200,B=150"),
    ],
)
def test_a_path_is_written_in_its_style(style, explode, value, written):
    assert text_of(parameter("path", style, explode=explode), value) == written


@pytest.mark.parametrize(
    ("style", "explode", "value", "written"),
    [
        ("form", False, LIST, "color=blue,black,brown"),
        ("form", True, LIST, "color=blue&color=black&color=brown"),
        ("form", False, OBJECT, "color=R,100,G,200,B,150"),
        ("form", True, OBJECT, "R=100&G=200&B=150"),
        ("form", True, {"R": ["a", "b"], "G": [{"B": 1}]}, 'R=a&R=b&G={"B": 1}'),
        ("spaceDelimited", False, LIST, "color=blue black brown"),
        ("pipeDelimited", False, LIST, "color=blue|black|brown"),
        ("deepObject", True, OBJECT, "color[R]=100&color[G]=200&color[B]=150"),
    ],
)
def test_a_query_is_written_in_its_style(style, explode, value, written):
    pairs = query_pairs(parameter("query", style, explode=explode), value)
    assert unquote("&".join(f"{name}={text}" for name, text in pairs)) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"R": ["a", "b"]}, "color[R]=a&color[R]=b"),
        ({"R": {"G": 1}}, "color[R][G]=1"),
        ({"R": [{"G": 1}, {"G": 2}]}, "color[R][0][G]=1&color[R][1][G]=2"),
        (["a", "b"], "color=a&color=b"),
    ],
)
def test_a_deep_object_is_written_to_its_leaves(value, written):
    pairs = query_pairs(parameter("query", "deepObject", explode=True), value)
    assert unquote("&".join(f"{name}={text}" for name, text in pairs)) == written


def test_reserved_characters_are_kept_where_the_document_allows_them():
    kept = Parameter("p", "query", True, "form", True, None, keeps_reserved=True)
    assert query_pairs(kept, "/a?b=c&d") == (("p", "/a?b%3Dc%26d"),)
