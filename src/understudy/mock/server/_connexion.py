"""Routes by the document with Connexion; no other module imports Connexion.

The mock's stack contains only Connexion's routing. Connexion's apps rebuild decorators and signatures on
each request, which takes half of their time; its layers for security and validation rebuild a request
object and its validators on each request (40 % of the mock's time), only to call functions of the mock.
The scope's ``connexion_routing``, which ``dispatcher`` reads, is not documented;
``tests/mock/server/test_connexion.py`` notices when it changes. Importing Connexion takes 0.7 s of
processor time, so the first request that needs this module imports it.
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
    """Connexion's routing as an ASGI application, with three changes.

    A trailing slash is no redirect, since redirects lose bodies. A line break (``%0A``) is matched like any
    other character, which Starlette's ``.*`` for mounted APIs does not. And a template whose regular
    expression could backtrack beyond linear time gets our own matcher.
    """

    def add_api(self, *args: Any, **kwargs: Any) -> None:
        """Registers a document, and applies the changes to its routes."""
        super().add_api(*args, **kwargs)
        for router in (self.router, *(route.app for route in self.router.routes)):
            router.redirect_slashes = False
        for mount in self.router.routes:
            mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
            for route in mount.app.routes:
                if _BACKTRACKING.search(route.path):
                    route.path_regex = _LinearPattern(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Finds the operation, and calls the application behind the routing.

        Raises:
            HTTPException: No operation has this method and path.
        """
        scope["app"] = self  # lets Starlette's router raise its refusals instead of sending them
        await super().__call__(scope, receive, send)


_BACKTRACKING = re.compile(r"\}[^/]*\{|:path\}.*\{|\{.*:path\}")
"""Matches templates with two parameters in a segment, or with a ``:path`` parameter and another."""


class _LinearPattern:
    """Replaces the regular expression of a route; Starlette uses only ``match(…).groupdict()``."""

    def __init__(self, route: Any) -> None:
        template = decoded_path(route.endpoint.operation_id.partition(" ")[2])
        self._matcher = PathMatcher([(template, list(route.param_convertors))])

    def match(self, path: str) -> "_LinearMatch | None":
        """Matches a whole path."""
        found = self._matcher.find(path)
        return None if found is None else _LinearMatch(zip(*found, strict=True))


class _LinearMatch(dict[str, str]):
    """The texts of a route's parameters."""

    def groupdict(self) -> dict[str, str]:
        """Returns the texts by parameter name, as ``re.Match.groupdict`` does."""
        return self


class Skeleton(OpenAPISpecification):  # type: ignore[misc]  # as above
    """A document that ``skeleton`` has generated.

    It has no references to resolve, and validating it would take a tenth of the start;
    ``tests/openapi/test_paths.py`` validates such documents.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self._set_defaults(document)
        self._raw_spec = self._spec = document


def routed(apis: Mapping[str, Sequence[Operation]], app: ASGIApp) -> Routing:
    """Returns Connexion's routing in front of an application.

    Args:
        apis: Base path to the operations that are served under it.
        app: Application to call after routing.
    """
    # Connexion ignores methods that are not in OpenAPI 3.0, unless its set of methods has them
    METHODS.update(it.method.lower() for operations in apis.values() for it in operations)
    routing = Routing(app)
    resolver = Resolver(lambda _: app)
    # Starlette's router takes the first base path that matches: sort specific ones first
    for base_path in sort_routes(list(apis), key=lambda base_path: base_path or "/"):
        document = Skeleton(skeleton(apis[base_path]))
        routing.add_api(document, base_path=base_path, resolver=resolver)
    return routing
