"""The parts that an address may show."""

from typing import Literal

Part = Literal["people", "authorization"]
