"""Grouping a document by its collections takes time in proportion to its paths."""

import sys
from itertools import count
from typing import Any

from understudy.collections.bodies import places
from understudy.openapi.operations import Operation


def _calls(paths: int) -> int:
    """Returns how many functions are called for so many collections beside one another."""
    declared = [
        Operation("GET", path, path, (), None, {}, (), path)
        for number in range(paths)
        for path in (
            f"/group{number // 10}/thing{number}",
            f"/group{number // 10}/thing{number}/{{id}}",
        )
    ]
    calls = count()

    def observe(_frame: Any, event: str, _argument: Any) -> None:
        if event.endswith("call"):
            next(calls)

    sys.setprofile(observe)
    try:
        assert len(places(declared)) == paths
    finally:
        sys.setprofile(None)
    return next(calls)


def test_twice_the_paths_take_twice_the_calls() -> None:
    _calls(100)  # compiles what is compiled once
    assert _calls(1000) < 2.2 * _calls(500)
