"""The public API: what ``__all__`` names exists, is typed and documented, and its examples run."""

import ast
import doctest
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import understudy
from understudy import errors, installation
from understudy.mock.settings import Settings
from understudy.testing.background import Background

FIXED_ADDRESS = "http://127.0.0.1:8080"
WITH_EXAMPLES = ("MockWorld", "edge_cases", "verify")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A running mock, for examples that need one."""
    running = Background(Settings(log="off"))
    yield running.url
    running.stop()


@pytest.mark.parametrize("name", [name for name in understudy.__all__ if name != "__version__"])
def test_every_public_name_says_what_it_is(name: str):
    assert inspect.getdoc(getattr(understudy, name))
    assert name in dir(understudy)


def test_the_types_name_what_the_module_does():
    stub = Path(understudy.__file__).with_suffix(".pyi")
    listed = next(
        ast.literal_eval(node.value)
        for node in ast.parse(stub.read_text()).body
        if isinstance(node, ast.Assign)
    )
    assert listed == understudy.__all__


def test_the_subpackage_does_not_hide_the_function():
    program = (
        "import understudy.verify.findings, understudy\n"
        "print(callable(understudy.verify), callable(understudy.verify))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout.strip() == b"True True"


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_its_examples_run(name: str, address: str):
    value: Any = getattr(understudy, name)
    text = (inspect.getdoc(value) or "").replace(FIXED_ADDRESS, address)
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_importing_the_package_imports_nothing_else_of_it():
    program = "import sys, understudy; print(sum(n.startswith('understudy.') for n in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout.strip() == b"0"


def test_a_name_that_needs_an_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    def absent(_module: str) -> None:
        raise ModuleNotFoundError(name="openapi_core.validation")

    monkeypatch.setattr(understudy, "import_module", absent)
    monkeypatch.setattr(installation, "adding", "add {}".format)
    with pytest.raises(errors.MissingExtra, match="; run: add verify"):
        understudy.verify  # noqa: B018 - the access is the test
