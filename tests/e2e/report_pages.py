"""Opens the HTML page of a report in a browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page


@contextmanager
def unfolded(chromium: Browser, report: Path) -> Iterator[Page]:
    """Opens a report with every fold open, so that all of it is looked at."""
    page = chromium.new_page()
    page.goto(report.as_uri())
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    yield page
    page.close()
