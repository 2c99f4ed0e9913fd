"""Routes by the document with Connexion; no other module imports it.

Connexion's routing is put into the mock's own stack instead of using one of Connexion's apps, which
rebuild decorators and signatures on each request: half of their time goes there. Its layers for
security and validation are left out too: they rebuild a request object and its validators on each
request (40 % of what the mock spent), to call functions of the mock anyway. What is read from the
scope (``connexion_routing``, by ``dispatcher``) comes from Connexion's source and not from its
documentation; ``tests/mock/server/test_connexion.py`` notices when that changes. To import Connexion
takes 0.7 s of processor, so this module is imported by the first request that needs it.
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.openapi.operations import Operation
from understudy.openapi.path_matching import PathMatcher, decoded_path
from understudy.openapi.paths import skeleton

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from connexion.http_facts import METHODS
    from connexion.middleware.routing import RoutingMiddleware
    from connexion.resolver import Resolver
    from connexion.spec import OpenAPISpecification
    from connexion.utils import sort_routes


class Routing(RoutingMiddleware):  # type: ignore[misc]  # connexion ships no types
    """Connexion's routing, as an ASGI application, but for three things.

    A slash at the end is not forgiven by a redirect, as it loses bodies; a line end (``%0A``) is a
    character of a path like any other, though Starlette mounts an API at ``.*``; and a template that
    the regular expression of Starlette would match in more than linear time has our own matcher.
    """

    def add_api(self, *args: Any, **kwargs: Any) -> None:
        """Registers a document."""
        super().add_api(*args, **kwargs)
        for router in (self.router, *(route.app for route in self.router.routes)):
            router.redirect_slashes = False
        for mount in self.router.routes:
            mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
            for route in mount.app.routes:
                if _BACKTRACKING.search(route.path):
                    route.path_regex = _LinearPattern(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Finds the operation, and calls what responds.

        Raises:
            HTTPException: No operation has this method and path.
        """
        scope["app"] = (
            self  # so that Starlette's router raises its refusals instead of sending them
        )
        await super().__call__(scope, receive, send)


_BACKTRACKING = re.compile(r"\}[^/]*\{|:path\}.*\{|\{.*:path\}")
"""Finds two parameters in one segment, or one that takes slashes beside another."""


class _LinearPattern:
    """Stands for the regular expression of a route, of which Starlette asks only for its groups."""

    def __init__(self, route: Any) -> None:
        template = decoded_path(route.endpoint.operation_id.partition(" ")[2])
        self._matcher = PathMatcher([(template, list(route.param_convertors))])

    def match(self, path: str) -> "_LinearMatch | None":
        """Matches a path from its beginning to its end."""
        found = self._matcher.find(path)
        return None if found is None else _LinearMatch(zip(*found, strict=True))


class _LinearMatch(dict[str, str]):
    """The texts of a route's parameters."""

    def groupdict(self) -> dict[str, str]:
        """Returns them by name."""
        return self


class Skeleton(OpenAPISpecification):  # type: ignore[misc]  # as above
    """A document that ``skeleton`` has generated.

    It holds no references, and is not validated at each start, which took a tenth of it;
    ``tests/openapi/test_paths.py`` validates them.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self._set_defaults(document)
        self._raw_spec = self._spec = document


def routed(apis: Mapping[str, Sequence[Operation]], app: ASGIApp) -> Routing:
    """Returns Connexion's routing in front of an application.

    Args:
        apis: Base path to the operations that are served under it.
        app: What responds after routing.
    """
    # Connexion knows the methods of OpenAPI 3.0 and passes over others
    METHODS.update(it.method.lower() for operations in apis.values() for it in operations)
    routing = Routing(app)
    resolver = Resolver(lambda _: app)
    # Starlette's router takes the first base path that fits
    for base_path in sort_routes(list(apis), key=lambda base_path: base_path or "/"):
        document = Skeleton(skeleton(apis[base_path]))
        routing.add_api(document, base_path=base_path, resolver=resolver)
    return routing
