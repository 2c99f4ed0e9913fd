"""Collects every handler of the admin API for one mock."""

from collections.abc import Callable, Mapping, Sequence

from understudy.interface.rules import Rule, Switch
from understudy.mock.admin import changes, clock, exporting, people, token_issuing
from understudy.mock.admin.capsules import CapsulesAdmin
from understudy.mock.admin.edge_cases import EdgeCasesAdmin, EdgeCaseSource
from understudy.mock.admin.events import EventsAdmin
from understudy.mock.admin.exercised import Declared, ExercisedAdmin
from understudy.mock.admin.explaining import Explainer
from understudy.mock.admin.faults import FaultsAdmin
from understudy.mock.admin.limits import LimitsAdmin
from understudy.mock.admin.requests import RequestsAdmin
from understudy.mock.admin.rules import handlers_of_rules
from understudy.mock.admin.stubs import StubsAdmin
from understudy.mock.admin.worlds import WorldsAdmin
from understudy.mock.server.api import Api
from understudy.mock.server.endpoint import Endpoint, endpoints
from understudy.mock.server.guards import HANDLERS
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.preferences import Choose
from understudy.mock.server.world_selection import Worlds

_IDENTITIES: Mapping[str, tuple[str, ...]] = {
    "unread": ("anonymous",),
    "optional": ("anonymous", "api_key", "oauth"),
    "required": ("oauth",),
}
"""The identities that may call an operation, by how it reads a token."""


def handlers(
    *,
    worlds: Worlds,
    apis: Sequence[Api],
    choose: Choose,
    rules: Callable[[], Mapping[str, Rule]],
    switches: Callable[[], Mapping[str, Switch]],
    edge_cases: Callable[[], EdgeCaseSource | None],
) -> Handlers:
    """Returns method and path to handler.

    Args:
        worlds: All the worlds of the mock.
        apis: What is served and may be steered; the first one is the resource API.
        choose: Reads ``switch=option`` texts.
        rules: Gives the catalogue of rules by id.
        switches: Gives the switches by name.
        edge_cases: Gives what makes edge cases; None: nothing does.
    """
    served = [endpoint for api in apis for endpoint in endpoints(api)]
    operations = {
        endpoint.operation.operation_id: (
            endpoint.operation.method,
            endpoint.api.base_path + endpoint.operation.path,
        )
        for endpoint in served
    }
    explainer = Explainer(rules, switches)
    own = endpoints(apis[0])
    # nobody asks the authorization server for tokens that no operation takes
    counted = served if any(it.access.token != "unread" for it in own) else own
    return {
        **HANDLERS,
        **changes.HANDLERS,
        **clock.HANDLERS,
        **exporting.HANDLERS,
        **people.HANDLERS,
        **token_issuing.HANDLERS,
        **WorldsAdmin(worlds, apis[0].base_path, choose).handlers,
        **FaultsAdmin(list(operations)).handlers,
        **StubsAdmin(served).handlers,
        **LimitsAdmin(choose, switches, rules).handlers,
        **RequestsAdmin(operations, explainer, worlds.refresh).handlers,
        **handlers_of_rules(rules, served, apis),
        **CapsulesAdmin(apis[0].document.raw, served, choose).handlers,
        **EdgeCasesAdmin(edge_cases, apis[0].base_path, worlds).handlers,
        **EventsAdmin(worlds, explainer.switches_at_work).handlers,
        **ExercisedAdmin(worlds, [_declared(endpoint) for endpoint in counted]).handlers,
    }


def _declared(endpoint: Endpoint) -> Declared:
    operation = endpoint.operation
    needs_user = endpoint.access.scopes is not None
    identities = ("oauth",) if needs_user else _IDENTITIES[endpoint.access.token]
    return Declared(operation.operation_id, tuple(operation.responses), identities)
