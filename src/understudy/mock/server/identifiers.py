"""Generates identifiers that are distinct, and the same in every run with the same seed."""

from random import Random  # noqa: TID251 - the one place that may


class Identifiers:
    """Generates a world's identifiers.

    Each is drawn from the seed and its number alone, so that a world can be taken up again where
    it was left by two integers.

    Args:
        seed: Same seed and same calls, same identifiers.
        count: How many were generated before.
    """

    __slots__ = ("count", "seed")

    def __init__(self, seed: int = 0, count: int = 0) -> None:
        self.seed = seed
        self.count = count

    def _next(self) -> Random:
        self.count += 1
        return Random(f"{self.seed} {self.count}")

    def hexadecimal(self, digits: int) -> str:
        """Returns a string of lower-case hexadecimal digits."""
        return f"{self._next().getrandbits(digits * 4):0{digits}x}"

    def text(self, length: int, alphabet: str) -> str:
        """Returns a string of so many characters out of an alphabet."""
        return "".join(self._next().choices(alphabet, k=length))
