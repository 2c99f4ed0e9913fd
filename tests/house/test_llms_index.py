"""``llms.txt`` of the site lists every page with what it is about, and each of its links leads to Markdown."""

import re

import pytest
from tests.house.documentation import ROOT
from tests.tools.docs.llms_index import llms_index
from tests.tools.docs.pages import PAGES as GENERATED

DOCS = ROOT / "docs"
TOP_PAGES = {"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> str:
    """The index, of a copy of the pages that has the top pages where the site has them."""
    copy = tmp_path_factory.mktemp("docs")
    for path in DOCS.rglob("*.md"):
        if path.name not in TOP_PAGES and "_build" not in path.parts:
            target = copy / path.relative_to(DOCS)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(path.read_text())
    for name in TOP_PAGES:
        (copy / name).write_text((ROOT / name).read_text())
    return llms_index(copy)


def test_it_begins_as_the_format_says(pages):
    lines = pages.splitlines()
    assert lines[0] == "# understudy"
    assert lines[2].startswith("> understudy stands in for ")
    assert lines[4].startswith("## ")


def test_every_page_is_listed_once(pages):
    links = re.findall(r"^- \[.+?\]\((\S+?)\): \S", pages, re.M)
    written = {
        path.relative_to(DOCS).as_posix()
        for path in DOCS.rglob("*.md")
        if "_build" not in path.parts and path.parent != DOCS
    }
    generated = {f"reference/{name}" for name in GENERATED}
    assert sorted(links) == sorted((written - generated - UNLISTED) | generated | TOP_PAGES)


UNLISTED = {path.relative_to(DOCS).as_posix() for path in (DOCS / "contributing").glob("add-*.md")}
"""Worked examples, which the page on contributing leads to."""


def test_it_is_short(pages):
    assert len(pages) < 12_000
    assert max(map(len, pages.splitlines())) < 400
