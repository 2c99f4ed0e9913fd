"""The page on the Makefile's targets."""

import re
from pathlib import Path

from tests.tools.docs.markdown import code, page, table

MAKEFILE = Path(__file__).parents[3] / "Makefile"


def page_of_targets() -> str:
    """Returns the page: every target with what it does, as `make help` says it."""
    targets = re.findall(r"^([a-z-]+):.*## (.*)$", MAKEFILE.read_text(), re.M)
    return page(
        "Targets of make",
        "`make help` prints this list. Every target makes the environment that it needs; `make test"
        " PYTHON=python3.13` uses another Python.",
        table(("target", "what it does"), ((code(f"make {it}"), told) for it, told in targets)),
    )
