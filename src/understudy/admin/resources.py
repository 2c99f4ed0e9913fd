"""Every handler of the admin API, put together for one mock."""

from collections.abc import Callable, Mapping, Sequence

from understudy.admin import clock, exporting, tokens
from understudy.admin.exercised import Declared, ExercisedAdmin
from understudy.admin.explaining import Explainer
from understudy.admin.faults import FaultsAdmin
from understudy.admin.limits import LimitsAdmin
from understudy.admin.requests import RequestsAdmin
from understudy.admin.worlds import WorldsAdmin
from understudy.engine.admin import HANDLERS
from understudy.engine.api import Api
from understudy.engine.endpoint import Endpoint, endpoints
from understudy.engine.handlers import Handlers
from understudy.engine.registry import Worlds
from understudy.interface.rules import Rule, Switch

_IDENTITIES: Mapping[str, tuple[str, ...]] = {
    "unread": ("anonymous",),
    "optional": ("anonymous", "api_key", "oauth"),
    "required": ("oauth",),
}
"""Who may call an operation, by how it reads a token."""


def handlers(
    *,
    worlds: Worlds,
    apis: Sequence[Api],
    choose: Callable[[Sequence[str]], Mapping[str, str]],
    rules: Callable[[], Mapping[str, Rule]],
    switches: Callable[[], Mapping[str, Switch]],
) -> Handlers:
    """Returns method and path to handler.

    Args:
        worlds: All the worlds of the mock.
        apis: What is served and may be steered; the first one is the resource API.
        choose: Reads ``switch=option`` texts.
        rules: Gives the catalogue of rules by id.
        switches: Gives the switches by name.
    """
    found = [endpoint for api in apis for endpoint in endpoints(api)]
    operations = {
        endpoint.operation.operation_id: (
            endpoint.operation.method,
            endpoint.api.base_path + endpoint.operation.path,
        )
        for endpoint in found
    }
    return {
        **HANDLERS,
        **clock.HANDLERS,
        **exporting.HANDLERS,
        **tokens.HANDLERS,
        **WorldsAdmin(worlds, apis[0].base_path, choose).handlers,
        **FaultsAdmin(list(operations)).handlers,
        **LimitsAdmin(choose, switches).handlers,
        **RequestsAdmin(operations, Explainer(rules, switches)).handlers,
        **ExercisedAdmin(worlds, [_declared(endpoint) for endpoint in found]).handlers,
    }


def _declared(endpoint: Endpoint) -> Declared:
    operation = endpoint.operation
    needs_user = endpoint.access.scopes is not None
    identities = ("oauth",) if needs_user else _IDENTITIES[endpoint.access.token]
    return Declared(operation.operation_id, tuple(operation.responses), identities)
