"""Defines what a switch can take instead of options: a number, or a status with an error code."""

import re

from msgspec import Struct

_ERROR = re.compile(r"([1-5][0-9]{2})(?: ([A-Za-z][A-Za-z0-9_.-]{0,63}))?")
"""A status, and an error code after it."""


class NumberRange(Struct, frozen=True, forbid_unknown_fields=True):
    """The numbers that a switch takes instead of options.

    Attributes:
        least: The smallest.
        most: The largest.
        unit: What is counted, such as pixels.
        step: The numbers are its multiples.
    """

    least: int
    most: int
    unit: str
    step: int = 1

    def __contains__(self, text: str) -> bool:
        """Tells whether a text is one of the numbers, in decimal digits without leading zeros."""
        if not text.isascii() or not text.isdecimal() or len(text) > len(str(self.most)):
            return False
        number = int(text)
        is_within = self.least <= number <= self.most and number % self.step == 0
        return is_within and str(number) == text

    def __str__(self) -> str:
        """Returns the range in words."""
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        return f"a number from {self.least} to {self.most}{steps}"


class ErrorForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The status and the error code that a switch takes instead of options, such as ``410 gone``.

    Attributes:
        statuses: The statuses to choose from; a single one is stated by the interface.
    """

    statuses: tuple[int, ...]

    def __contains__(self, text: str) -> bool:
        """Tells whether a text is one of the statuses, alone or before an error code."""
        form = _ERROR.fullmatch(text)
        return form is not None and int(form[1]) in self.statuses

    def __str__(self) -> str:
        """Returns the form in words."""
        statuses = " or ".join(map(str, self.statuses))
        return f"{statuses}, and after a space the error code, if there is one"
