"""The kinds of sample values: plausible ones for people, and plain ones that stay the same."""

from collections.abc import Callable
from typing import NamedTuple

from understudy.openapi.directions import Flag
from understudy.openapi.sample_texts import plain_text_for, text_for

MAX_DEPTH = 5
"""Levels with optional members: the size of a value can grow exponentially with its depth."""


class SampleStyle(NamedTuple):
    """The kind of values that a sampler makes.

    Attributes:
        text: Makes a text of a member's name, a format and a seed.
        depth: Levels with optional members; below them only required ones are made.
        is_for_requests: Whether members that only responses have are left out, and not those that
            only requests have.
        is_plain: Whether a number is the lowest possible one, and never varies.
    """

    text: Callable[[str, str, str], str] = text_for
    depth: int = MAX_DEPTH
    is_for_requests: bool = False
    is_plain: bool = False

    @property
    def left_out(self) -> Flag:
        """The flag of members that are never made."""
        return "readOnly" if self.is_for_requests else "writeOnly"


PLAUSIBLE = SampleStyle()
"""Values of a response that a person might expect, which vary with the seed."""

PLAUSIBLE_REQUEST = SampleStyle(is_for_requests=True)
"""Values of a request that a person might send."""

PLAIN = SampleStyle(plain_text_for, depth=1, is_for_requests=True, is_plain=True)
"""The simplest values of a request, which stay the same."""
