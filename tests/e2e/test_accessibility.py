"""axe-core finds nothing wrong with any page, in light and dark."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.cli.conftest import Running
from tests.e2e.test_looks import PAGES, SCHEMES, SIZES, opened
from tests.needs import package
from tests.tools.benchmarks.page import page as benchmark_page
from tests.tools.benchmarks.small_results import small_results
from tests.tools.benchmarks.targets import targets

RUN = "axe.run(document, {resultTypes: ['violations']})"

RUN_SIZES = "axe.run(document, {runOnly: ['target-size']})"
"""What axe leaves out unless it is asked for."""


def violations(page: Page, run: str = RUN) -> list[tuple[str, Any]]:
    page.evaluate((package("axe-core") / "axe.min.js").read_text())
    found = page.evaluate(run)["violations"]
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation(page: Page, mock, name: str, size: str) -> None:
    page.set_viewport_size(SIZES[size])
    opened(page, mock, name)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    assert violations(page, RUN_SIZES) == []


def test_the_question_before_a_deletion_is_accessible(page: Page, mock) -> None:
    opened(page, mock, "application")
    page.get_by_text("Delete", exact=True).click()
    assert violations(page) == []


def test_the_jump_to_the_tokens_lands_at_their_heading(page: Page, mock) -> None:
    page.emulate_media(reduced_motion="reduce")  # at once: a smooth scroll is measured half-way
    page.goto(f"{mock.base_url.removesuffix('/v3')}/")
    page.get_by_role("link", name="Tokens", exact=True).click()
    page.wait_for_load_state("networkidle")  # pictures that load late must not move the heading
    expect(page.get_by_role("heading", name="Tokens")).to_be_in_viewport()
    box = page.get_by_role("heading", name="Tokens").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 60


def test_the_start_page_of_another_document_is_accessible(page: Page, tmp_path) -> None:
    petstore = Path(__file__).parents[1] / "mock" / "petstore.yaml"
    running = Running(tmp_path, "--document", str(petstore), "--log", "off")
    try:
        for width in (1200, 360):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(f"{running.base_url}/")
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.goto(f"{running.base_url}/__console")
        expect(page.get_by_role("link", name="The start page")).to_be_visible()
        assert violations(page) == []
    finally:
        running.stop()


def test_the_page_of_the_benchmark_is_accessible(page: Page, tmp_path) -> None:
    results, path = small_results(), tmp_path / "index.html"
    path.write_text(benchmark_page(results, targets(results), "today", "Do not trust these"))
    page.goto(path.as_uri())
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
