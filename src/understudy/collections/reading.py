"""Serves items and lists, filtered, sorted and paged by the query parameters of the document.

The purpose of a parameter follows from its name: ``limit`` and ``per_page`` set the page size,
``offset``, ``page`` and ``cursor`` select a page, ``sort`` orders, and names of members filter.
"""

import base64
import contextlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from understudy.collections.bodies import response_schema, schema_at
from understudy.collections.calls import BoundCall, item_headers, not_modified, response, status_for
from understudy.collections.model import Steps, value_at
from understudy.collections.names import (
    CURSORS,
    LIMITS,
    MORES,
    NEXTS,
    OFFSETS,
    PAGE_COUNTS,
    PAGES,
    TOTALS,
    canonical,
    singular,
    words,
)
from understudy.collections.pages import pages_by
from understudy.mock.server.call import HandlerResponse
from understudy.mock.store.items import Item
from understudy.openapi.loader import Node
from understudy.openapi.media_types import declared_for
from understudy.openapi.operations import Parameter

_SORTS: Final = frozenset({"sort", "sortby", "orderby", "ordering", "sortfield", "sortkey"})
_DIRECTIONS: Final = frozenset(
    {"order", "direction", "sortorder", "sortdir", "sortdirection", "dir", "orderdirection"}
)

_USUAL_LIMIT: Final = 20  # page size if neither request nor document state one
_LONGEST_NUMBER: Final = 9
"""Most digits of a number of items; longer ones are ignored."""
_DESCENDING: Final = frozenset({"desc", "descending", "-1"})


class PageQuery(NamedTuple):
    """The page that a request selects.

    Attributes:
        offset: Number of items before the page.
        limit: The page size; None: all items.
        number: The page number, as the document counts; None if it has no page numbers.
        first_number: The number of the first page.
        moves: The parameter that selects another page; None without one.
    """

    offset: int
    limit: int | None
    number: int | None
    first_number: int
    moves: Parameter | None


class Page(NamedTuple):
    """A page of a list.

    Attributes:
        items: The items of the page.
        total: The number of items that pass the filters.
        query: The selection of the page.
        next_query: The query of the next page; None for the last one.
        previous_query: The query of the page before; None for the first one.
        next_cursor: The cursor of the next page; None for the last one.
    """

    items: Sequence[Item]
    total: int
    query: PageQuery
    next_query: str | None = None
    previous_query: str | None = None
    next_cursor: str | None = None


def page_of(bound: BoundCall, items: Sequence[Item]) -> Page:
    """Returns the page of a filtered and sorted list that a request selects."""
    tests = list(_filters(bound))
    passing = [item for item in items if all(passes(item.body) for passes in tests)]
    matching = _sorted(bound, passing)
    query = _query(bound, matching)
    start = min(query.offset, len(matching))
    end = len(matching) if query.limit is None else start + query.limit
    page = Page(matching[start:end], len(matching), query)
    if query.moves is None or query.limit is None:
        return page
    has_next = end < len(matching) and end > start
    last = _cursor(end, matching[end - 1].identifier) if has_next else None
    return page._replace(
        next_query=_moved(bound, query, end, last) if has_next else None,
        previous_query=_back(bound, query, start),
        next_cursor=last,
    )


def _parameters(bound: BoundCall) -> list[Parameter]:
    return [it for it in bound.role.operation.parameters if it.location == "query"]


def _named(bound: BoundCall, names: frozenset[str]) -> Parameter | None:
    members = {canonical(name) for name in bound.shape.members}
    return next(
        (
            it
            for it in _parameters(bound)
            if canonical(it.name) in names
            and canonical(it.name) not in members
            and pages_by(bound.shape.schemas, it)
        ),
        None,
    )


_Test = Callable[[Mapping[str, Any]], bool]


def _filters(bound: BoundCall) -> Iterator[_Test]:
    """Yields the filters of a request, by its path and its query parameters.

    A parameter has the name of a member (``status``), of a member with a comparison
    (``created_after``, ``min_price``), or of a text search (``q``).
    """
    for member, value in bound.scope.items():
        yield partial(_has, (member,), [value])
    places = _places(bound)
    for parameter in _parameters(bound):
        expected = _expected(bound, places, parameter)
        pairs = expected.items() if isinstance(expected, dict) else [("", expected)]
        for name, value in pairs:
            test = None if value is None else _test(places, f"{parameter.name} {name}", value)
            if test is not None:
                yield test


def _expected(bound: BoundCall, places: Mapping[str, Steps], parameter: Parameter) -> Any:
    """Returns the value by which a parameter filters; None if it does not filter.

    A default filters only if it is one of a few values of the member; ``all``, for example, is not.
    """
    schemas, given = bound.shape.schemas, bound.call.arguments.get(parameter.name)
    default = schemas.keyword(parameter.schema, "default")
    place = places.get(canonical(parameter.name), ())
    member = schema_at(schemas, bound.shape.schema, place) if place else None
    options = (False, True) if schemas.types(member) == {"boolean"} else ()
    options = schemas.keyword(member, "enum") or options
    if given is None or (options and given == default):
        return default if default in options else None
    return given


def _places(bound: BoundCall) -> dict[str, Steps]:
    """Returns canonical name to place of an item's members, and of those in ``attributes``.

    A list has the name of one of its values, too: ``tag`` of ``tags`` or ``tagList``.
    """
    places = {canonical(name): (name,) for name in bound.shape.members}
    of_one = {singular(it.removesuffix("list") or it): at for it, at in places.items()}
    attributes = bound.shape.members.get("attributes")
    inner = bound.shape.schemas.members(attributes.schema) if attributes else {}
    return {**of_one, **{canonical(name): ("attributes", name) for name in inner}, **places}


def _test(places: Mapping[str, Steps], parameter: str, expected: Any) -> _Test | None:
    """Returns the filter for a parameter and its value; None if the name means no filter."""
    first, *others = _words_of(parameter)
    *before, last = (first, *others)
    name, stems = "".join((first, *others)), {_MOMENT.sub("", it): at for it, at in places.items()}
    known = {**stems, **places}
    if not before:  # since, until: compare the time of the last change, or of the creation
        moments = ("updatedat", "updated", "modifiedat", "createdat", "created", "", "date")
        moment = next((known[it] for it in moments if it in known), None)
        known = {"": moment} if moment and _INSTANT.match(str(expected)) else {}
    values = expected if isinstance(expected, list) else [expected]
    if name in places:
        return partial(_has, places[name], values)
    if name in _SEARCHES:
        return partial(_mentions, str(expected).casefold())
    if last in _COMPARISONS and "".join(before) in known:
        return partial(_compares, known["".join(before)], _COMPARISONS[last], _order_of(expected))
    if first in _COMPARISONS and "".join(others) in known:
        return partial(_compares, known["".join(others)], _COMPARISONS[first], _order_of(expected))
    if isinstance(expected, list) and singular(name) in places:
        return partial(_has, places[singular(name)], values)  # ids=1,2
    return None


def _words_of(parameter: str) -> Sequence[str]:
    """Returns the words of a parameter's name, without a first word such as ``filter``."""
    first, *others = words(parameter) or (canonical(parameter),)
    return others if first in _FILTERS and others else (first, *others)


_FILTERS: Final = frozenset({"filter", "filters", "where"})


_SEARCHES: Final = frozenset({"q", "query", "search", "searchterm", "term", "keyword", "keywords"})
_INSTANT: Final = re.compile(r"\d{4}-\d\d")  # the beginning of a date or instant
_MOMENT: Final = re.compile("(at|on|date|time)$")  # created_after also means createdAt
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    **dict.fromkeys(("after", "gt"), operator.gt),
    **dict.fromkeys(("since", "from", "min", "gte"), operator.ge),
    **dict.fromkeys(("before", "lt"), operator.lt),
    **dict.fromkeys(("until", "to", "max", "lte"), operator.le),
    "not": operator.ne,
}
"""Word before or after a member's name to the comparison of its value with the parameter's."""


def _has(place: Steps, accepted: Sequence[Any], body: Mapping[str, Any]) -> bool:
    actual = value_at(body, place)
    parts = actual if isinstance(actual, list) else [actual]
    # an object is named by any of its values, such as an author by a user name
    values = chain.from_iterable(it.values() if isinstance(it, dict) else [it] for it in parts)
    return any(it == one or str(it) == str(one) for it in values for one in accepted)


def _mentions(text: str, body: Mapping[str, Any]) -> bool:
    return not text or any(text in it.casefold() for it in body.values() if isinstance(it, str))


def _compares(
    place: Steps, compare: Callable[[Any, Any], bool], bound: Any, body: Mapping[str, Any]
) -> bool:
    value = _order_of(value_at(body, place))
    return type(value) is type(bound) and compare(value, bound)


def _order_of(value: Any) -> Any:
    """Returns a number for numbers and instants, so that all notations compare correctly."""
    if isinstance(value, int | float) or value is None:
        return None if value is None else float(value)
    with contextlib.suppress(TypeError, ValueError):  # an object is no number
        return float(value)
    with contextlib.suppress(ValueError):
        instant = datetime.fromisoformat(str(value))
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
    return str(value)


def _sorted(bound: BoundCall, items: list[Item]) -> list[Item]:
    """Returns items sorted by ``sort``: ``name``, ``-name``, ``name:desc``, ``name desc``."""
    parameter, direction = _named(bound, _SORTS), _named(bound, _DIRECTIONS)
    argument = _given(bound, parameter)
    if argument is None:
        return items
    chosen = _given(bound, direction)
    words = argument if isinstance(argument, list) else str(argument).split(",")
    if len(words) > 1 and canonical(str(words[-1])) in {"asc", "desc"}:  # name,desc
        words = [f"{','.join(map(str, words[:-1]))}:{words[-1]}"]
    places = _places(bound)
    for word in reversed(words):
        name, _, suffix = str(word).strip().replace(" ", ":").partition(":")
        place = places.get(canonical(name))
        if place is not None:
            is_descending = name.startswith("-") or (
                str(suffix or chosen).strip().lower() in _DESCENDING
            )
            items = sorted(items, key=partial(_order_at, place), reverse=is_descending)
    return items


def _given(bound: BoundCall, parameter: Parameter | None) -> Any:
    """Returns the argument of a parameter, or its default; None without either."""
    if parameter is None:
        return None
    default = bound.shape.schemas.keyword(parameter.schema, "default")
    return bound.call.arguments.get(parameter.name, default)


def _order_at(place: Steps, item: Item) -> tuple[int, Any]:
    return _order(value_at(item.body, place))


def _order(value: Any) -> tuple[int, Any]:
    """Returns a sort key that groups values by type, so that only equal types are compared."""
    if isinstance(value, bool | int | float):
        return 1, value
    return (0, "") if value is None else (2, str(value))


def _query(bound: BoundCall, items: Sequence[Item]) -> PageQuery:
    arguments = bound.call.arguments
    bounding = _named(bound, LIMITS)
    limit = _number(arguments, bounding)
    if bounding is not None and limit is None:
        limit = _default(bound, bounding, _USUAL_LIMIT)
    cursor = _named(bound, CURSORS)
    if cursor is not None and arguments.get(cursor.name) is not None:
        offset = _offset_of(bound, str(arguments[cursor.name]), items)
        return PageQuery(offset, limit or _USUAL_LIMIT, None, 1, cursor)
    offsetting = _named(bound, OFFSETS)
    if offsetting is not None:
        offset = max(_number(arguments, offsetting) or 0, 0)
        return PageQuery(offset, limit, None, 1, offsetting)
    paging = _named(bound, PAGES)
    if paging is None:
        moving = cursor and (limit or _USUAL_LIMIT)
        return PageQuery(0, moving or limit, None, 1, cursor)
    first = 0 if _lowest(bound, paging) == 0 else 1
    number = _number(arguments, paging)
    number = _default(bound, paging, first) if number is None else number
    limit = limit or _USUAL_LIMIT
    return PageQuery(max(number - first, 0) * limit, limit, number, first, paging)


def _number(arguments: Mapping[str, Any], parameter: Parameter | None) -> int | None:
    value = None if parameter is None else arguments.get(parameter.name)
    text = str(value).removesuffix(".0")  # a parameter declared as number was read as float
    return (
        int(text)
        if value is not None and text.isdecimal() and len(text) <= _LONGEST_NUMBER
        else None
    )


def _default(bound: BoundCall, parameter: Parameter, usual: int) -> int:
    value = bound.shape.schemas.keyword(parameter.schema, "default")
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    most = bound.shape.schemas.keyword(parameter.schema, "maximum")
    return min(usual, int(most)) if isinstance(most, int | float) and most >= 1 else usual


def _lowest(bound: BoundCall, parameter: Parameter) -> Any:
    keyword = bound.shape.schemas.keyword
    least = keyword(parameter.schema, "minimum")
    return keyword(parameter.schema, "default") if least is None else least


def _cursor(position: int, identifier: str) -> str:
    """Returns the cursor after an item, with its position in case that the item is deleted."""
    return base64.urlsafe_b64encode(f"{position} {identifier}".encode()).decode().rstrip("=")


def _offset_of(bound: BoundCall, cursor: str, items: Sequence[Item]) -> int:
    """Returns the offset after the item that a cursor, or a plain identifier, names.

    An invalid cursor selects the beginning, since the document declares no refusal of it.
    """
    padded = cursor + "=" * (-len(cursor) % 4)
    with contextlib.suppress(ValueError):
        position, _, identifier = base64.urlsafe_b64decode(padded).decode().partition(" ")
        if position.isascii() and position.isdecimal() and len(position) <= _LONGEST_NUMBER:
            places = (n for n, item in enumerate(items, start=1) if item.identifier == identifier)
            return next(places, max(int(position) - 1, 0))
    places = (number for number, item in enumerate(items, start=1) if item.identifier == cursor)
    place = next(places, None)
    if place is None:
        bound.call.notes.append(
            f"{cursor!r:.80} is not a cursor of this list; it begins at its start"
        )
    return place or 0


def _moved(bound: BoundCall, query: PageQuery, offset: int, last: str | None) -> str:
    """Returns the query string for the page that begins at an offset, or after a cursor."""
    assert query.moves is not None
    name = canonical(query.moves.name)
    if name in CURSORS:
        value = last or ""
    elif name in OFFSETS:
        value = str(offset)
    else:
        value = str(offset // (query.limit or 1) + query.first_number)
    return _with(bound.call.query, query.moves.name, value)


def _back(bound: BoundCall, query: PageQuery, start: int) -> str | None:
    if start == 0 or query.moves is None or canonical(query.moves.name) in CURSORS:
        return None
    return _moved(bound, query, max(start - (query.limit or 0), 0), None)


def _with(query: bytes, name: str, value: str) -> str:
    pairs = parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
    return urlencode([*((key, text) for key, text in pairs if key != name), (name, value)])


_COUNTS: Final = frozenset(
    {"count", "numberofelements", "itemcount", "pagecount", "currentpageitems"}
)
_SIZES: Final = frozenset({"limit", "perpage", "pagesize", "size", "itemsperpage"})
_NUMBERS: Final = frozenset({"page", "number", "currentpage", "pagenumber", "pageindex", "pagenum"})
_PREVIOUS: Final = frozenset({"previous", "prev", "prevurl", "previousurl", "prevpage"})


def read(bound: BoundCall) -> HandlerResponse | None:
    """Responds with an item.

    Raises:
        NotFound: There is no such item.
    """
    item = bound.item()
    if item is None:
        return None
    return not_modified(bound, item) or response(
        bound, status_for(bound), item.body, item_headers(bound, item)
    )


def list_items(bound: BoundCall) -> HandlerResponse | None:
    """Responds with a page of the items below the parents of the request, filtered and sorted.

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
    """Returns the least number of items of a list by its schema."""
    schema = response_schema(bound.role.operation)
    schema = schema_at(bound.shape.schemas, schema, bound.role.response_path or ())
    fewest = bound.shape.schemas.keyword(schema, "minItems")
    return fewest if isinstance(fewest, int) else 0


def _body_schema(bound: BoundCall, result: HandlerResponse) -> Node | None:
    declared = bound.role.operation.response(result.status)
    key = declared_for(result.media_type or "", declared.content) if declared else None
    return declared.content[key].schema if declared and key else None


def _url(bound: BoundCall, query: str) -> str:
    return f"{bound.call.base_url}{bound.call.path}?{query}"


def _headers(bound: BoundCall, page: Page) -> dict[str, str]:
    """Returns the headers of a page under all usual names; only declared ones are sent later."""
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
    """Returns an envelope with totals, page numbers and links in members with usual names."""
    members = bound.shape.schemas.members(schema)
    result = dict(body)
    names = {_unqualified(bound, name) for name in members}
    for name, member in members.items():
        if isinstance(result.get(name), dict) and depth:
            result[name] = _with_totals(bound, result[name], member, page, depth - 1)
            continue
        spellings = (canonical(name), _unqualified(bound, name))
        found = (_values(bound, it, page, has_total=bool(names & TOTALS)) for it in spellings)
        values = next(filter(None, found), ())
        is_valid = bound.call.schemas.validator(member).is_valid
        fitting = [value for value in values if is_valid(value)]
        if fitting:
            result[name] = fitting[0]
        elif None in values and name in result:
            required = bound.shape.schemas.required_names(schema) if schema else []
            if name not in required:
                del result[name]
    return result


def _unqualified(bound: BoundCall, name: str) -> str:
    """Returns the canonical name of a member without that of the list: ``count`` of ``articlesCount``."""
    *_, of_list = bound.role.response_path or ("",)
    plain = canonical(name)
    for own in (canonical(str(of_list)), singular(str(of_list))):
        plain = plain if plain == own else plain.removeprefix(own).removesuffix(own)
    return plain


def _values(bound: BoundCall, name: str, page: Page, *, has_total: bool) -> tuple[Any, ...]:
    """Returns candidate values of an envelope's member, the likeliest first; empty for others."""
    limit, start = page.query.limit, page.query.offset
    url = None if page.next_query is None else _url(bound, page.next_query)
    back = None if page.previous_query is None else _url(bound, page.previous_query)
    number = page.query.number
    following = None if number is None or page.next_query is None else number + 1
    count = len(page.items)
    known: tuple[tuple[frozenset[str], tuple[Any, ...]], ...] = (
        (TOTALS, (page.total, str(page.total))),
        (PAGE_COUNTS, (-(-page.total // limit) if limit else 1,)),
        (_COUNTS, (count if has_total else page.total,)),
        (_SIZES, (limit if limit is not None else max(count, 1),)),
        (_NUMBERS, (number if number is not None else start // (limit or 1) + 1,)),
        (frozenset({"offset", "skip", "startindex"}), (start,)),
        (MORES, (page.next_query is not None or page.next_cursor is not None,)),
        (CURSORS, (page.next_cursor, "")),
        (NEXTS, (url, following, page.next_cursor) if url else (None, "")),
        (_PREVIOUS, (back, None, "") if back is None else (back,)),
    )
    return next((values for names, values in known if name in names), ())
