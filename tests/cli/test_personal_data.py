"""No report shows what is on the profile of somebody whose deployment is judged, in any format."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from tests.cli.conftest import PATIENCE, Running

from understudy.cli import main
from understudy.reports.formats import FORMATS

PERSONAL = (
    *("Merrowdale", "Port Lindry", "Draws maps", "hello@ada.example.com", "+351 555 0100"),
    *("ada.merrowdale", "tc1qexample", "pay.example.com", "Hill walking", "in front of a map"),
)
"""What ada has on her profile, and no case makes up."""

TARGET = """
base_url = "{}"
mode = "own"
[credentials]
access_token = "ada-full"
[known]
slug = "ada"
emails = ["ada@example.com", "ada.merrowdale@example.org"]
"""

STUBS = (
    {
        "operation": "getOwnProfile",
        "response": {"merge": {"pronouns": None, "tagline": "Merrowdale", "timezone": 7}},
    },
    {
        "operation": "updateOwnProfile",
        "times": 9,
        "response": {"status": 500, "body": {"error": "Ada Merrowdale, hello@ada.example.com"}},
    },
)
"""How the deployment breaks the contract, and names people where it does."""

COMMANDS = {
    "verify": ("--cases", "0", "--rules", "profile-required-members,profile-patch-partial,answers"),
    "drift": ("--rules", "profile-required-members,profile-patch-partial"),
    "learn": ("--rules", "profile-patch-unknown-members,profile-patch-updates-last-edit", "--json"),
    "generate": ("updateOwnProfile", "--send", "--count", "6", "--format", "jsonl"),
}
NOT_WRITTEN = {"verify": set(), "drift": {"har"}, "generate": {"har", "json"}}


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_report_has_what_people_have_on_their_profiles(
    command: str, serve: Callable[..., Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    deployment = serve()
    stubs = deployment.base_url.replace("/v3", "/__admin/stubs")
    for stub in STUBS:
        posted = httpx.post(stubs, json={**stub, "allow_invalid": True}, timeout=PATIENCE)
        assert posted.is_success, posted.text
    (tmp_path / "staging.toml").write_text(TARGET.format(deployment.base_url))
    words = [command, "--target", "staging.toml", *COMMANDS[command]]
    for name in FORMATS.keys() - NOT_WRITTEN.get(command, FORMATS.keys()):
        words += ["--report", f"{name}=report.{name}"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == (command != "learn"), done.output
    written = {each: each.read_text() for each in tmp_path.glob("report.*")}
    for text in (done.output, *written.values()):
        assert [value for value in PERSONAL if value in text or json.dumps(value) in text] == []
