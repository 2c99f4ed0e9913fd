"""The groups of pages that a site may show."""

from typing import Literal

PageGroup = Literal["people", "operations", "authorization"]
"""Front page and profiles; or, with another service's document, its operations; or sign-in."""
