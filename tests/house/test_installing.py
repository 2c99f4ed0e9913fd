"""What is installed with and without extras, and each way to install it, in an empty environment."""

import importlib.metadata
import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from tests.needs import program

from understudy.errors import MissingExtra
from understudy.installation import missing_extra

ROOT = Path(__file__).parents[2]

LOOKS_UP = (
    "import os, httpx; "
    "print(httpx.get(os.environ['UNDERSTUDY_BASE_URL'] + '/profiles/ada').json()['display_name'])"
)
PIP = (sys.executable, "-m", "pip")
"""This run's pip, which installs into another environment as well as one of its own does."""

OLDEST = "3.11.2"

JUDGING = ("schemathesis", "hypothesis", "openapi_core", "zxingcpp", "pytest", "faker")


def closure(lines: Iterable[str], extras: frozenset[str] = frozenset()) -> set[str]:
    """Returns the distributions that requirements name, and what those need, as installed here."""
    contexts = [{"extra": extra} for extra in extras or {""}]
    needed = [
        (requirement.name, frozenset(requirement.extras))
        for requirement in map(Requirement, lines)
        if requirement.marker is None or any(map(requirement.marker.evaluate, contexts))
    ]
    names = {name for name, _ in needed}
    for name, its_extras in needed:
        names |= closure(importlib.metadata.requires(name) or (), its_extras)
    return names


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    build = [*PIP, "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    subprocess.run([*build, str(place), str(ROOT)], check=True)
    return next(place.glob("understudy_mock-*.whl"))


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and what it needs without extras; returns its Python.

    The packages are links to those of this run, so that no index is needed.
    """
    place = tmp_path_factory.mktemp("bare")
    venv.create(place, with_pip=False)
    (site,) = place.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    (about,) = site.glob("understudy_mock-*.dist-info")
    for name in closure(importlib.metadata.Distribution.at(about).requires or ()):
        for entry in top_level(importlib.metadata.distribution(name)):
            target = site / entry.name
            if not target.exists():
                target.symlink_to(entry)
    return place / "bin" / "python"


def top_level(distribution: importlib.metadata.Distribution) -> Iterator[Path]:
    """Yields the directories and files of a distribution that lie in site-packages itself."""
    root = Path(str(distribution.locate_file("")))
    names = {file.parts[0] for file in distribution.files or () if file.parts[0] != ".."}
    yield from (root / name for name in names if name != "__pycache__")


def run(python: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a program far from the checkout, and with nothing of it on the path."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    return subprocess.run(
        [str(python), *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=python.parent,
        env=environment,
    )


def test_serving_needs_nothing_that_judges(bare: Path):
    probe = f"import importlib.util as u; print([m for m in {JUDGING!r} if u.find_spec(m)])"
    assert run(bare, "-c", probe).stdout == "[]\n"
    done = run(bare, "-m", "understudy", "exec", "--", str(bare), "-c", LOOKS_UP)
    assert done.stdout == "Ada Merrowdale\n", done.stderr


@pytest.mark.parametrize("words", [("generate", "--count", "1"), ("rules",), ("fixtures",)])
def test_other_commands_run_without_extras(bare: Path, words: tuple[str, ...]):
    done = run(bare, "-m", "understudy", *words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("verify",), "verify"),
        (("generate", "--send"), "verify"),
        (("cleanup", "x.journal"), "verify"),
        (("fixtures", "--people", "3", "--out", "new"), "people"),
        (("serve", "--tls", "new"), "tls"),
    ],
)
def test_a_command_that_needs_an_extra_says_which(bare: Path, words: tuple[str, ...], extra: str):
    done = run(bare, "-m", "understudy", *words)
    assert done.returncode == 2
    assert re.search(
        rf"^Error \(exit code 2\): .* pip install 'understudy-mock\[{extra}\]'$", done.stderr, re.M
    )


def test_every_package_of_an_extra_is_known_to_be_of_one():
    lines = map(Requirement, importlib.metadata.requires("understudy-mock") or ())
    extras = {canonicalize_name(it.name) for it in lines if it.marker and "extra" in str(it.marker)}
    assert {"filelock", "pydantic", "zxing-cpp"} <= extras
    modules = {
        module
        for module, makers in importlib.metadata.packages_distributions().items()
        if extras & set(map(canonicalize_name, makers)) and module.isidentifier()
    }
    public = {module for module in modules if not module.startswith("_")} - {"py"}  # within pytest
    errors = {module: missing_extra(ModuleNotFoundError(name=module)) for module in public}
    assert [it for it, error in errors.items() if not isinstance(error, MissingExtra)] == []


@pytest.mark.parametrize("way", ["pip", "uv", "pipx"])
def test_each_way_to_install_gives_a_command_that_runs(wheel: Path, tmp_path: Path, way: str):
    environment = {
        **{name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
        "UV_TOOL_DIR": str(tmp_path / "uv"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_HOME": str(tmp_path / "pipx"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_MAN_DIR": str(tmp_path / "man"),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
    }
    commands = {
        "pip": [
            [sys.executable, "-m", "venv", "--without-pip", str(tmp_path)],
            [*PIP, "--python", str(tmp_path), "install", "--quiet", "--no-compile", str(wheel)],
        ],
        "uv": [[program("uv"), "tool", "install", "--quiet", str(wheel)]],
        "pipx": [[program("pipx"), "install", "--quiet", str(wheel)]],
    }
    for command in commands[way]:
        subprocess.run(command, check=True, env=environment, cwd=tmp_path)
    understudy = tmp_path / "bin" / "understudy"
    words = ("exec", "--", "sh", "-c", "echo $UNDERSTUDY_BASE_URL")
    done = subprocess.run(
        [understudy, *words], capture_output=True, text=True, check=True, env=environment
    )
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v3\n", done.stdout)


def pins() -> list[Requirement]:
    return [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines()]


def test_the_pinned_packages_are_sorted_by_name():
    names = [pin.name for pin in pins()]
    assert names == sorted(names, key=canonicalize_name)


def oldest() -> dict[str, str]:
    """The environment of markers on the oldest Python that the README promises, as Debian 12 has it."""
    return {"python_version": "3.11", "python_full_version": OLDEST}


def test_the_oldest_python_can_have_every_package_that_is_pinned_for_it():
    refused = []
    for pin in pins():
        if pin.marker is not None and not pin.marker.evaluate(oldest()):
            continue
        for found in importlib.metadata.distributions(name=pin.name):
            stated = "Requires-Python" in found.metadata
            wants = found.metadata["Requires-Python"] if stated else ""
            if pin.specifier.contains(found.version) and not SpecifierSet(wants).contains(OLDEST):
                refused.append(f"{pin}: {wants}")
    assert refused == []


def test_every_package_is_pinned_once_for_the_oldest_python():
    names = [it.name for it in pins() if it.marker is None or it.marker.evaluate(oldest())]
    assert len(names) == len(set(names))
    assert {"soupsieve", "connexion"} <= set(names)
