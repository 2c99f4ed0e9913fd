"""Drives the console of a world, and counts the clicks."""

from typing import Any, NamedTuple

import httpx
from playwright.sync_api import Locator, Page, expect


class Console(NamedTuple):
    """The console of a world of its own, and a client of that world."""

    page: Page
    url: str
    client: httpx.Client
    clicks: list[str]

    def open(self, address: str = "#/traffic") -> None:
        self.page.goto(f"{self.url}/__console{address}")
        expect(self.page.locator(".status")).to_contain_text("live")

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks.append(str(target))

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def admin(self, method: str, path: str, body: Any = None) -> Any:
        response = self.client.request(method, f"{self.url}/__admin{path}", json=body)
        return response.raise_for_status().json() if response.content else None

    def done_in(self, most: int) -> None:
        """Holds a task to its number of clicks, and begins the next one."""
        assert len(self.clicks) <= most, self.clicks
        self.clicks.clear()

    def rows(self) -> Locator:
        """The requests in sight, the newest first."""
        return self.page.locator("[role=row]:not(.head)")
