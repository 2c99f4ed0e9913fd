"""The page that ``drift --report html=FILE`` writes: axe-core finds no violation, light or dark."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page
from tests.drift.compared import compared_report
from tests.e2e.report_pages import unfolded
from tests.e2e.test_accessibility import violations

from understudy.drift.drift_report import report_of
from understudy.reports.formats import FORMATS


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with ThreadPoolExecutor(1) as thread:  # this one has the event loop of the browser's driver
        text = FORMATS["html"](report_of(thread.submit(compared_report).result()))
    path = tmp_path_factory.mktemp("report") / "drift.html"
    path.write_text(text)
    return path


@pytest.fixture
def page(chromium: Browser, report: Path) -> Iterator[Page]:
    with unfolded(chromium, report) as page:
        yield page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_core_finds_no_violation(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    assert violations(page) == []


@pytest.mark.parametrize(("width", "is_beside"), [(1200, True), (360, False)])
def test_both_sides_stand_beside_one_another_where_there_is_room(
    page: Page, width: int, is_beside: bool
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    first, second = (
        side.bounding_box() for side in page.locator(".sides").first.locator("> div").all()
    )
    assert first is not None
    assert second is not None
    assert (first["y"] == second["y"]) == is_beside
    assert page.evaluate("document.documentElement.scrollWidth") <= width
