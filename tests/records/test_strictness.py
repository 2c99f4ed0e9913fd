from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from understudy.errors import FixtureError
from understudy.mock.fixtures.strictness import converted
from understudy.mock.store.people import Person
from understudy.mock.store.tokens import Token
from understudy.openapi.bundled import fixtures_directory
from understudy.openapi.yaml_files import read_yaml

ADA = read_yaml(fixtures_directory() / "people" / "ada.yaml")
ODD: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.text() | st.just([]) | st.just({"": 0})
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, str | int | None):
        return [path]
    keys = value if isinstance(value, dict) else range(len(value))
    return [path, *(deeper for key in keys for deeper in places(value[key], (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    inner = replaced(value[path[0]], path[1:], other)
    if isinstance(value, dict):
        return {**value, path[0]: inner}
    return [*value[: path[0]], inner, *value[path[0] + 1 :]]


def refusal(person: Any) -> str | None:
    try:
        converted("ada.yaml", person, Person)
    except FixtureError as error:
        return str(error)
    return None


@given(st.sampled_from(places(ADA)), ODD)
@example(("profile", "links", 1), {"lable": "x"})
def test_whatever_stands_in_a_file_fits_or_is_refused_with_its_place(path, odd):
    said = refusal(replaced(ADA, path, odd))
    assert said is None or said.startswith("ada.yaml: ")
    assert said is None or all(key in said for key in path[:-1] if isinstance(key, str))


MAPPINGS = [path[:-1] for path in places(ADA) if path and isinstance(path[-1], str)]


@given(st.sampled_from(MAPPINGS), st.text("abc", min_size=9))
def test_a_key_that_nobody_knows_is_named(path, key):
    place = ADA
    for step in path:
        place = place[step]
    said = refusal(replaced(ADA, path, {**place, key: 1}))
    assert said is not None
    assert f"unknown field `{key}`" in said


def test_the_nearest_key_is_looked_for_where_the_unknown_one_stands():
    entries = [{"token": "t", "person": "ada", "abuot": ""}]
    with pytest.raises(FixtureError, match=r"unknown field `abuot` - at `\$\[0\]`; did you mean"):
        converted("tokens.yaml", entries, list[Token])
    with pytest.raises(FixtureError, match="did you mean 'location'"):
        converted("ada.yaml", {**ADA, "profile": {"locaton": ""}}, Person)
