"""Reads a list page by page, within a bound."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from understudy.exchange.messages import Exchange, split
from understudy.openapi.resources.model import ResourceOperation
from understudy.verify.inferred.collection_requests import CollectionRequests
from understudy.verify.inferred.context import item_in
from understudy.verify.inferred.paging import Query, has_more, paged_list
from understudy.verify.inferred.prepared import PreparedRequest

_MOST_PAGES: Final = 10
_SURELY_WHOLE: Final = 20
"""Items of a list without pages that is taken for whole: a longer one may have been cut."""


class ListedItems(NamedTuple):
    """The items of a list.

    Attributes:
        pages: The exchanges that read it; none where a page could not be read.
        identifiers: The identifiers of its items, in order.
        is_whole: Whether nothing can have been left out.
    """

    pages: list[Exchange]
    identifiers: list[str]
    is_whole: bool


def read_pages(
    requests: CollectionRequests,
    role: ResourceOperation,
    limit: int,
    send: Callable[[PreparedRequest], Exchange],
) -> ListedItems:
    """Reads a list page by page.

    Args:
        requests: Makes the requests to the collection.
        role: The operation that lists.
        limit: The items of a page, as far as the document lets a client choose it.
        send: Sends a request.
    """
    bodies, collection = requests.maker.bodies, requests.collection
    paged = paged_list(role.operation, bodies, bodies.members(collection.schema))
    request = requests.plain(role)
    query: Query = (*request.query, *paged.limited(limit))
    following: Query | str | None = query
    pages: list[Exchange] = []
    identifiers: list[str] = []
    count = 0
    while following is not None and len(pages) < _MOST_PAGES:
        if isinstance(following, str) and _is_elsewhere(following, pages[-1]):
            break
        query = query if isinstance(following, str) else following
        exchange = send(_page_of(request, following))
        items = _list_in(exchange, role)
        if items is None:
            return ListedItems([], [], is_whole=False)
        count = len(items)
        pages.append(exchange)
        identifiers += [str(it.get(collection.identifier or "")) for it in items]
        following = paged.following(exchange, query, count, len(pages) - 1)
    is_single = len(pages) == 1 and not paged.is_paged
    is_full = 0 < count >= paged.size_of(query)
    is_cut = following is not None or has_more(pages[-1]) or is_full
    is_cut = is_cut or (is_single and len(identifiers) >= _SURELY_WHOLE)
    return ListedItems(pages, identifiers, is_whole=not (is_cut or paged.is_filtered))


def _page_of(request: PreparedRequest, following: Query | str) -> PreparedRequest:
    if isinstance(following, str):
        return PreparedRequest("GET", following)
    return request._replace(query=following)


def _is_elsewhere(address: str, page: Exchange) -> bool:
    """Tells whether a link leads to another server, where nothing is sent."""
    return split(address).netloc != split(page.request.url).netloc


def _list_in(exchange: Exchange, role: ResourceOperation) -> list[Any] | None:
    """Returns the items of a page, or None where the response has no list of objects."""
    *above, last = ("", *(role.response_path or ()))
    body = exchange.body if exchange.response.is_success else None
    if above:
        holder = item_in(body, tuple(above[1:]))
        body = None if holder is None else holder.get(last)
    is_list = isinstance(body, list) and all(isinstance(it, dict) for it in body)
    return body if is_list else None
