"""Lists the rules of the contract with the operations whose handlers hold them."""

from collections.abc import Callable, Mapping, Sequence

from understudy.interface.rules import Rule
from understudy.mock.admin.explaining import rules_of
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.handlers import Handlers


class RulesAdmin:
    """The handler of the list.

    Args:
        rules: Returns the catalogue by id; called at the first use.
        served: Every operation of the mock.
    """

    def __init__(self, rules: Callable[[], Mapping[str, Rule]], served: Sequence[Endpoint]) -> None:
        self._rules = rules
        self._served = served

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {("GET", "/rules"): self.list_rules}

    def list_rules(self, _call: Call) -> HandlerResponse:
        """Responds to ``GET /rules``, in the order of the catalogue."""
        holding: dict[str, list[str]] = {}
        for endpoint in self._served:
            for rule in rules_of(endpoint.binding.handler):
                holding.setdefault(rule, []).append(endpoint.operation.operation_id)
        return HandlerResponse(
            [
                {
                    "id": rule.id,
                    "statement": rule.statement,
                    "section": rule.section,
                    "status": rule.status,
                    "source": rule.source,
                    "operations": holding.get(rule.id, []),
                }
                for rule in self._rules().values()
            ]
        )
