"""A spec-driven mock and contract-test server for the avatar and profile service.

The public API: ``verify`` judges a deployment, ``edge_cases`` yields generated requests,
``parametrize`` makes pytest tests of them, and ``MockWorld`` is one isolated world of a running
mock. ``understudy.strategies`` has a Hypothesis strategy for each schema and operation.

Each name is imported at its first use, since ``verify`` takes more than a second to import, and most
commands and the mock do not need it.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_HOMES = {
    "Case": "understudy.cases.model",
    "MockWorld": "understudy.testing.world",
    "Outcome": "understudy.verify.findings",
    "edge_cases": "understudy.cases.selection",
    "parametrize": "understudy.testing.parametrizing",
    "verify": "understudy.api.judging",
}
"""Public name to the module that defines it."""

__all__ = ["Case", "MockWorld", "Outcome", "__version__", "edge_cases", "parametrize", "verify"]


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used.

    Raises:
        AttributeError: The package has no public name like this.
        MissingExtra: The name needs packages that are not installed.
    """
    if name == "__version__":
        return import_module("understudy.installation").version()
    if name not in _HOMES:
        msg = f"module 'understudy' has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        from understudy.installation import missing_extra  # noqa: PLC0415 - see the module's docstring

        raise missing_extra(error) from None


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Package(ModuleType):
    """The type of this package, whose subpackages do not hide public names."""

    def __setattr__(self, name: str, value: object) -> None:
        """Sets an attribute, but not the subpackage ``verify``, which would hide the function.

        Python sets the attribute when it imports the subpackage.
        """
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
