"""Judges lists, defaults, members that the service sets, deletions, and texts: difficult, or parts of queries.

Lists are asked only for what leaves no doubt: a filter by an enumeration or a truth value that items have
under the same name, and an order whose two directions the document names, ``title`` and ``-title``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from understudy.collections import rules
from understudy.collections.bodies import moment_of, schema_at
from understudy.collections.client import WHOLE, CollectionClient, InferredRun
from understudy.collections.constraints import conflict_prose
from understudy.collections.known_items import KnownItem, agrees, last_shown, shown
from understudy.collections.model import ResourceCollection, ResourceOperation, Role, item_at
from understudy.collections.names import LIMITS, canonical, moment_named, words
from understudy.collections.requests import PreparedRequest
from understudy.exchange.messages import Exchange
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, Parameter, operations
from understudy.openapi.parameter_writing import query_texts, written
from understudy.openapi.schemas import Schemas, schemas_of
from understudy.terminal import counted
from understudy.verify.checks import expect
from understudy.verify.item_undo import AT_ONCE, GONE
from understudy.verify.permits import NotPermitted
from understudy.verify.value_texts import as_json

_ORDERS: Final = frozenset({"sort", "sortby", "order", "orderby", "ordering"})


def ask_lists(client: CollectionClient, items: Sequence[KnownItem]) -> None:
    """Lists a collection by each filter and order, and judges the items that are listed.

    Raises:
        Refusal: The budget or the time is used up.
    """
    schemas = client.state.maker.schemas
    members = schemas.members(client.requests.collection.schema)
    names = {canonical(name): name for name in members}
    for parameter in client.requests.needed("list").operation.parameters:
        if parameter.location != "query" or parameter.schema is None or parameter.is_json:
            continue
        name = names.get(canonical(parameter.name))
        options = options_of(schemas, parameter.schema)
        if name is not None:
            shown_by = ({**(it.response or {}), **it.expected} for it in items)
            known = [it[name] for it in shown_by if name in it]
            shared = [it for it in options if it in options_of(schemas, members[name])]
            other = next((it for it in shared if any(it != each for each in known)), None)
            if other is not None:
                wanted = f"with {name} {as_json(other)}"
                _filter(client, {parameter.name: other}, name, partial(agrees, other), wanted)
        elif canonical(parameter.name) in _ORDERS:
            _sort(client, parameter.name, names, options)
        elif schemas.keyword(parameter.schema, "format") == "date-time":
            _ask_beyond(client, parameter.name, members)


def options_of(schemas: Schemas, schema: Node) -> Sequence[Any]:
    """Returns the values of an enumeration or a truth value; empty for any other schema."""
    if schemas.types(schema) == {"boolean"}:
        return (False, True)
    values = schemas.keyword(schema, "enum")
    return values if isinstance(values, list) else ()


def _filter(
    client: CollectionClient,
    query: Mapping[str, Any],
    name: str,
    fits: Callable[[Any], bool],
    wanted: str,
) -> None:
    """Lists by a parameter, and judges a member of the listed items."""
    listed = client.list_by(query)
    if listed is None:
        return
    exchange, items = listed
    others = [it[name] for it in items if name in it and not fits(it[name])]
    expected = f"items {wanted}, as {', '.join(query)} asks"
    actual = f"one with {name} {as_json(others[0])}" if others else ""
    result = expect(not others, expected, actual, *client.model.creations)
    client.judge(exchange, [(rules.LIST_FILTERED, result)])


def _ask_beyond(client: CollectionClient, parameter: str, members: Mapping[str, Node]) -> None:
    """Lists the items created or updated after (or before) a year that is beyond all of them."""
    *stem, last = words(parameter) or ("",)
    schemas, moment = client.state.maker.schemas, moment_named("".join(stem))
    name = next((n for n, it in members.items() if moment_of(schemas, n, it) == moment), None)
    year = _BEYOND.get(last)
    if moment is None or name is None or year is None:
        return
    query = {parameter: f"{year}-01-01T00:00:00Z"}
    _filter(client, query, name, _is_beyond, f"{moment} {last} {year}")


_BEYOND: Final = {"after": 9000, "since": 9000, "before": 1900, "until": 1900}
"""Last word of a parameter's name to a year that is later, or earlier, than any item."""


def _is_beyond(text: Any) -> bool:
    """Tells whether a text is not a time between the years of ``_BEYOND``."""
    return not "1900" < str(text)[:4] < "9000"


def _sort(
    client: CollectionClient, parameter: str, names: Mapping[str, str], options: Sequence[Any]
) -> None:
    """Lists by the first member for which the document names both directions, and judges the order."""
    texts = [it for it in options if isinstance(it, str) and f"-{it}" in options]
    order = next((it for it in texts if canonical(it) in names), None)
    for direction in () if order is None else (order, f"-{order}"):
        listed = client.list_by({parameter: direction})
        if listed is None:
            return
        exchange, items = listed
        name = names[canonical(direction)]
        values = [it[name] for it in items if it.get(name) is not None]
        if len(set(map(str, values))) > 1:
            is_sorted = _is_sorted(values[::-1] if direction.startswith("-") else values)
            expected = f"items by {name}, as {parameter}={direction} asks"
            actual = as_json(values[:5])
            result = expect(is_sorted, expected, actual, *client.model.creations)
            client.judge(exchange, [(rules.LIST_SORTED, result)])


def _is_sorted(values: Sequence[Any]) -> bool:
    """Tells whether values ascend; services compare texts with and without case and punctuation."""
    if all(isinstance(it, int | float) for it in values):
        return list(values) == sorted(values)
    texts = list(map(str, values))
    folded = [it.casefold() for it in texts]
    letters = ["".join(filter(str.isalnum, it)) for it in folded]
    return any(keys == sorted(keys) for keys in (texts, folded, letters))


_MOST_FILLED: Final = 20
"""Largest default page size for which items are created until a page is full."""
_COST_OF_ITEM: Final = 3
"""Requests that create and delete an item."""
_FILLING_SHARE: Final = 6
"""Creating these items may take at most one part in so many of a run's remaining requests."""


def ask_without_defaults(client: CollectionClient) -> None:
    """Judges that a list without parameters equals the list with their default values.

    All parameters are left out at once; if the lists differ, each alone. If a default limits the page,
    items are created first until there is one more than fits.

    Raises:
        Refusal: The budget or the time is used up.
    """
    schemas, role = client.state.maker.schemas, client.requests.needed("list")
    declared = (it for it in role.operation.parameters if it.location == "query" and not it.is_json)
    named = {it.name: schemas.keyword(it.schema, "default") for it in declared}
    members = {
        canonical(it): node
        for it, node in schemas.members(client.requests.collection.schema).items()
    }
    defaults = {
        name: value
        for name, value in named.items()
        if isinstance(value, str | int | float) and _has_few(schemas, members.get(canonical(name)))
    }
    limit = next((value for it, value in defaults.items() if canonical(it) in LIMITS), None)
    if isinstance(limit, int) and limit <= _MOST_FILLED:
        _fill(client, limit + 1)
    if defaults and not _is_as_by_default(client, defaults):
        for name, value in defaults.items():
            _is_as_by_default(client, {name: value})


def _has_few(schemas: Schemas, member: Node | None) -> bool:
    """Tells whether a parameter filters by no member, or by a member whose values are all known."""
    return member is None or bool(options_of(schemas, member))


def _fill(client: CollectionClient, number: int) -> None:
    """Creates items up to a number, if that takes a small part of the remaining requests."""
    gateway, missing = client.state.run.gateway, number - len(client.model.present)
    most = gateway.allowance.requests
    if most is None or missing * _COST_OF_ITEM <= (most - gateway.sent) // _FILLING_SHARE:
        with suppress(NotPermitted):
            for _ in range(missing):
                client.create()


def _is_as_by_default(client: CollectionClient, defaults: Mapping[str, Any]) -> bool:
    """Judges a list without parameters by the list with their defaults; returns whether they agree.

    If they differ, both are requested again, as other clients may have changed the list in between.
    """
    name = client.requests.collection.identifier or ""
    for _ in range(2):
        stated, silent = client.list_by(defaults), client.list_by({})
        if stated is None or silent is None:
            return True
        (page, _), (other, _) = stated, silent
        items, others = ([it.get(name) for it in listed[1]] for listed in (stated, silent))
        if items == others:
            break
    is_same = items == others
    query = "&".join(f"{it}={written(value)}" for it, value in defaults.items())
    expected = f"the {counted(len(items), 'item')} of {query}, which is the default"
    actual = counted(len(others), "item")
    actual = actual if len(others) != len(items) else f"{actual}, others or in another order"
    result = expect(is_same, expected, actual, page, *client.model.creations)
    if is_same or len(defaults) == 1:
        client.judge(other, [(rules.LIST_DEFAULTED, result)])
    return is_same


def create_twice(client: CollectionClient, item: KnownItem) -> None:
    """Creates an item with the unique values of another, where the document declares a conflict.

    Raises:
        Refusal: The target does not permit it.
    """
    collection, schemas = client.requests.collection, client.state.maker.schemas
    names = client.state.maker.read_names(client.requests.needed("create"), collection)
    known = {
        sent: item.expected[read]
        for sent, read in names.items()
        if read in collection.unique and item.expected.get(read) is not None
    }
    if not known:
        return
    exchange, other = client.attempt(known)
    expected = f"status 409, as another item has {shown(known, known)}"
    result = expect(other is None, expected, f"status {exchange.status}", *item.writes)
    is_doubtful = not conflict_prose(collection, schemas)
    client.judge(exchange, [(rules.CREATE_UNIQUE, result._replace(is_choice=is_doubtful))])


def create_by_default(client: CollectionClient) -> KnownItem:
    """Creates an item without the members that have a default, and judges the values it gets.

    Raises:
        Refusal: The target does not permit it, or the service refused it.
    """
    maker, collection = client.state.maker, client.requests.collection
    role = collection.operation("create")
    if role is None:
        return client.create()
    named = maker.members(role)
    defaults = {name: maker.schemas.keyword(named[name], "default") for name in named}
    names = {
        sent: read
        for sent, read in maker.read_names(role, collection).items()
        if defaults.get(sent) is not None
    }
    item = client.create(frozenset(names))
    body = item.response or {}
    made = {
        read: defaults[sent]
        for sent, read in names.items()
        if read in body and read not in item.expected
    }
    wrong = [name for name, value in made.items() if not agrees(value, body[name])]
    expected = ", ".join(f"{name} {as_json(made[name])}" for name in wrong or made)
    actual = ", ".join(f"{name} {as_json(body[name])}" for name in wrong)
    if made:
        client.judge(
            item.writes[0], [(rules.CREATE_DEFAULTED, expect(not wrong, expected, actual))]
        )
    return item


def read_at_address(client: CollectionClient, item: KnownItem) -> None:
    """Reads an item at the ``Location`` of its creation, if that is not the path of the document.

    Raises:
        Refusal: The budget or the time is used up.
    """
    role, (creation, *_) = client.requests.needed("read"), item.writes
    address = urlsplit(creation.response.header("location"))
    above, _, last = address.path.rpartition("/")
    request = client.requests.plain(role, item)
    place = request.path.rpartition("/")[0]
    base = urlsplit(client.state.run.deployment.target.base_url)
    is_beside = above.endswith(place)
    path = f"{place}/{last}" if is_beside else address.path.removeprefix(base.path.rstrip("/"))
    is_foreign = not is_beside and address.netloc not in {"", base.netloc}
    if not last or is_foreign or unquote(path) == unquote(request.path):
        return
    exchange = client.send(request._replace(path=path))
    body = item_at(exchange.body, role.response_path) if exchange.response.is_success else None
    name = client.model.identifier
    is_there = body is not None and (name is None or str(body.get(name)) == item.identifier)
    is_there |= not is_beside and exchange.status not in GONE  # such as a page about the item
    actual = f"status {exchange.status}, {'another' if body else 'no'} item"
    expected = f"the item {item.identifier} at the Location of its creation"
    result = expect(is_there, expected, actual, creation)
    client.judge(exchange, [(rules.CREATE_READABLE, result)])


def unset(client: CollectionClient, item: KnownItem) -> None:
    """Sets a member to null and reads the item, if the document allows null for some members only.

    If it allows null for all of them, null may mean that the member was not sent.

    Raises:
        Refusal: The target does not permit it.
    """
    maker, collection = client.state.maker, client.requests.collection
    role, schemas = client.requests.needed("update"), maker.schemas
    sent, read = maker.members(role), schemas.members(collection.schema)
    takes_null = {
        name: own
        for name, own in maker.read_names(role, collection).items()
        if name in sent
        and schemas.for_requests.validator(sent[name]).is_valid(None)
        and schemas.validator(read[own]).is_valid(None)
    }
    known = [name for name, own in takes_null.items() if item.expected.get(own) is not None]
    if known and len(takes_null) < len(sent) and client.update(item, {known[0]: None}):
        client.read(item)


def send_guarded(client: CollectionClient, item: KnownItem, role: Role) -> KnownItem | None:
    """Creates or changes an item with other values for the members that only the service sets.

    A creation is repeated while the values are stored, as a service may choose the same by chance.

    Args:
        client: Sends the requests.
        item: An item that was created without these members.
        role: The role of the operation to send the members to.

    Returns:
        The item, if the service did not refuse it.

    Raises:
        Refusal: The target does not permit it, or the service refuses such an item.
    """
    maker, collection = client.state.maker, client.requests.collection
    operation = client.requests.needed(role)
    evidence, before = item.evidence, last_shown(item, client.model.identifier)
    members = maker.guarded_members(operation, collection)
    one = {it: maker.other_value(members[it], it, before[it]) for it in members if it in before}
    one = {it: value for it, value in one.items() if not agrees(value, before[it])}
    other = {it: maker.other_value(members[it], it, value) for it, value in one.items()}
    sent, taken = None, list(one)
    for values in (one, other, other, one) if role == "create" else (one,):
        known = {it: values[it] for it in taken}
        sent = _send(client, item, role, known) if known else sent
        taken = [] if sent is None else _as_sent(sent, known)
    if sent is None:
        return None
    body = sent.response or {}
    expected = f"{', '.join(taken or one)} as the service sets it"
    actual = ", ".join(f"{it} {as_json(body[it])}, as it was sent" for it in taken)
    result = expect(not taken, expected, actual, *evidence)
    client.judge(sent.writes[-1], [(rules.CREATE_GUARDED, result)])
    return sent


def delete(client: CollectionClient, item: KnownItem, others: tuple[KnownItem, ...]) -> None:
    """Deletes an item, reads it and the others, lists, deletes it again, and creates another.

    Raises:
        Refusal: The budget or the time is used up.
    """
    roles = client.requests.collection.roles
    if not client.delete(item):
        return
    if "read" in roles:
        for each in (item, *others):
            client.read(each)
    if "list" in roles:
        client.list_items(WHOLE)
    client.delete(item)
    with suppress(NotPermitted):
        client.create()  # if identifiers count the items, it gets one that exists


def deletion_of_list(collection: ResourceCollection) -> ResourceOperation | None:
    """Returns the operation that deletes the items of a list of identifiers, or None."""
    return next((it for it in collection.operations if it.role == "delete" and it.takes_list), None)


def deleting(client: CollectionClient, items: Sequence[KnownItem]) -> PreparedRequest | None:
    """Returns a request that deletes all of some items; None if the collection has no operation for it."""
    role, maker = deletion_of_list(client.requests.collection), client.state.maker
    if role is None:
        return None
    request = maker.plain(role.operation, client.requests.values(role))
    for parameter in role.operation.parameters:
        if role.by_query and (parameter.name, parameter.location) == (role.by_query, "query"):
            named = query_texts(parameter, [it.value for it in items])
            others = [pair for pair in request.query if pair[0] != role.by_query]
            return request._replace(query=(*others, *named))
    media_type, schema = maker.body_schema(role)
    if schema is None:
        return None
    element = maker.schemas.items(schema_at(maker.schemas, schema, role.request_path))
    member, inner = next(iter(maker.schemas.members(element).items()), ("", element))
    is_text = maker.schemas.types(inner) == {"string"}
    values = [it.identifier if is_text else it.value for it in items]
    body: Any = [{member: it} for it in values] if member else values
    if role.request_path:
        required = maker.schemas.for_requests.required_names(schema)
        sampled = maker.unique_value(schema, "")
        body = {**{it: sampled[it] for it in required if it in sampled}, role.request_path[0]: body}
    return request._replace(headers={**request.headers, "content-type": media_type}, body=body)


def delete_several(client: CollectionClient, other: KnownItem) -> None:
    """Deletes two new items by one request, reads both and another item, and lists.

    Raises:
        Refusal: The target does not permit it, or the budget or the time is used up.
    """
    collection = client.requests.collection
    if deletion_of_list(collection) is None:
        return
    items, one = (client.create(), client.create()), collection.operation("delete")
    if not _deletes_at_once(client, items):
        return
    for item in (*items, other) if "read" in collection.roles else ():
        client.read(item)
        if item.is_gone and one is not None and client.steps[-1].status in GONE:
            client.state.undo.deleted(client.requests.plain(one, item).url)
    if "list" in collection.roles:
        client.list_items(WHOLE)


def _deletes_at_once(client: CollectionClient, items: Sequence[KnownItem]) -> bool:
    """Deletes items by one request; tells whether that certainly succeeded."""
    request = deleting(client, items)
    if request is None:
        return False
    with client.state.undo.permitting(request.path):
        exchange = client.send(request, source=f"{client.source}, {AT_ONCE}")
    is_sure = exchange.response.is_success and exchange.status not in _UNSURE
    for item in items:
        item.is_lost = not is_sure
        if is_sure:
            client.model.delete(exchange, item)
    return is_sure


_UNSURE: Final = frozenset({202, 207})
"""Statuses of a deletion that is carried out later, or of some of the items only."""


_TEXTS: Final = frozenset(
    {"body", "caption", "comment", "comments", "content", "description", "label", "message", "name"}
    | {"note", "notes", "remark", "remarks", "subject", "summary", "text", "title"}
)
"""Canonical names of members with text for people, which a service keeps as it is written."""
_DIFFICULT: Final = "Zoë & 東京 🎭 “0”"
"""A text in several scripts, with a character of four bytes (RFC 3629, 3) and one that HTML escapes."""


def create_with_texts(client: CollectionClient) -> None:
    """Creates an item with a difficult text in each member with text for people, and reads it.

    Raises:
        Refusal: The target does not permit it.
    """
    maker, schemas = client.state.maker, client.state.maker.schemas
    role = client.requests.needed("create")
    members, names = maker.members(role), maker.read_names(role, client.requests.collection)
    known = {
        name: _DIFFICULT
        for name in names
        if canonical(name) in _TEXTS
        and schemas.keyword(members[name], "format") is None
        and schemas.for_requests.validator(members[name]).is_valid(_DIFFICULT)
    }
    item = client.attempt(known)[1] if known else None
    if item is not None and client.requests.collection.operation("read") is not None:
        client.read(item)


_UNKNOWN: Final = {"understudy_extra": "1"}


def create_with_unknown(client: CollectionClient) -> None:
    """Creates an item with a member that its closed schema does not name, and judges that it is dropped.

    Raises:
        Refusal: The target does not permit it.
    """
    if client.state.maker.is_closed(client.requests.needed("create")):
        exchange, item = client.attempt(_UNKNOWN)
        is_kept = item is not None and bool(_as_sent(item, _UNKNOWN))
        expected = "no understudy_extra, which the closed schema of the request does not name"
        result = expect(not is_kept, expected, "it is in the item")
        client.judge(exchange, [(rules.CREATE_GUARDED, result)])


def _send(
    client: CollectionClient, item: KnownItem, role: Role, known: Mapping[str, Any]
) -> KnownItem | None:
    """Sends values of members to an operation; returns the item, or None if it was refused."""
    if role == "create":
        return client.attempt(known)[1]
    change = client.update if role == "update" else client.replace
    return item if change(item, known) else None


def _as_sent(item: KnownItem, known: Mapping[str, Any]) -> list[str]:
    """Returns the members whose sent values are in the response to the last write of an item."""
    body = item.response or {}
    return [it for it in known if agrees(known[it], body.get(it))]


# Two texts that no item contains. Inserted into a query, one condition would be true and the other false; a
# service that searches for them literally gives the same response to both. They differ in one letter only,
# so that responses that repeat them can be compared.

_TRUE: Final = "qjx' OR 'qjx' LIKE 'qjx"
_FALSE: Final = "qjx' OR 'qjx' LIKE 'qjz"
_SOURCE: Final = "texts that could be a part of a query"

MOST_TEXTS: Final = 12
"""Largest number of parameters to try, at two requests each."""


def text_parameters(document: Document) -> Iterator[tuple[Operation, Parameter]]:
    """Yields the parameters that take any text, in the path or query of operations that read."""
    schemas = schemas_of(document)
    for operation in operations(document):
        for it in operation.parameters if operation.method == "GET" else ():
            if it.schema is None or it.is_json or it.location not in {"path", "query"}:
                continue
            is_text = schemas.types(it.schema) == {"string"}
            is_free = schemas.keyword(it.schema, "format") is None
            if is_text and is_free and schemas.for_requests.validator(it.schema).is_valid(_TRUE):
                yield operation, it


def ask_literally(state: InferredRun, operation: Operation, parameter: Parameter) -> None:
    """Judges that a parameter takes a text literally, by two texts that would differ in a query.

    If the responses differ, both are requested again, as a response may differ by itself.

    Raises:
        Refusal: The budget or the time is used up, or the deployment does not respond.
    """

    def ask(text: str) -> Exchange:
        is_path = parameter.location == "path"
        request = state.maker.plain(operation, {parameter.name: text} if is_path else {})
        request = request if is_path else request.asking({parameter.name: text})
        return state.send(request, _SOURCE)

    one, other = ask(_TRUE), ask(_FALSE)
    differs = _shown(one) != _shown(other)
    if differs:
        again = ask(_FALSE), ask(_TRUE)
        differs = tuple(map(_shown, again)) == (_shown(other), _shown(one))
    expected = f"the same response to {parameter.name} {_FALSE} and {_TRUE}, which nothing contains"
    actual = f"status {other.status} and {one.status}, with other bodies"
    state.note(rules.TEXT_LITERAL, expect(not differs, expected, actual, other), one)


def _shown(exchange: Exchange) -> tuple[int, bytes]:
    """Returns the status and the body of a response, with the two texts made equal."""
    return exchange.status, exchange.response.body.replace(b"qjz", b"qjx")
