"""The page that ``drift --report html=FILE`` writes: axe-core finds no violation, light or dark."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page
from tests.drift.documents.edits import DOCUMENTS, EDITS
from tests.quality.drifting import ELSEWHERE, deployment
from tests.verify.packages import package

from understudy.api.drifting import drift
from understudy.drift.documents.comparison import document_changes
from understudy.drift.documents.sources import ComparedDocuments, DocumentsOfRun
from understudy.drift.reports import FORMATS
from understudy.drift.reports.gathering import report_of_run
from understudy.openapi.loader import document_of, load
from understudy.verify.run import RunOptions

RULES = ("avatar-delete-status", "profile-private")
CHOICES = {"avatar-delete-status": "200", "private-profile-lookup": "404"}


def compared() -> str:
    """Returns the page of a deployment that behaves otherwise, and has another document."""
    result = drift(deployment(choices=CHOICES), deployment(), RunOptions(rules=RULES))
    edit = next(it for it in EDITS if it.title == "a member of a response has one value more")
    changed = document_of(edit.after(), Path("changed.yaml"))
    changes = document_changes(load(DOCUMENTS["service"]), changed)
    documents = DocumentsOfRun((ComparedDocuments("ours", "theirs", changes),))
    names = ("https://staging.example/v3", "the mock")
    return FORMATS["html"](report_of_run(result, documents, names, ELSEWHERE.secrets()))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with ThreadPoolExecutor(1) as thread:  # this one has the event loop of the browser's driver
        text = thread.submit(compared).result()
    path = tmp_path_factory.mktemp("report") / "drift.html"
    path.write_text(text)
    return path


@pytest.fixture
def page(chromium: Browser, report: Path) -> Iterator[Page]:
    page = chromium.new_page()
    page.goto(report.as_uri())
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    yield page
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_core_finds_no_violation(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.add_script_tag(content=(package("axe-core") / "axe.min.js").read_text())
    violations = page.evaluate("async () => (await axe.run()).violations")
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in violations] == []


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
