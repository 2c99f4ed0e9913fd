"""The colour of a response's status on a terminal."""

from collections.abc import Mapping
from typing import Final

COLOURS: Final[Mapping[int, str]] = {2: "green", 3: "cyan", 4: "yellow", 5: "red"}
"""Class of a status to its colour."""
