"""Finds the operation of a method and a path as Connexion's router does, without a call of it.

The table is asked of Connexion's own router, so that there is one truth about routes; a path that is
not in the table is left to the router itself, which knows what to refuse, and how.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from starlette.types import ASGIApp

from understudy.mock.engine._connexion import RegisteredRoute, registered_routes
from understudy.mock.engine.endpoint import Endpoint
from understudy.openapi.skeleton import path_texts, routing_id

_REMEMBERED = 4096
_LONGEST_REMEMBERED = 200
"""Characters of a path whose route is remembered: about a megabyte in all."""

EndpointsByRoute = Mapping[tuple[str, str], Endpoint]
"""Base path and the skeleton's operationId to the operation."""


class MatchedRoute(NamedTuple):
    """The operation that a path leads to, and the texts of its path parameters."""

    endpoint: Endpoint
    path_arguments: Mapping[str, str]


class _Row(NamedTuple):
    rest: re.Pattern[str]
    endpoint: Endpoint


def by_route(served: Mapping[str, Sequence[Endpoint]]) -> EndpointsByRoute:
    """Returns the operations by the names that Connexion's routing gives them.

    Args:
        served: Base path to the operations under it.
    """
    return {
        (base_path, routing_id(endpoint.operation)): endpoint
        for base_path, group in served.items()
        for endpoint in group
    }


class RouteTable:
    """The routes of an application.

    Args:
        application: What ``routed`` returned, once it was called.
        endpoints: The operations.
    """

    def __init__(self, application: ASGIApp, endpoints: EndpointsByRoute) -> None:
        self._bases: dict[re.Pattern[str], dict[str, list[_Row]]] = {}
        for route in registered_routes(application):
            self._add(route, endpoints[route.key])
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._find)

    def find(self, method: str, path: str) -> MatchedRoute | None:
        """Returns where a path leads with a method; None where only the router itself knows."""
        find = self._find if len(path) > _LONGEST_REMEMBERED else self._remembered
        return find(method, path)

    def _add(self, route: RegisteredRoute, endpoint: Endpoint) -> None:
        rows = self._bases.setdefault(route.base, {})
        for method in route.methods - {"HEAD"}:  # the router leaves out its body
            rows.setdefault(method, []).append(_Row(route.rest, endpoint))

    def _find(self, method: str, path: str) -> MatchedRoute | None:
        for base, rows in self._bases.items():
            mounted = base.match(path)
            if mounted is None:
                continue
            rest = f"/{mounted['path']}"
            for row in rows.get(method, ()):
                match = row.rest.match(rest)
                if match is not None:
                    texts = path_texts(row.endpoint.operation, match.groupdict())
                    return MatchedRoute(row.endpoint, texts)
            return None
        return None
