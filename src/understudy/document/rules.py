"""The catalogue of prose rules (``openapi/rules.yaml``) and the mark of the code that holds one."""

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])


def upholds(*rule_ids: str) -> Callable[[Function], Function]:
    """Marks a function as the place where the mock holds these rules of ``rules.yaml``.

    The house tests compare the marks with the catalogue, in both directions.
    """

    def mark(function: Function) -> Function:
        function.upholds = rule_ids  # type: ignore[attr-defined]
        return function

    return mark
