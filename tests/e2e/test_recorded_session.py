"""An app is used in a browser through the recording proxy, over TLS, and what it wrote is served."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from tests.cli.conftest import Running
from tests.e2e.conftest import PATIENCE, Client, started_chromium
from tests.record.canaries import CANARY, PIXEL, found_in, pixels_in

from understudy.api.in_process import InProcess, mock, time_of
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.drift.mock_beside import drift
from understudy.interface.scopes import SCOPES
from understudy.mock.settings import Settings
from understudy.verify.deployment import Deployment
from understudy.verify.run import RunOptions
from understudy.verify.target import load_target

USE = Path(__file__).with_name("recorded_app.js").read_text()
TARGET = """
base_url = "{base_url}"
auth_url = "{auth_url}"
[credentials]
access_token = "ada-full"
[known]
slug = "ada"
emails = ["ada@example.com", "ada.merrowdale@example.org"]
"""


class RecordingProxy(Running):
    """The proxy of ``understudy record`` in a process of its own."""

    command = ("record",)


class Recorded(NamedTuple):
    """A session that was recorded.

    Attributes:
        shown: What the app has shown or received, by its name.
        secrets: The tokens that were issued.
        output: What the proxy printed.
        exit_code: The proxy's exit code.
        target: The target file; the recording and its key are beside it.
    """

    shown: dict[str, object]
    secrets: list[str]
    output: str
    exit_code: int
    target: Path

    @property
    def out(self) -> Path:
        return self.target.with_name("staging")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The deployment: a mock that serves https with a certificate of its own authority."""
    directory = tmp_path_factory.mktemp("source")
    running = Running(directory, "--log", "off", "--tls", str(directory / "tls"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(directory / "tls" / "ca.pem"))
        yield running
    running.stop()


@pytest.fixture(scope="module")
def recorded(source: Running, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    directory = tmp_path_factory.mktemp("recorded")
    target = directory / "staging.toml"
    target.write_text(TARGET.format(base_url=source.base_url, auth_url=source.auth_url))
    ready = tmp_path_factory.mktemp("proxy")
    proxy = RecordingProxy(ready, "--target", str(target), "--out", str(directory / "staging"))
    try:
        with Client.running(proxy) as client, started_chromium() as browser:
            shown, tokens = signed_in(browser.new_context(), client)
    finally:
        code = proxy.stop()
    return Recorded(shown, tokens, proxy.said(), code, target)


def signed_in(context: BrowserContext, client: Client) -> tuple[dict[str, object], list[str]]:
    """Signs in by a code and by a token, and uses the app; returns what it showed, and the tokens."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2].partition(":")[0]))
    page.goto(client.url)
    page.wait_for_selector("[data-ready]")
    page.get_by_role("button", name="by a code").click()
    page.get_by_role("button", name=re.compile("Ada")).first.click()
    reader = token_of(page, lambda: page.get_by_role("button", name="Approve").click())
    fields = {
        "client_id": client.application["client_id"],
        "redirect_uri": client.url,
        "response_type": "token",
        **{f"scope[{place}]": scope for place, scope in enumerate(SCOPES)},
        "canary": CANARY,
    }
    page.goto(f"{client.mock.auth_url}/oauth2/authorize?{urlencode(fields)}")
    owner = token_of(page, lambda: page.get_by_role("button", name="Approve").click())
    values = {"base": client.mock.base_url, "token": owner, "canary": CANARY, "pixel": PIXEL}
    return page.evaluate(USE, values) | {"hosts": hosts}, [reader, owner]


def token_of(page: Page, approve: Callable[[], None]) -> str:
    """Returns the token with which the page reads the profile of the person who approves."""
    with page.expect_request("**/me/profile") as request:
        approve()
    expect(page.locator("#who")).to_contain_text("Hello, Ada")
    expect(page.get_by_alt_text("Your avatar")).to_have_js_property("naturalWidth", 80)
    return request.value.headers["authorization"].removeprefix("Bearer ")


def test_an_app_works_in_a_browser_as_at_the_deployment(recorded):
    assert recorded.shown == {
        "statuses": [200, 200, 200, 200, 404, 401, 200],
        "avatars": 3,
        "pictures": {
            "uploaded": 80,
            "selected": 80,
            "qr": 200,
            "header": 1200,
            "gallery": [640, 360],
        },
        "hosts": {"127.0.0.1"},
    }
    assert recorded.exit_code == 0, recorded.output
    assert "0 findings, 0 notes; 0 without a response, 0 withheld, 0 not judged" in recorded.output


def test_nothing_of_the_session_is_on_the_disk_or_printed(recorded):
    paths = [path for path in recorded.target.parent.rglob("*") if path.is_file()]
    written = {path.name: path.read_bytes() for path in paths if path != recorded.target}
    written["output"] = recorded.output.encode()
    assert "traffic.har" in written
    personal = [*recorded.secrets, "ada-full", "Ada Merrowdale", "ada@example.com"]
    hits = {
        name: [*found_in(content), *(text for text in personal if text.encode() in content)]
        for name, content in written.items()
    }
    assert {name: hit for name, hit in hits.items() if hit} == {}
    assert PIXEL not in pixels_in(recorded.out)


def test_the_mock_that_serves_the_session_does_not_differ_from_the_deployment(recorded):
    options = DeploymentOptions(target_file=recorded.target)
    copy = mock(Settings(fixtures=recorded.out))
    served = load_target(recorded.out / "target.toml", {})
    with (
        closing(open_deployment(options, {})) as source,
        closing(Deployment(served, InProcess(copy), time_of(copy))) as other,
    ):
        result = drift(source, other, RunOptions())
    assert [difference for cause in result.causes for difference in cause.differences] == []
    assert result.requests > 100
