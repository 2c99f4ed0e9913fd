"""Identifiers that are unlike one another, and yet the same in every run with the same seed."""

from random import Random  # noqa: TID251 - the one place that may


class Identifiers:
    """Hands out a world's identifiers.

    Args:
        seed: Same seed and same calls, same identifiers.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._random = Random(seed)

    def hexadecimal(self, digits: int) -> str:
        """Returns a string of lower-case hexadecimal digits."""
        return f"{self._random.getrandbits(digits * 4):0{digits}x}"

    def text(self, length: int, alphabet: str) -> str:
        """Returns a string of so many characters out of an alphabet."""
        return "".join(self._random.choices(alphabet, k=length))
