"""Measures the mock while the console is open: ``make console-load``.

The same paced load goes to a mock that nobody looks at, and to one whose console is open in Chromium.
"""

import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import click
from playwright.sync_api import Page, sync_playwright
from tests import patient
from tests.cli.conftest import Running
from tests.tools.bring import find_program

BATCH = 50
"""Requests that are sent in one write."""

_STATUS, _GOOD = b"HTTP/1.1 ", b"HTTP/1.1 200 "


class Load(NamedTuple):
    """The load of one measurement.

    Attributes:
        rate: Requests a second.
        seconds: How long it lasts.
    """

    rate: int
    seconds: int

    @property
    def total(self) -> int:
        """The number of requests."""
        return self.rate * self.seconds


class Burst:
    """A client that sends requests of one kind on one connection, without waiting for each response.

    Args:
        url: What it requests.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port), patient.PATIENCE)
        self._request = f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()

    def send(self, count: int) -> int:
        """Sends so many requests, and returns how many of the responses had the status 200."""
        self._socket.sendall(self._request * count)
        good = answered = 0
        rest = b""
        while answered < count:
            received = self._socket.recv(1 << 16)
            if not received:
                msg = f"the connection was closed after {answered} of {count} responses"
                raise ConnectionError(msg)
            rest += received
            *lines, rest = rest.split(b"\r\n")
            statuses = [line for line in lines if _STATUS in line]
            answered += len(statuses)
            good += sum(_GOOD in line for line in statuses)
        return good

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close()


@click.command()
@click.option("--rate", default=1000, show_default=True, help="Requests a second.")
@click.option("--seconds", default=20, show_default=True, help="How long each load lasts.")
def main(rate: int, seconds: int) -> None:
    """Prints the processor time of a request with the console closed and open."""
    load = Load(rate, seconds)
    path = find_program("chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, chromium_sandbox=False)
        with _served() as mock:
            closed = _measured(mock, load, None)
        with _served() as mock:
            page = browser.new_page()
            page.goto(mock.base_url.removesuffix("/v3") + "/__console")
            page.locator(".badge.good", has_text="live").wait_for()
            opened = _measured(mock, load, page)
            page.locator(".count", has_text=f"{load.total:,} requests").wait_for()
            rows = page.locator("[role=row]").count()
            words = page.locator(".count").inner_text()
        browser.close()
    click.echo(f"{load.total:,} requests, {rate:,} a second")
    click.echo(f"closed: {closed * 1e6:.0f} µs of the mock's processor time a request")
    click.echo(f"open:   {opened * 1e6:.0f} µs, {rows} rows in the page; {words!r}")


@contextmanager
def _served() -> Iterator[Running]:
    """A mock in a process of its own, without limits."""
    with tempfile.TemporaryDirectory() as directory:
        running = Running(Path(directory), "--log", "off", "--choose", "rate-limits=off")
        try:
            yield running
        finally:
            running.stop()


def _measured(mock: Running, load: Load, page: Page | None) -> float:
    """Returns the seconds of processor time that a request takes under a load."""
    burst = Burst(f"{mock.base_url}/profiles/ada")
    burst.send(BATCH * 4)  # what happens once has happened
    patient.delete(f"{mock.base_url.removesuffix('/v3')}/__admin/requests")
    before = _processor_seconds(mock.process.pid)
    for _ in _beats(load.rate / BATCH, load.total // BATCH):
        burst.send(BATCH)
        if page is not None:
            page.evaluate("0")  # lets the driver read what the browser says
    burst.close()
    return (_processor_seconds(mock.process.pid) - before) / load.total


def _beats(rate: float, count: int) -> Iterator[int]:
    """Yields numbers at a steady rate a second."""
    start = time.monotonic()
    for number in range(count):
        pause = start + number / rate - time.monotonic()
        time.sleep(max(0.0, pause))  # noqa: TID251 - paces a load on a real server
        yield number


def _processor_seconds(pid: int) -> float:
    fields: list[Any] = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
