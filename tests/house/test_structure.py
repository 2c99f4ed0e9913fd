"""Modules are thoughts: few have a single importer beside them, and no chain of imports is endless."""

from tests.house.structure import imports, longest_chain, only_importers

LONGEST = 25
"""Modules of the longest chain of imports."""

MOST_WITH_ONE_IMPORTER = 61
"""Modules that only one module beside them imports; the house aims at 70, and this only falls."""


def test_no_chain_of_imports_is_longer_than_a_reader_follows():
    chain = longest_chain(imports())
    assert len(chain) <= LONGEST, chain


def test_few_modules_serve_only_the_module_beside_them():
    served = only_importers(imports())
    assert len(served) <= MOST_WITH_ONE_IMPORTER, served
