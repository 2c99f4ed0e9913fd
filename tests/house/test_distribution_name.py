"""Nothing tells anybody to install ``understudy``, which is another author's program on the public index."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.house.documentation import ROOT

from understudy.installation import DISTRIBUTION

BARE = re.compile(
    r"""(?:\b(?:pip|pipx|uv|uvx|poetry|pdm)\b[^\n|`]*?\b(?:install|add|run|inject|from)\b[^\n|`]*?
        [\s'"=])understudy(?=[\s'"`\[=<>~!@]|$)
      | \bunderstudy\[\w
      | \bunderstudy\ ?(?:==|>=|~=|<=)\ ?\d
      | \bUNDERSTUDY(?:_PACKAGE)?[:=]\s*understudy\b(?!-)""",
    re.VERBOSE,
)
"""What installs the bare name: a command, an extra or a version of it, or a variable that holds one."""


def files() -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    kinds = {".py", ".md", ".yml", ".yaml", ".toml", ".ts", ".mjs", ".js", ".json", ".sh", ""}
    own = Path(__file__).relative_to(ROOT).as_posix()
    return [
        name
        for name in listing.stdout.splitlines()
        if Path(name).suffix in kinds and name != own and (ROOT / name).is_file()
    ]


def test_no_page_message_or_example_installs_the_bare_name():
    found = [
        f"{name}:{number}: {line.strip()}"
        for name in files()
        if not name.startswith("CHANGELOG")  # what an older version was called
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1)
        if BARE.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "pip install understudy",
        "pip install 'understudy[verify]'",
        "uv tool install understudy",
        "pipx install --force understudy==1",
        "uvx --from understudy understudy serve",
        "  UNDERSTUDY: understudy",
        "needs `understudy[tls]`",
    ],
)
def test_the_bare_name_is_recognised(line: str):
    assert BARE.search(line)


@pytest.mark.parametrize("line", ["pip install understudy-mock", "'.[all]'", "understudy serve"])
def test_the_name_of_the_distribution_is_not(line: str):
    assert not BARE.search(line)


def test_the_name_stands_once_in_the_code():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == DISTRIBUTION
    assert list(project["scripts"]) == ["understudy"]


def test_the_security_page_says_that_both_cannot_share_an_environment():
    assert "cannot hold both" in (ROOT / "SECURITY.md").read_text()
