"""Names the groups of pages that a site may show."""

from typing import Literal

PageGroup = Literal["people", "authorization"]
