"""Routes by the document with Connexion; no other module imports it.

``ConnexionMiddleware`` is put around the mock's dispatcher instead of using one of Connexion's apps,
which rebuild decorators and signatures on each request: half of their time goes there. Its layers
for security and validation are left out too: they rebuild a request object and its validators on
each request (40 % of what the mock spent), to call functions of the mock anyway. What is read
from the scope (``connexion_routing``) comes from Connexion's source and not from its documentation;
``tests/mock/engine/test_connexion.py`` notices when that changes.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Scope

from understudy.errors import MethodNotAllowed, NotFound, Problem
from understudy.openapi.operations import Operation
from understudy.openapi.skeleton import skeleton

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from connexion import ConnexionMiddleware
    from connexion.middleware.routing import RoutingMiddleware

Middleware = Callable[[ASGIApp], ASGIApp]


class Routing(RoutingMiddleware):  # type: ignore[misc]  # connexion ships no types
    """Connexion's routing, but for two things.

    A slash at the end is not forgiven by a redirect, as it loses bodies; and a line end (``%0A``) is
    a character of a path like any other, though Starlette mounts an API at ``.*``.
    """

    def add_api(self, *args: Any, **kwargs: Any) -> None:
        """Registers a document."""
        super().add_api(*args, **kwargs)
        for router in (self.router, *(route.app for route in self.router.routes)):
            router.redirect_slashes = False
        for mount in self.router.routes:
            mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)


def routed(
    apis: Mapping[str, Sequence[Operation]], layers: Sequence[Middleware], dispatch: ASGIApp
) -> ASGIApp:
    """Puts Connexion around a dispatcher.

    Args:
        apis: Base path to the operations that are served under it.
        layers: The whole stack, outermost first; ``ROUTING`` among them.
        dispatch: The application that responds after routing.
    """
    application = ConnexionMiddleware(
        dispatch,
        middlewares=list(layers),
        resolver=lambda _: dispatch,
    )
    for base_path, operations in apis.items():
        application.add_api(skeleton(operations), base_path=base_path)
    routed_application: ASGIApp = application
    return routed_application


class RegisteredRoute(NamedTuple):
    """An operation as Connexion has registered it.

    Attributes:
        base: Matches the beginning of a path; what is left is the group ``path``, without its slash.
        rest: Matches what is left, with a slash before; path parameters are its groups.
        methods: In upper case.
        key: Base path and operationId, as ``route_of`` returns them.
    """

    base: re.Pattern[str]
    rest: re.Pattern[str]
    methods: frozenset[str]
    key: tuple[str, str]


def registered_routes(application: ASGIApp) -> Iterator[RegisteredRoute]:
    """Yields the routes of an application that ``routed`` returned, in the order they are tried.

    There are none before its first call, as Connexion builds its middleware then.
    """
    layers = getattr(application, "middleware_stack", None) or ()
    for routing in (layer for layer in layers if isinstance(layer, Routing)):
        for mount in routing.router.routes:
            for route in mount.app.routes:
                key = (mount.path, route.endpoint.operation_id)
                methods = frozenset(route.methods)
                yield RegisteredRoute(mount.path_regex, route.path_regex, methods, key)


def route_of(scope: Scope) -> tuple[str | None, str | None]:
    """Returns the base path and the skeleton's operationId that Connexion's routing found."""
    routing = scope["extensions"]["connexion_routing"]
    return routing.get("api_base_path"), routing.get("operation_id")


ROUTING: Middleware = Routing


def as_problem(error: Exception) -> Problem | None:
    """Returns a refusal of the mock or of Connexion as a Problem; None for any other error.

    The text of what Connexion refused is left empty: it does not know what would be right.
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        is_method = error.status_code == MethodNotAllowed.status
        return MethodNotAllowed("") if is_method else NotFound("")
    return None
