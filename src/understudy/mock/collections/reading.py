"""Reads items and lists of items."""

from collections.abc import Mapping
from typing import Any, Final

from understudy.mock.collections.bound import BoundCall
from understudy.mock.collections.conditions import not_modified
from understudy.mock.collections.paging import Page, page_of
from understudy.mock.collections.responses import item_headers, response, status_for
from understudy.mock.server.call import HandlerResponse
from understudy.openapi.loader import Node
from understudy.openapi.resources.bodies import response_schema
from understudy.openapi.resources.names import canonical

_TOTALS: Final = frozenset(
    {
        *("total", "totalcount", "totalitems", "totalelements", "totalresults", "totalrecords"),
        *("totalsize", "resultcount", "numfound", "recordcount", "totalhits"),
    }
)
_COUNTS: Final = frozenset({"count", "numberofelements", "itemcount", "pagecount"})
_TOTAL_PAGES: Final = frozenset({"totalpages", "pages", "pagecount", "lastpage", "numpages"})
_LIMITS: Final = frozenset({"limit", "perpage", "pagesize", "size", "itemsperpage"})
_NUMBERS: Final = frozenset({"page", "number", "currentpage", "pagenumber", "pageindex"})
_MORES: Final = frozenset({"hasmore", "hasnext", "more", "hasnextpage"})
_CURSORS: Final = frozenset(
    {
        "nextcursor",
        "cursor",
        "nextpagetoken",
        "nexttoken",
        "continuationtoken",
        "after",
        "endcursor",
    }
)
_NEXTS: Final = frozenset({"next", "nexturl", "nextlink", "nextpage", "nextpageurl"})
_PREVIOUS: Final = frozenset({"previous", "prev", "prevurl", "previousurl", "prevpage"})


def read(bound: BoundCall) -> HandlerResponse | None:
    """Reads an item.

    Raises:
        NotFound: There is no such item.
    """
    item = bound.item()
    if item is None:
        return None
    unchanged = not_modified(bound, item)
    if unchanged is not None:
        return unchanged
    return response(bound, status_for(bound), item.body, item_headers(bound, item))


def list_items(bound: BoundCall) -> HandlerResponse | None:
    """Lists the items below the parents of the request: filtered, sorted, and a page of them.

    Raises:
        NotFound: A parent does not exist.
    """
    bound.expect_parents()
    page = page_of(bound, bound.records.listed(bound.resource.path, bound.address.parents))
    values = [item.body for item in page.items]
    if len(values) < _fewest(bound):
        bound.call.notes.append("the document requires more items than there are; some are made up")
        return None
    result = response(bound, status_for(bound), values, _headers(bound, page))
    if isinstance(result.body, dict):
        schema = _body_schema(bound, result)
        result = result._replace(body=_with_totals(bound, result.body, schema, page))
    return result


def _fewest(bound: BoundCall) -> int:
    """Returns how many items the document requires of every list."""
    schema = response_schema(bound.role.operation)
    for step in bound.role.response_path or ():
        schema = bound.shape.bodies.members(schema).get(step)
    fewest = bound.shape.bodies.keyword(schema, "minItems")
    return fewest if isinstance(fewest, int) else 0


def _body_schema(bound: BoundCall, result: HandlerResponse) -> Node | None:
    declared = bound.role.operation.response(result.status)
    media = declared.content.get(result.media_type) if declared else None
    return media.schema if media else None


def _url(bound: BoundCall, query: str) -> str:
    return f"{bound.call.base_url}{bound.call.path}?{query}"


def _headers(bound: BoundCall, page: Page) -> dict[str, str]:
    """Returns headers about a page by every usual name; those that are not declared are left out."""
    links = [
        f'<{_url(bound, query)}>; rel="{relation}"'
        for relation, query in (("next", page.next_query), ("prev", page.previous_query))
        if query is not None
    ]
    total, limit = str(page.total), page.query.limit
    headers = {"x-total-count": total, "x-total": total, "total-count": total}
    if links:
        headers["link"] = ", ".join(links)
    if page.next_cursor is not None:
        headers["x-next-cursor"] = page.next_cursor
    if limit:
        pages = -(-page.total // limit)
        headers |= {"x-per-page": str(limit), "x-total-pages": str(pages)}
    if page.query.number is not None:
        headers["x-page"] = str(page.query.number)
    return headers


def _with_totals(
    bound: BoundCall, body: Mapping[str, Any], schema: Node | None, page: Page, depth: int = 1
) -> dict[str, Any]:
    """Returns an envelope whose members of usual names say what page it has, and of how many items."""
    members = bound.shape.bodies.members(schema)
    result = dict(body)
    names = {canonical(name) for name in members}
    for name, member in members.items():
        if isinstance(result.get(name), dict) and depth:
            result[name] = _with_totals(bound, result[name], member, page, depth - 1)
            continue
        values = _values(bound, canonical(name), page, has_total=bool(names & _TOTALS))
        is_valid = bound.call.schemas.validator(member).is_valid
        fitting = [value for value in values if is_valid(value)]
        if fitting:
            result[name] = fitting[0]
        elif None in values and name in result:
            required = bound.shape.schemas.required_names(schema) if schema else []
            if name not in required:
                del result[name]
    return result


def _values(bound: BoundCall, name: str, page: Page, *, has_total: bool) -> tuple[Any, ...]:
    """Returns what a member of an envelope may say, the likeliest first; empty for other members."""
    limit, start = page.query.limit, page.query.offset
    url = None if page.next_query is None else _url(bound, page.next_query)
    back = None if page.previous_query is None else _url(bound, page.previous_query)
    number = page.query.number
    following = None if number is None or page.next_query is None else number + 1
    count = len(page.items)
    known: tuple[tuple[frozenset[str], tuple[Any, ...]], ...] = (
        (_TOTALS, (page.total, str(page.total))),
        (_TOTAL_PAGES, (-(-page.total // limit) if limit else 1,)),
        (_COUNTS, (count if has_total else page.total,)),
        (_LIMITS, (limit if limit is not None else max(count, 1),)),
        (_NUMBERS, (number if number is not None else start // (limit or 1) + 1,)),
        (frozenset({"offset", "skip", "startindex"}), (start,)),
        (_MORES, (page.next_query is not None or page.next_cursor is not None,)),
        (_CURSORS, (page.next_cursor, "")),
        (_NEXTS, (url, following, page.next_cursor) if url else (None, "")),
        (_PREVIOUS, (back, None, "") if back is None else (back,)),
    )
    return next((values for names, values in known if name in names), ())
