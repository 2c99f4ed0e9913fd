"""Shows the facts that the mock was started with (``openapi/admin.yaml``)."""

from collections.abc import Sequence

from msgspec import to_builtins

from understudy.interface.facts import Facts
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers


class FactsAdmin:
    """The handler of the facts.

    Args:
        facts: The facts files of ``serve --facts``, in their order.
    """

    def __init__(self, facts: Sequence[Facts]) -> None:
        self._facts = facts

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {("GET", "/facts"): self.list_facts}

    def list_facts(self, _call: Call) -> HandlerResponse:
        """Responds to ``GET /facts``."""
        return HandlerResponse(to_builtins(list(self._facts)))
