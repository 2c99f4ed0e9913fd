"""Skipped tests are told in one line: the programs that were missing, how many, and what brings them."""

import shutil
import tomllib

import pytest
from tests import needs
from tests.house.documentation import ROOT
from tests.needs import closing_line, missing, program
from tests.tools import bring


def test_the_line_names_programs_by_the_tests_that_wanted_them():
    reasons = [f"Skipped: needs {name}: run make tools" for name in ("npm", "wrk", "npm")]
    assert closing_line([*reasons, "Skipped: root reads what nobody may"]) == (
        "3 tests were skipped, as these are missing: npm (2), wrk (1); make tools brings them."
    )
    assert closing_line(["Skipped: root reads what nobody may"]) is None


def test_a_missing_tool_skips_and_where_it_is_required_fails(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(needs, "IS_REQUIRED", False)
    with pytest.raises(pytest.skip.Exception, match="needs wrk: run make tools"):
        missing("wrk")
    monkeypatch.setattr(needs, "IS_REQUIRED", True)
    with pytest.raises(pytest.fail.Exception, match="needs wrk"):
        missing("wrk")


def test_a_program_that_nobody_has_is_charged_to_npm_or_to_itself(monkeypatch):
    monkeypatch.setattr(needs, "IS_REQUIRED", False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(shutil, "which", lambda _name, **_options: None)
    with pytest.raises(pytest.skip.Exception, match="needs redis-server:"):
        program("redis-server")
    with pytest.raises(pytest.skip.Exception, match="needs npm:"):
        program("no-such-program")


def test_versions_of_tools_stand_in_one_file():
    tools = (ROOT / "tests" / "tools" / "tools.toml").read_text()
    pinned = tomllib.loads(tools)
    names = [*pinned["npm"], *pinned["python"]]
    others = "".join((ROOT / name).read_text() for name in (".ci/run", "Makefile"))
    assert [it for it in names if f"{it}@" in others or f"{it}==" in others] == []


def test_pins_of_tools_are_exact():
    tools = bring.TOOLS
    versions = [*tools["npm"].values(), *tools["python"].values(), *bring.js_packages().values()]
    assert [it for it in versions if it[0] in "^~<>*" or it == "latest"] == []


def test_debians_packages_of_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bring, "find_program", lambda name: None if name == "wrk" else "/bin/x")
    assert bring.absent_packages() == ["wrk"]
