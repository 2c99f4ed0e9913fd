"""Sphinx builds the site from the Markdown here: ``make docs``."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.tools.docs.llms_index import NAME, llms_index  # noqa: E402 - the path comes first
from tests.tools.docs.pages import write  # noqa: E402 - as above

project = "understudy"
author = "the authors of understudy"
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "understudy"
html_static_path = ["_static"]
html_css_files = ["understudy.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#176b5b",
        "color-brand-content": "#176b5b",
        "font-stack": "system-ui, sans-serif",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7fd1be",
        "color-brand-content": "#7fd1be",
    },
}
highlight_language = "text"
myst_heading_anchors = 4
nitpicky = True
smartquotes = False  # `--option` in plain text stays what it is

TOP_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Pages that stand at the repository's root, where their readers look for them."""


def setup(app: Sphinx) -> None:
    """Makes the pages that are not committed, and lets links lead to them."""
    write(ROOT / "docs" / "reference")
    for name in TOP_PAGES:
        text = (ROOT / name).read_text().replace("](docs/", "](")
        (ROOT / "docs" / name).write_text(text)
    app.connect("source-read", link_top_pages)
    app.connect("build-finished", write_for_language_models)


def link_top_pages(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Turns links out of this directory, which a reader of the plain files follows, into links here."""
    source[0] = re.sub(r"\]\((?:\.\./)+([A-Z]+\.md)", r"](/\1", source[0])


def write_for_language_models(app: Sphinx, error: Exception | None) -> None:
    """Writes ``llms.txt`` at the root of the site, and each page as Markdown beside its HTML."""
    if error is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    (site / NAME).write_text(llms_index(ROOT / "docs"))
    for name in app.env.found_docs:
        (site / f"{name}.md").write_text((ROOT / "docs" / f"{name}.md").read_text())
