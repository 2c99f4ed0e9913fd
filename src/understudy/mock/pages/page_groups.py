"""Names the groups of pages that a site may show.

Under another service's document, its operations take the place of people and their profiles.
"""

from typing import Literal

PageGroup = Literal["people", "operations", "authorization"]
