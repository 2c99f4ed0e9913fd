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


def handlers_of_rules(
    rules: Callable[[], Mapping[str, Rule]], served: Sequence[Endpoint], apis: Sequence[Api]
) -> Handlers:
    """Returns the handlers of the list of rules and of the documents.

    Args:
        rules: Returns the catalogue by id; called at the first use.
        served: Every operation of the mock.
        apis: The resource API and the authorization server.
    """

    def list_rules(_call: Call) -> HandlerResponse:
        """Responds to ``GET /rules``, in the order of the catalogue."""
        holding: dict[str, list[str]] = {}
        for endpoint in served:
            for rule in rules_of(endpoint.binding.handler):
                holding.setdefault(rule, []).append(endpoint.operation.operation_id)
        members = ("id", "statement", "section", "status", "source")
        return HandlerResponse(
            [
                {
                    **{name: getattr(rule, name) for name in members},
                    "operations": holding.get(rule.id, []),
                }
                for rule in rules().values()
            ]
        )

    def list_documents(_call: Call) -> HandlerResponse:
        """Responds to ``GET /documents``."""
        sites = ("resource", *("authorization" for _ in apis[1:]))
        return HandlerResponse(
            [
                {"site": site, "base_path": api.base_path, "document": api.document.raw}
                for site, api in zip(sites, apis, strict=True)
            ]
        )

    return {("GET", "/rules"): list_rules, ("GET", "/documents"): list_documents}


def handlers_of_facts(facts: Sequence[Facts]) -> Handlers:
    """Returns the handler of the facts files of ``serve --facts``, in their order."""

    def list_facts(_call: Call) -> HandlerResponse:
        """Responds to ``GET /facts``."""
        return HandlerResponse(to_builtins(list(facts)))

    return {("GET", "/facts"): list_facts}
