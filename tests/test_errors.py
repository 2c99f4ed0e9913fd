"""The error tree as its docstring draws it."""

import re

import pytest

from understudy import errors
from understudy.errors import BadRequest, Problem, StartupError, nearest

TREE = re.findall(r"[├└]── (\w+) +(\d{3})", errors.__doc__ or "")


@pytest.mark.parametrize(("name", "status"), TREE)
def test_a_problem_has_the_status_that_the_tree_gives_it(name: str, status: str) -> None:
    assert getattr(errors, name).status == int(status)


def test_the_tree_draws_every_error_of_both_roots() -> None:
    drawn = set(re.findall(r"── (\w+)", errors.__doc__ or ""))
    kinds = [*StartupError.__subclasses__(), *Problem.__subclasses__()]
    assert drawn == {kind.__name__ for kind in kinds if kind.__module__ == errors.__name__}


def test_a_problem_carries_what_the_answer_needs() -> None:
    problem = BadRequest("no", code="odd", headers=(("x-a", "b"),))
    assert (str(problem), problem.message, problem.code) == ("no", "no", "odd")
    assert problem.headers == (("x-a", "b"),)


def refuse() -> None:
    msg = "no"
    raise BadRequest(msg)


def test_a_problem_names_the_code_that_made_it_the_closest_first() -> None:
    with pytest.raises(BadRequest) as refused:
        refuse()
    assert refused.value.made_by[0] is refuse.__code__


def test_a_close_word_is_offered_and_a_far_one_is_not() -> None:
    assert nearest("raiting", ["rating", "alt_text"]) == "; did you mean 'rating'?"
    assert nearest("colour", ["rating", "alt_text"]) == ""


def test_a_message_keeps_the_beginning_of_a_word_without_end() -> None:
    assert str(StartupError(f"people.yaml: no person {'9' * 5000} is there")) == (
        f"people.yaml: no person {'9' * 300}… is there"
    )


def test_a_message_stays_on_one_line_and_within_bounds() -> None:
    assert str(StartupError("file\r\nX: 1 cannot be read.")) == "file\\r\\nX: 1 cannot be read."
    assert str(StartupError("no word: " + "x " * 5000)) == f"no word: {'x ' * 745}x…"
