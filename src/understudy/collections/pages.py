"""Finds the pages of a list by links, cursors, page numbers or offsets, by their usual names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin

from understudy.collections.names import (
    CURSORS,
    LIMITS,
    MORES,
    NEXTS,
    OFFSETS,
    PAGE_COUNTS,
    PAGES,
    PAGING,
    TOTALS,
    canonical,
)
from understudy.exchange.messages import Exchange
from understudy.openapi.loader import Node
from understudy.openapi.operations import Operation, Parameter
from understudy.openapi.schemas import Schemas

_USUAL_LIMIT: Final = 50  # largest page size that is requested if the document states none

Query = tuple[tuple[str, str], ...]
"""Names and values of a query, in order."""


@dataclass(frozen=True, slots=True)
class PagedList:
    """The parameters by which a list is paged.

    Attributes:
        limit: Name of the parameter with the page size; None without one.
        most: The largest limit.
        least: The smallest limit.
        offset: Name of the parameter with the number of items to skip; None without one.
        number: Name of the parameter with the page number; None without one.
        first: The number of the first page.
        cursor: Name of the parameter with a token from the page before; None without one.
        is_filtered: Whether other parameters may filter the list, so that items may be missing.
        starts_later: Whether the default page number is not the first one.
    """

    limit: str | None
    most: int
    least: int
    offset: str | None
    number: str | None
    first: int
    cursor: str | None
    is_filtered: bool
    starts_later: bool = False

    def limited(self, limit: int) -> Query:
        """Returns the query for pages of a size, within the bounds of the document."""
        start = ((self.number, str(self.first)),) if self.number and self.starts_later else ()
        if self.limit is None:
            return start
        return (*start, (self.limit, str(max(self.least, min(limit, self.most)))))

    def following(
        self, exchange: Exchange, query: Query | str, count: int, page: int
    ) -> Query | str | None:
        """Returns the query or the URL of the next page; None after the last.

        Args:
            exchange: The page before.
            query: Its query, or its URL if it was reached by a link.
            count: The number of its items.
            page: Its number, counted from 0.
        """
        link = _link(exchange) or _member(exchange, NEXTS)
        if link is not None and ("/" in link or "?" in link):
            return urljoin(exchange.request.url, link)
        return None if isinstance(query, str) else self._after(exchange, query, count, page)

    def _after(self, exchange: Exchange, query: Query, count: int, page: int) -> Query | None:
        """Returns the query of the next page, by cursor, number or offset; None after the last."""
        others = dict(query)
        cursor = _member(exchange, CURSORS) or _member(exchange, NEXTS)
        if self.cursor is not None and cursor:
            return tuple({**others, self.cursor: cursor}.items())
        size = self.size_of(query)
        was_by_cursor = self.cursor in others  # the page had no further cursor, so it is the last
        if was_by_cursor or not count or (size < inf and count < size):
            return None
        if self.number is not None:
            return tuple({**others, self.number: str(self.first + page + 1)}.items())
        if self.offset is not None:
            offset = int(others.get(self.offset, "0")) + count
            return tuple({**others, self.offset: str(offset)}.items())
        return None

    def size_of(self, query: Query) -> float:
        """Returns the page size in a query; infinite without."""
        text = dict(query).get(self.limit or "", "")
        return int(text) if text.isdecimal() else inf

    @property
    def is_paged(self) -> bool:
        """True if the document declares a parameter for further pages."""
        return not (self.offset is None and self.number is None and self.cursor is None)


def paged_list(operation: Operation, schemas: Schemas, members: Mapping[str, Any]) -> PagedList:
    """Returns the paging parameters of an operation, found by their names.

    Args:
        operation: The operation that lists items.
        schemas: The schemas of the document.
        members: The members of an item; parameters with these names filter.
    """
    query = [it for it in operation.parameters if it.location == "query"]
    named: dict[frozenset[str], tuple[str, Node | None]] = {}
    for it in query:
        for names in (LIMITS, OFFSETS, PAGES, CURSORS):
            if canonical(it.name) in names and pages_by(schemas, it):
                named.setdefault(names, (it.name, it.schema))
    limit, limit_schema = named.get(LIMITS, (None, None))
    number, number_schema = named.get(PAGES, (None, None))
    known = {canonical(name) for name in members}
    filters = [
        it
        for it in query
        if not (canonical(it.name) in PAGING and pages_by(schemas, it))
        and (
            it.required
            or (canonical(it.name) in known and (schemas.keyword(it.schema, "default") is not None))
        )
    ]
    lowest = schemas.keyword(number_schema, "minimum")
    first = _whole(schemas.keyword(number_schema, "default"), 0 if lowest == 0 else 1)
    return PagedList(
        limit=limit,
        most=_whole(schemas.keyword(limit_schema, "maximum"), _USUAL_LIMIT),
        least=_whole(schemas.keyword(limit_schema, "minimum"), 1),
        offset=named.get(OFFSETS, (None, None))[0],
        number=number,
        first=min(first, 1),
        cursor=named.get(CURSORS, (None, None))[0],
        is_filtered=bool(filters),
        starts_later=first > 1,
    )


_MOMENTS: Final = frozenset({"from", "start"})
"""Names of offset parameters that many services use for filters by time."""


def pages_by(schemas: Schemas, parameter: Parameter) -> bool:
    """Tells whether a parameter with a usual name can select a page, by its type."""
    types = schemas.types(parameter.schema)
    is_moment = canonical(parameter.name) in _MOMENTS and "string" in types
    return not is_moment and "object" not in types


def has_more(exchange: Exchange) -> bool:
    """Tells whether the body of a page says that further pages follow."""
    return any(value is True for value in _members(exchange, MORES))


_SURE_TOTALS: Final = frozenset(it for it in TOTALS if it.startswith("total"))
"""Names of totals that are unambiguous; others may mean the number of items on the page."""


def totals(exchange: Exchange) -> list[int]:
    """Returns the total numbers of items in the body or the header of a page."""
    named = [*_members(exchange, _SURE_TOTALS), exchange.response.header("x-total-count")]
    return [int(it) for it in map(str, named) if it.isdecimal()]


def page_counts(exchange: Exchange) -> list[int]:
    """Returns the total numbers of pages in the body of a page."""
    return [it for it in _members(exchange, PAGE_COUNTS) if _whole(it, -1) >= 0]


def _whole(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _link(exchange: Exchange) -> str | None:
    """Returns the URL of the next page from the Link header (RFC 8288), or None."""
    for part in exchange.response.header("link").split(","):
        address, _, parameters = part.partition(";")
        if 'rel="next"' in parameters or "rel=next" in parameters:
            return address.strip().strip("<>")
    return None


def _member(exchange: Exchange, names: frozenset[str]) -> str | None:
    """Returns the first text among members with one of these names, in the body or one level below."""
    texts = (it for it in _members(exchange, names) if isinstance(it, str) and it)
    return next(texts, None)


def _members(exchange: Exchange, names: frozenset[str]) -> Iterator[Any]:
    """Yields the values of members with one of these names, in the body or one level below."""
    body = exchange.json_object
    inner = [it for it in body.values() if isinstance(it, dict)]
    for members in (body, *inner):
        yield from (it for name, it in members.items() if canonical(str(name)) in names)


class ListedItems(NamedTuple):
    """The items of a list.

    Attributes:
        pages: The exchanges that read the pages; empty if a page could not be read.
        identifiers: The identifiers of the items, in order; an empty text for an item without one.
        is_whole: Whether the list is certainly complete.
        first: The number of items on the first page.
        bound: The size of the first page by its query; infinite without.
    """

    pages: list[Exchange]
    identifiers: list[str]
    is_whole: bool
    first: int = 0
    bound: float = inf

    @property
    def wrong_totals(self) -> list[int]:
        """The totals of the last page that contradict the number of items in the list.

        A service may make smaller pages than requested, and the list then seems to end too early. So
        a larger total is wrong only if the first page has exactly the requested size.
        """
        count = len(self.identifiers)
        is_sure = self.is_whole and self.first == self.bound
        named = totals(self.pages[-1]) if self.pages else []
        return [it for it in named if it < count or (is_sure and it > count)]
