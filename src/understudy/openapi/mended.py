"""The results of a walk over a document."""

from collections import defaultdict
from dataclasses import dataclass, field

from understudy.openapi.diagnostics import Diagnostic


@dataclass
class Mended:
    """The diagnostics of a document, and which of its parts need which.

    Attributes:
        diagnostics: What was wrong, in the order of the walk.
        units: Pointer and kind of every value, to the operation or component that it is a part of.
        needs: Pointer of an operation or component to those that it refers to.
        broken: Pointer of an operation or component to why it cannot be used.
    """

    diagnostics: list[Diagnostic]
    units: dict[tuple[str, str], str] = field(default_factory=dict)
    needs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    broken: dict[str, str] = field(default_factory=dict)

    def pointers(self, kind: str) -> list[str]:
        """Returns the pointers of all values of a kind."""
        return [pointer for pointer, its in self.units if its == kind]

    def why_broken(self, unit: str) -> str | None:
        """Returns why an operation cannot be served; None if it can."""
        if not self.broken:
            return None
        pending, known = [unit], {unit}
        while pending:
            current = pending.pop()
            if current in self.broken:
                return self.broken[current]
            needed = self.needs.get(current, set()) - known
            known |= needed
            pending += needed
        return None
