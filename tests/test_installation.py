"""What a missing extra says fits how the program was installed."""

from pathlib import Path

import pytest

from understudy import installation
from understudy.installation import UNKNOWN_VERSION, adding, command_for, version

WHEEL = {"url": "file:///dist/understudy_mock-1-py3-none-any.whl", "archive_info": {}}
FROM_WHEEL = f"'understudy-mock[verify] @ {WHEEL['url']}'"


def editable(checkout: Path) -> dict[str, object]:
    return {"url": checkout.as_uri(), "dir_info": {"editable": True}}


@pytest.mark.parametrize(
    ("origin", "wanted"), [({}, "'understudy-mock[verify]'"), (WHEEL, FROM_WHEEL)]
)
@pytest.mark.parametrize(
    ("receipt", "command"),
    [
        ("pyvenv.cfg", "pip install"),
        ("pipx_metadata.json", "pipx install --force"),
        ("uv-receipt.toml", "uv tool install --force"),
    ],
)
def test_the_tool_that_installed_it_adds_the_extra(
    tmp_path: Path, origin: dict[str, object], wanted: str, receipt: str, command: str
):
    (tmp_path / receipt).touch()
    assert command_for("verify", tmp_path, origin) == f"{command} {wanted}"


def test_a_clone_with_its_own_environment_has_a_target_for_it(tmp_path: Path):
    (tmp_path / "Makefile").touch()
    assert command_for("verify", tmp_path / ".venv", editable(tmp_path)) == "make install"


def test_a_clone_in_another_environment_is_named(tmp_path: Path):
    (tmp_path / "a b").mkdir()
    command = command_for("tls", tmp_path / "other", editable(tmp_path / "a b"))
    assert command == f"pip install --editable '{tmp_path}/a b[tls]'"


def test_the_sources_run_without_being_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(installation, "DISTRIBUTION", "nobody-has-this-name")
    assert version() == UNKNOWN_VERSION
    assert "install" in adding("verify")
