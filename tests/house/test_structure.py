"""Modules are thoughts: few have a single importer beside them, and no chain of imports is endless."""

from pathlib import Path

from tests.house.structure import SOURCES, imports, longest_chain, only_importers

TESTS = Path(__file__).parents[1]

LONGEST = 25
"""Modules of the longest chain of imports."""

MOST_WITH_ONE_IMPORTER = 56
"""Modules that only one module beside them imports; the house aims at 70 at most."""


def test_no_chain_of_imports_is_longer_than_a_reader_follows():
    chain = longest_chain(imports())
    assert len(chain) <= LONGEST, chain


def test_few_modules_serve_only_the_module_beside_them():
    served = only_importers(imports())
    assert len(served) <= MOST_WITH_ONE_IMPORTER, served


def test_no_test_of_a_package_imports_a_tool():
    packages = {path.name for path in (SOURCES / "understudy").iterdir() if path.is_dir()}
    tests = [path for name in packages for path in (TESTS / name).rglob("*.py")]
    assert tests
    assert [path for path in tests if "from tests.tools" in path.read_text()] == []
