"""Imports modules of a package without what the package itself imports.

``import connexion`` loads Flask, an HTTP client and its test client, which routing never calls: a
fifth of the time until the mock answers.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from types import ModuleType


@contextmanager
def without_packages(*names: str) -> Iterator[None]:
    """Lets modules be imported as if these packages, outermost first, had an empty ``__init__``.

    What is imported is a copy for the importer alone: others who import the package, before or after,
    get it whole and as if nothing had happened.

    Raises:
        ModuleNotFoundError: There is no such package.
    """
    top = names[0]
    of_others = _taken_out(top)
    try:
        for name in names:
            spec = find_spec(name)
            if spec is None:
                msg = f"No module named {name!r}"
                raise ModuleNotFoundError(msg, name=name)
            sys.modules[name] = module_from_spec(spec)
        yield
    finally:
        _taken_out(top)
        sys.modules.update(of_others)


def _taken_out(package: str) -> dict[str, ModuleType]:
    """Takes a package and all its modules out of the modules that are known."""
    names = [name for name in sys.modules if name.partition(".")[0] == package]
    return {name: sys.modules.pop(name) for name in names}
