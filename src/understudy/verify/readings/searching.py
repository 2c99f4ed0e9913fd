"""Searches for the number at which a deployment begins to refuse, by as few trials as possible.

Everything up to the number is accepted, and everything beyond is refused. Operators choose round
numbers, so these are tried before the ranges between them are halved.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from understudy.interface.switch_values import NumberRange


@dataclass(frozen=True, slots=True)
class Bracket:
    """The numbers that a deployment's own can still be.

    Attributes:
        range: The numbers that the switch takes. The deployment's own may be smaller or larger.
        low: The largest number that was accepted; one step below the range if none was.
        high: The smallest number that was refused; two steps above the range if none was.
        is_smallest: Whether the number is the smallest that the deployment takes: it was tried by
            the number one step below, and counts as accepted where that was refused.
    """

    range: NumberRange
    low: int
    high: int
    is_smallest: bool = False

    @property
    def is_contradictory(self) -> bool:
        """True if a number was refused, and the same or a larger one accepted."""
        return self.low >= self.high

    @property
    def is_settled(self) -> bool:
        """True if one number is left."""
        return self.high - self.low == self.range.step

    @property
    def value(self) -> str:
        """The number that is left, as a switch takes it; or on which side of the range it is."""
        if self.low < self.range.least:
            return f"less than {self.range.least}"
        return f"more than {self.range.most}" if self.low > self.range.most else str(self.low)

    def narrowed(self, number: int, *, is_accepted: bool) -> "Bracket":
        """Returns what is left after the trial of a number."""
        if is_accepted:
            beyond = self.range.most + self.range.step
            return replace(self, low=max(self.low, min(number, beyond)))
        return replace(self, high=min(self.high, number))

    def __str__(self) -> str:
        """Returns the bracket in words."""
        below = self.range.step if self.is_smallest else 0
        done, other = ("refused", "accepted") if self.is_smallest else ("accepted", "refused")
        has_high = self.high <= self.range.most + self.range.step
        low = "" if self.low < self.range.least else f"{self.low - below} was {done}"
        high = f"{self.high - below} was {other}" if has_high else ""
        return " and ".join(filter(None, (low, high))) or "no number was tried"


def bracket_of(
    numbers: NumberRange, trials: Iterable[tuple[int, bool]], *, is_smallest: bool = False
) -> Bracket:
    """Returns what trials leave of a range.

    Args:
        numbers: The range.
        trials: Numbers, each with whether it was accepted.
        is_smallest: As of a bracket.
    """
    step = numbers.step
    bracket = Bracket(numbers, numbers.least - step, numbers.most + 2 * step, is_smallest)
    for number, is_accepted in trials:
        bracket = bracket.narrowed(number, is_accepted=is_accepted)
    return bracket


def most_trials(numbers: NumberRange, likely: Sequence[int]) -> int:
    """Returns how many trials a search takes at most; a likely number takes one more than halving them."""
    step = numbers.step
    ends = (numbers.least - step, *likely, numbers.most + 2 * step)
    widest = max((high - low) // step for low, high in pairwise(ends))
    return len(likely).bit_length() + 1 + widest.bit_length()


def next_trial(bracket: Bracket, likely: Sequence[int], expected: int | None = None) -> int | None:
    """Returns the number to try next; None where nothing is left to be tried.

    Args:
        bracket: What the trials so far leave.
        likely: The numbers that operators choose, in ascending order.
        expected: The number that the deployment had before, which two trials confirm.
    """
    if bracket.is_settled or bracket.is_contradictory:
        return None
    step = bracket.range.step
    if expected is not None:
        for number in (expected, expected + step):
            if bracket.low < number < bracket.high:
                return number
    steps = range(bracket.low + step, bracket.high, step)
    between = [number for number in likely if number in steps]
    if between:
        return between[len(between) // 2]
    if bracket.low in likely:
        return bracket.low + step
    return bracket.low + (bracket.high - bracket.low) // step // 2 * step
