"""The measured schedule: what each part of each probe sends and settles (``schedule.json``).

``make schedule`` measures it on the bundled mock and writes the file, and a test holds the file to
that measurement, so that no probe has to say by hand what its parts are worth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import json

SCHEDULE: Final = Path(__file__).with_name("schedule.json")


@dataclass(frozen=True, slots=True)
class Part:
    """The requests that a probe sends before another probe may go on.

    Attributes:
        checks: Names of the checks that it settles, of the rules that the probe is for.
        cost: How many requests it sends.
        by: The credentials that it sends with, and whether it writes.
        tokens: How many access tokens it has issued.
    """

    checks: tuple[str, ...]
    cost: int = 1
    by: str = ""
    tokens: int = 0

    @property
    def questions(self) -> list[tuple[str, str]]:
        """The checks, each with the credentials that it is settled by."""
        return [(check, self.by) for check in self.checks]


@cache
def measured() -> Mapping[str, tuple[Part, ...]]:
    """Returns the parts of each probe, by the probe's name."""
    if not SCHEDULE.exists():  # as long as it is measured for the first time
        return {}
    return json.decode(SCHEDULE.read_bytes(), type=dict[str, tuple[Part, ...]])
