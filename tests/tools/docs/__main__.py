"""Writes the generated reference: ``python -m tests.tools.docs [DIRECTORY]``."""

import sys
from pathlib import Path

from tests.tools.docs.pages import write

DOCS = Path(__file__).parents[3] / "docs"

if __name__ == "__main__":
    write(Path(sys.argv[1]) if sys.argv[1:] else DOCS / "reference")
