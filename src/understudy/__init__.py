"""A spec-driven stand-in for the avatar and profile service, and the contract tests that keep it honest.

What other code uses is imported when it is first named: pytest and Hypothesis take half a second,
which no command and no mock should wait for.
"""

from typing import Any

_LIBRARY = ("edge_cases", "parametrize")


def __getattr__(name: str) -> Any:
    if name in _LIBRARY:
        from understudy.generate import library  # noqa: PLC0415 - see above

        return getattr(library, name)
    msg = f"module 'understudy' has no attribute {name!r}"
    raise AttributeError(msg)
