"""Finds the operation of a method and a path as Connexion's router does, without Connexion.

To import Connexion takes longer than everything else until the first response. Its router gets the same
templates in the same order (``skeleton``), which a test compares; a path that is not in this table is
left to the router, which refuses it.
"""

from collections.abc import Mapping, Sequence

from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.hosts import is_reserved
from understudy.mock.server.parameters import parse_query
from understudy.openapi.operations import distinguishing, is_meant
from understudy.openapi.path_matching import PathMatcher, decoded_path, specificity
from understudy.openapi.paths import parameter_texts, routed_path, routing_id

EndpointsByRoute = Mapping[tuple[str, str], Sequence[Endpoint]]
"""Base path and the skeleton's operationId to the operation, or to several that differ only in their
query or header parameters."""

NO_HEADERS: Mapping[bytes, bytes] = {}


MatchedRoute = tuple[Endpoint | None, Mapping[str, str]]
"""The operation of a path, or None, and the texts of the path parameters."""

NO_ROUTE: MatchedRoute = None, {}
"""No operation in this table: Connexion's router decides."""


def by_route(served: Mapping[str, Sequence[Endpoint]]) -> EndpointsByRoute:
    """Returns the operations by the keys that Connexion's routing puts into the scope.

    Args:
        served: Base path to the operations under it.
    """
    routes: dict[tuple[str, str], list[Endpoint]] = {}
    for base_path, group in served.items():
        first: dict[tuple[str, str], str] = {}
        for endpoint in group:
            operation = endpoint.operation
            place = operation.method, routed_path(operation)
            route = first.setdefault(place, routing_id(operation))
            routes.setdefault((base_path, route), []).append(endpoint)
    return {
        key: sorted(group, key=lambda it: -len(distinguishing(it.operation)))
        for key, group in routes.items()
    }


def chosen(endpoints: Sequence[Endpoint], query: bytes, headers: Mapping[bytes, bytes]) -> Endpoint:
    """Returns the operation that a request means, of several with the same method and path.

    That is the first whose distinguishing parameters are all sent; else the first of all.
    """
    if len(endpoints) == 1:
        return endpoints[0]
    sent = parse_query(query)

    def header(name: str) -> str | None:
        text = headers.get(name.encode("latin-1", "replace"))
        return None if text is None else text.decode("latin-1")

    for endpoint in endpoints:
        if is_meant(endpoint.operation, sent, header):
            return endpoint
    return endpoints[0]


class RouteTable:
    """The routes of one server address.

    Args:
        endpoints: Operations by base path and operationId.
    """

    def __init__(self, endpoints: EndpointsByRoute) -> None:
        bases: dict[str, dict[str, list[tuple[str, Sequence[Endpoint]]]]] = {}
        ordered = sorted(endpoints.items(), key=lambda item: specificity(item[1][0].operation.path))
        for (base_path, _), group in ordered:
            operation = group[0].operation
            rows = bases.setdefault(base_path, {})
            if operation.method != "HEAD":  # left to the router, which omits the body
                rows.setdefault(operation.method, []).append((decoded_path(operation.path), group))
        self._told_apart = frozenset(
            id(endpoint) for group in endpoints.values() if len(group) > 1 for endpoint in group
        )
        self._bases = [
            (
                f"{base_path}/",
                {method: PathMatcher(routes) for method, routes in bases[base_path].items()},
            )
            for base_path in sorted(bases, key=len, reverse=True)  # the longest prefix wins
        ]

    def is_found_by_target(self, endpoint: Endpoint) -> bool:
        """Tells whether method and target determine an operation, without the headers."""
        return id(endpoint) not in self._told_apart

    def find(
        self,
        method: str,
        path: str,
        query: bytes = b"",
        headers: Mapping[bytes, bytes] = NO_HEADERS,
    ) -> MatchedRoute:
        """Returns the operation of a method and path, with the texts of its path parameters."""
        if is_reserved(path):
            return NO_ROUTE
        for base, matchers in self._bases:
            if path.startswith(base):
                matcher = matchers.get(method)
                found = None if matcher is None else matcher.find(path[len(base) - 1 :])
                if found is None:
                    return NO_ROUTE
                endpoint = chosen(found[0], query, headers)
                return endpoint, parameter_texts(endpoint.operation.path, found[1])
        return NO_ROUTE
