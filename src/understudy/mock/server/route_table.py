"""Finds the operation of a method and a path as Connexion's router does, without a call of it.

Connexion's router is not imported for it: that takes longer than all else until the mock answers. The
router gets the same templates in the same order (``skeleton``), which a test compares; a path that is
not in the table is left to the router itself, which knows what to refuse, and how.
"""

from collections.abc import Mapping, Sequence

from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.hosts import is_reserved
from understudy.mock.server.parameters import parse_query
from understudy.openapi.operations import distinguishing, is_meant
from understudy.openapi.path_matching import PathMatcher, decoded_path, specificity
from understudy.openapi.paths import parameter_texts, routed_path, routing_id

EndpointsByRoute = Mapping[tuple[str, str], Sequence[Endpoint]]
"""Base path and the skeleton's operationId to the operation, or to several that a request's query
and header tell apart."""

NO_HEADERS: Mapping[bytes, bytes] = {}


MatchedRoute = tuple[Endpoint | None, Mapping[str, str]]
"""The operation that a path leads to, and the texts of its path parameters."""

NO_ROUTE: MatchedRoute = None, {}
"""Leaves a path to the router itself."""


def by_route(served: Mapping[str, Sequence[Endpoint]]) -> EndpointsByRoute:
    """Returns the operations by the names that Connexion's routing gives them.

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
    """Returns the operation that a request distinguishes from others of the same method and path.

    It is the first whose distinguishing parameters are all sent; else the first of all.
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
    """The routes of an address.

    Args:
        endpoints: The operations.
    """

    def __init__(self, endpoints: EndpointsByRoute) -> None:
        bases: dict[str, dict[str, list[tuple[str, Sequence[Endpoint]]]]] = {}
        ordered = sorted(endpoints.items(), key=lambda item: specificity(item[1][0].operation.path))
        for (base_path, _), group in ordered:
            operation = group[0].operation
            rows = bases.setdefault(base_path, {})
            if operation.method != "HEAD":  # the router leaves out its body
                rows.setdefault(operation.method, []).append((decoded_path(operation.path), group))
        self._told_apart = frozenset(
            id(endpoint) for group in endpoints.values() if len(group) > 1 for endpoint in group
        )
        self._bases = [
            (
                f"{base_path}/",
                {method: PathMatcher(routes) for method, routes in bases[base_path].items()},
            )
            for base_path in sorted(bases, key=len, reverse=True)  # the first that fits counts
        ]

    def is_found_by_target(self, endpoint: Endpoint) -> bool:
        """Tells whether method and target lead to an operation, whatever the headers are."""
        return id(endpoint) not in self._told_apart

    def find(
        self,
        method: str,
        path: str,
        query: bytes = b"",
        headers: Mapping[bytes, bytes] = NO_HEADERS,
    ) -> MatchedRoute:
        """Returns where a path leads with a method."""
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
