"""Imports modules of a package without what the package itself imports.

``import connexion`` loads Flask, an HTTP client and its test client, and its routing alone loads
another HTTP client, templates, and the validators of JSON Schema, which routing never calls: a third
of the time until the mock answers.
"""

import sys
from collections.abc import Collection, Iterator, MutableSequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


class _Absent(ModuleType):
    """Stands for a module that is imported and never used, and for whatever is in it.

    It may be subscripted, called and inherited from, as modules do so while they are imported.
    """

    __path__: MutableSequence[str] = []  # noqa: RUF012 - a package; nothing is found in it

    def __getattr__(self, name: str) -> "_Absent":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, _key: object) -> "_Absent":
        return self

    def __call__(self, *_arguments: object, **_keywords: object) -> "_Absent":
        return self

    def __mro_entries__(self, _bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()


class _AbsentFinder(MetaPathFinder, Loader):
    """Finds ``_Absent`` modules in the place of packages.

    Args:
        names: The packages.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.partition(".")[0] in self._names else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Absent(spec.name)

    def exec_module(self, _module: ModuleType) -> None:
        """Leaves the module empty."""


@contextmanager
def without_packages(*names: str, absent: Collection[str] = ()) -> Iterator[None]:
    """Lets modules be imported as if these packages, outermost first, had an empty ``__init__``.

    What is imported is a copy for the importer alone: others who import the package, before or after,
    get it whole and as if nothing had happened.

    Args:
        names: The packages whose ``__init__`` is not run.
        absent: Packages that the modules import and that are not to be used by them: they need not
            even be installed.

    Raises:
        ModuleNotFoundError: There is no such package.
    """
    top = names[0]
    private = {top, *absent}
    of_others = _taken_out(private)
    finder = _AbsentFinder(absent)
    sys.meta_path.insert(0, finder)
    try:
        for name in names:
            spec = find_spec(name)
            if spec is None:
                msg = f"No module named {name!r}"
                raise ModuleNotFoundError(msg, name=name)
            sys.modules[name] = module_from_spec(spec)
        yield
    finally:
        sys.meta_path.remove(finder)
        _taken_out(private)
        sys.modules.update(of_others)


def _taken_out(packages: Collection[str]) -> dict[str, ModuleType]:
    """Takes packages and all their modules out of the modules that are known."""
    names = [name for name in sys.modules if name.partition(".")[0] in packages]
    return {name: sys.modules.pop(name) for name in names}
