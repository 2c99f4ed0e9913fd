"""The page that ``verify --report html=FILE`` writes: axe-core finds no violation, light or dark."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page
from tests.e2e.report_pages import unfolded
from tests.e2e.test_accessibility import violations
from tests.proofs.mutants import generous, own_profile
from tests.proofs.mutants.edge import MUTANTS, Edge

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.reports.formats import FORMATS
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Outcome
from understudy.verify.reports import report_of
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out

REGISTERED = (generous, own_profile)
RULES = ("qr-default-size", "code-single-use", "profile-patch-partial", "token-constant-time")


def judged() -> Outcome:
    """Returns a run with findings, with rules that passed, and with one that was not checked."""
    mutant = next(one for one in MUTANTS if one.name == "a_code_works_twice")
    mock = in_process.mock()
    with closing(in_process.InProcess(mock)) as inner:
        edge = Edge(inner, mutant.make())
        deployment = Deployment(TARGET, edge, in_process.time_of(mock))
        return carry_out(deployment, RunOptions(RULES))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with ThreadPoolExecutor(1) as thread:  # this one has the event loop of the browser's driver
        outcome = thread.submit(judged).result()
    assert outcome.findings
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(FORMATS["html"](report_of(outcome, TARGET.secrets())))
    return path


@pytest.fixture
def page(chromium: Browser, report: Path) -> Iterator[Page]:
    with unfolded(chromium, report) as page:
        yield page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_core_finds_no_violation(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    assert violations(page) == []
