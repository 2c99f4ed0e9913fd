"""What the npm package says of itself, and what is in the tarball."""

import json
import re
import subprocess
import tarfile
import tomllib
from pathlib import Path

from tests.house.documentation import ROOT
from tests.npm.packing import installed, tarball

PACKAGE = ROOT / "src" / "understudy-js"
DESCRIPTION = json.loads((PACKAGE / "package.json").read_text())
SIZES = {"lines of a module": 200, "characters of a line": 120}


def test_it_has_the_version_of_the_python_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert DESCRIPTION["version"] == project["version"]


def test_it_has_no_runtime_dependency():
    assert "dependencies" not in DESCRIPTION
    assert set(DESCRIPTION["peerDependencies"]) == set(DESCRIPTION["peerDependenciesMeta"])


def test_versions_of_its_tools_are_pinned():
    versions = DESCRIPTION["devDependencies"].values()
    assert [it for it in versions if not re.fullmatch(r"\d+\.\d+\.\d+", it)] == []


def test_every_module_is_small():
    modules = [path for path in (PACKAGE / "src").rglob("*.ts") if path.parent.name != "generated"]
    for path in modules:
        lines = path.read_text().splitlines()
        assert len(lines) <= SIZES["lines of a module"], path
        assert max(map(len, lines)) <= SIZES["characters of a line"], path


def test_the_tarball_has_every_file_that_the_package_names():
    with tarfile.open(tarball()) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    named = re.findall(r'"\./?([^"]+\.\w+)"', json.dumps([DESCRIPTION["exports"]]))
    assert [name for name in [*named, *DESCRIPTION["bin"].values()] if name not in names] == []
    assert {"README.md", "LICENSE"} <= names
    assert [name for name in names if name.startswith(("src/", "scripts/"))] == []
    assert len([name for name in names if name.endswith(".whl")]) == 1


def test_nothing_of_the_machine_is_in_the_tarball(tmp_path: Path):
    texts = [path for path in installed(tmp_path).rglob("*") if path.suffix in {".js", ".ts"}]
    assert [path for path in texts if str(ROOT) in path.read_text()] == []


def test_npm_installs_it_without_an_index(tmp_path: Path):
    (tmp_path / "package.json").write_text('{"private": true}')
    options = ("--offline", "--no-audit", "--no-fund", "--no-package-lock")
    command = ["npm", "install", *options, str(tarball())]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert [path.name for path in (tmp_path / "node_modules").glob("[!.]*")] == ["understudy-js"]
    assert (tmp_path / "node_modules" / ".bin" / "understudy-js").exists()
