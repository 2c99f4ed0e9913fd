"""Hypothesis strategies by name: ``profile()``, ``avatar()``, ``update_own_profile()`` and so on.

The names are those of the documents' schemas and operations, in snake case. They are looked up when they
are used, so that every schema has a strategy.
"""

from collections.abc import Callable
from typing import Any

from understudy.generate import hypothesis_strategies


def __getattr__(name: str) -> Callable[[], Any]:
    if name.startswith("__"):
        raise AttributeError(name)
    return hypothesis_strategies.named(name)


def __dir__() -> list[str]:
    return hypothesis_strategies.names()
