"""Shows what a mock goes by: the rules and who holds them, its documents, the facts it was given."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import to_builtins

from understudy.interface.facts import Facts
from understudy.interface.rules import Rule
from understudy.mock.admin.explaining import rules_of
from understudy.mock.server.api import Api
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


class DocumentsAdmin:
    """The handler of the documents.

    Args:
        apis: The resource API and the authorization server.
    """

    def __init__(self, apis: Sequence[Api]) -> None:
        self._apis = apis

    @property
    def handlers(self) -> Handlers:
        """Method and path to handler."""
        return {("GET", "/documents"): self.list_documents}

    def list_documents(self, _call: Call) -> HandlerResponse:
        """Responds to ``GET /documents``."""
        sites = ("resource", *("authorization" for _ in self._apis[1:]))
        return HandlerResponse(
            [
                {"site": site, "base_path": api.base_path, "document": api.document.raw}
                for site, api in zip(sites, self._apis, strict=True)
            ]
        )


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
