"""Counts what a recording leaves out, and says so; a value or a name of a member is in no count."""

from collections import Counter
from typing import Final

_HEAD: Final = """# What this recording leaves out

Nothing of the traffic is kept as it was but methods, statuses, booleans, small counts, and words of
the contract. Every other value is a pseudonym under the project's key, or left out. Values and names
of what was left out are not listed: they could be personal.

"""


class Dropped:
    """The number of parts that were left out, by where they were."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, where: str, what: str, count: int = 1) -> None:
        """Counts parts that are left out.

        Args:
            where: The operation, in the contract's words.
            what: Parts of a request or a response.
            count: The number of them.
        """
        if count:
            self._counts[where, what] += count

    @property
    def total(self) -> int:
        """The number of parts that were left out."""
        return self._counts.total()

    def markdown(self) -> str:
        """Returns the report as Markdown."""
        rows = [
            f"| {where} | {what} | {n:,} |\n" for (where, what), n in sorted(self._counts.items())
        ]
        table = ["| where | what | times |\n| --- | --- | ---: |\n", *rows]
        return _HEAD + "".join(table if rows else ["Nothing was left out.\n"])
