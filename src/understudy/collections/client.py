"""Creates, reads, lists, changes and deletes items of a collection, and judges each response.

Each creation is written to the undo journal before it is sent.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, inf
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from understudy.collections.bodies import moment_of
from understudy.collections.known_items import ItemModel, Judgement, KnownItem, objects_in
from understudy.collections.model import (
    ResourceCollection,
    ResourceModel,
    ResourceOperation,
    item_at,
    value_at,
)
from understudy.collections.pages import (
    ListedItems,
    Query,
    has_more,
    page_counts,
    paged_list,
    totals,
)
from understudy.collections.requests import (
    CollectionRequests,
    PreparedRequest,
    RequestMaker,
    named_values,
)
from understudy.collections.rules import LIST_COUNTED, LIST_LIMITED
from understudy.exchange.messages import Exchange, split
from understudy.verify.checks import CheckResult, expect, expect_equal
from understudy.verify.clock import machine_time
from understudy.verify.item_undo import AFTER_DELETION, GONE, ItemUndo
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import Run

OWNER = "owner"
OTHER = "other"


@dataclass
class InferredRun:
    """The inferred state of one run."""

    run: Run
    model: ResourceModel

    @cached_property
    def maker(self) -> RequestMaker:
        """The maker of requests, with texts that are unique to this run."""
        token = f"{int(machine_time().timestamp() * 1000):x}"[-7:]
        return RequestMaker(self.run.document, self.run.options.seed, token)

    @property
    def undo(self) -> ItemUndo:
        """The undo of creations."""
        return self.run.undo.items

    @property
    def who(self) -> str:
        """The name of the identity that creates items."""
        has_token = OWNER in self.run.deployment.target.identities()
        return OWNER if has_token else "anonymous"

    @property
    def other(self) -> str | None:
        """The name of another account's identity; None without, and for mocks, which share a state."""
        target = self.run.deployment.target
        is_given = {OWNER, OTHER} <= set(target.identities())
        return OTHER if is_given and not target.is_mock else None

    def send(self, request: PreparedRequest, source: str, who: str | None = None) -> Exchange:
        """Sends a request as a named part of the run, by another identity if one is named."""
        name = self.who if who is None else who
        client = ProbeClient(self.run.gateway, source)
        return client.send(request.method, request.path, name, **request.content)

    def note(self, rule: str, result: CheckResult, exchange: Exchange) -> None:
        """Records a judgement, and announces it if it is a new finding."""
        self.run.report(self.run.evaluator.judge(rule, result, exchange))


_MOST_PAGES: Final = 10  # read of a list
_SURELY_WHOLE: Final = 20
"""Length from which an unpaged list may have been truncated by the service."""


def _page_of(request: PreparedRequest, following: Query | str) -> PreparedRequest:
    if isinstance(following, str):
        return PreparedRequest("GET", following)
    return request._replace(query=following)


def _is_elsewhere(address: str, page: Exchange) -> bool:
    """Tells whether a link leads to another server, to which nothing may be sent."""
    return split(address).netloc != split(page.request.url).netloc


def _list_in(exchange: Exchange, role: ResourceOperation) -> list[Any] | None:
    """Returns the items of a page; None if the response has no list of objects."""
    is_success = exchange.response.is_success
    body = value_at(exchange.body, role.response_path or ()) if is_success else None
    items = [item_at(it, role.within) for it in body] if isinstance(body, list) else [None]
    return None if None in items else items


ACCEPTED: Final = 202
"""Status of a request that is processed later (RFC 9110, 15.3.3)."""

UNAUTHORIZED: Final = 401
CONFLICT: Final = 409
"""Status of a creation whose unique values another item has; it is retried with other values."""

_INVALID: Final = frozenset({400, 404, CONFLICT, 422})
"""Statuses of a creation that is refused because of its values, such as an unknown reference."""

_ATTEMPTS: Final = 6
"""Most attempts to create an item."""


WHOLE: Final = 50
"""Page size for reading a list completely."""

_Record = Callable[[Exchange, KnownItem, Mapping[str, Any], Any], None]
"""A function that records a change: exchange, item, sent members, and the item in the response."""


@dataclass
class CollectionClient:
    """Sends requests to one collection, below given parents, and judges the responses.

    Attributes:
        state: The inferred state of the run.
        requests: Makes the requests.
        source: Name of the part of the run, for reports.
        origin: The exchanges that created parents and referenced items.
        owners: Path parameter, or member that refers to an item, to the client and the item that were
            created for it.
        model: The created items with their expected members.
        steps: The exchanges so far.
        broken: The judgements of broken rules.
    """

    state: InferredRun
    requests: CollectionRequests
    source: str
    origin: tuple[Exchange, ...] = ()
    owners: "Mapping[str, tuple[CollectionClient, KnownItem]]" = field(default_factory=dict)
    model: ItemModel = field(init=False)
    steps: list[Exchange] = field(default_factory=list)
    broken: list[Judgement] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Determines the members that can be sent and read back, for the model."""
        collection = self.requests.collection
        operations = (collection.operation(role) for role in ("create", "replace", "update"))
        names = [
            name
            for it in operations
            if it is not None
            for name in self.state.maker.read_names(it, collection).values()
        ]
        schemas = self.state.maker.schemas
        members = schemas.members(collection.schema)
        lasting = frozenset(
            name
            for name, member in members.items()
            if moment_of(schemas, name, member) == "created" and name not in names
        )
        has_identifier = not members or collection.identifier in members
        identifier = collection.identifier if has_identifier else None
        self.model = ItemModel(frozenset(names), identifier, lasting)

    def create(self, left_out: frozenset[str] = frozenset()) -> KnownItem:
        """Creates an item.

        Args:
            left_out: Optional members that are not sent.

        Raises:
            NotPermitted: The target does not permit the request, no valid one can be made, or the
                service refused it.
            Unreachable: There was no response; the item stays in the undo journal.
        """
        role = self.requests.collection.operation("create")
        if role is None:
            return self._create_by_put(self.requests.needed("replace"))
        return self._created_somehow(role, left_out)

    def attempt(
        self, known: Mapping[str, Any] | None = None, who: str | None = None
    ) -> tuple[Exchange, KnownItem | None]:
        """Tries once to create an item; returns the exchange, and the item or None.

        Args:
            known: Members with given values.
            who: Another identity than that of the run.

        Raises:
            NotPermitted: No valid request can be made, or the target does not permit it.
        """
        role, number = self.requests.needed("create"), len(self.steps)
        item = None
        try:
            item = self._created(role, self.requests.creation(role, known), who)
        except NotPermitted:
            if len(self.steps) == number:
                raise
        return self.steps[-1], item

    def _created_somehow(self, role: ResourceOperation, left_out: frozenset[str]) -> KnownItem:
        """Creates an item; repeats the request with other members if it is refused.

        Raises:
            NotPermitted: All attempts were refused, or the target does not permit them.
        """
        request, number = self.requests.creation(role, left_out=left_out), len(self.steps)
        others: Iterator[PreparedRequest] | None = None
        for _attempt in range(_ATTEMPTS):
            try:
                return self._created(role, request)
            except NotPermitted:
                last = self.steps[-1] if len(self.steps) > number else None
                if last is None or last.status not in _INVALID:
                    raise
                others = others or self._other_creations(role, last, request.sent)
                other = next(others, None)
                if other is None:
                    raise
            request = other
        return self._created(role, request)

    def _other_creations(
        self, role: ResourceOperation, refused: Exchange, sent: Mapping[str, Any]
    ) -> Iterator[PreparedRequest]:
        """Yields creations with other values than a refused one, and at last without optional members.

        Constraints that the document lacks, such as a minimum, are often named in the refusal.
        """
        is_taken = refused.status == CONFLICT
        for known in [{}] if is_taken else named_values(refused, sent):
            yield self.requests.creation(role, known)
        yield self.requests.creation(role, is_whole=False)

    def _create_by_put(self, role: ResourceOperation) -> KnownItem:
        taken = {it.identifier for it in self.model.present}
        value, request = self.requests.creation_at(role, taken)
        return self._created(role, request, chosen=value)

    def _created(
        self,
        role: ResourceOperation,
        request: PreparedRequest,
        who: str | None = None,
        chosen: Any = None,
    ) -> KnownItem:
        """Creates an item after writing the creation to the journal.

        Args:
            role: The operation.
            request: The creation.
            who: Another identity than that of the run.
            chosen: The identifier in the path; None if the service chooses one.

        Raises:
            NotPermitted: The creation is not permitted, was refused, or is processed later.
            Unreachable: There was no response; the item stays in the journal.
        """
        undo = self.state.undo
        sent = self.requests.sent_as_read(role, request.sent)
        pending = self.requests.pending(request, sent, self.state.who)
        if undo.is_unidentified(pending.create):
            raise _without_identifier(role)  # nobody could delete another one either
        undo.expect(pending)
        try:
            exchange = self.send(request, who)
        except (NotPermitted, BudgetSpent, OutOfTime):  # after other errors the item may exist
            undo.forget(pending)
            raise
        if not exchange.response.is_success or exchange.status == ACCEPTED:
            undo.forget(pending)
            raise _refused(role, exchange)
        body = item_at(exchange.body, role.response_path)
        value = self._identifier_in(exchange, role) if chosen is None else chosen
        if value is None:
            undo.unidentified(pending)
            raise _without_identifier(role)
        undo.created(pending, str(value))
        item, judgements = self.model.create(exchange, value, sent, body)
        if chosen is None:
            self.judge(exchange, judgements)
        return item

    def read(self, item: KnownItem) -> None:
        """Reads an item, which may have been deleted, and judges the response."""
        role = self.requests.needed("read")
        source = f"{self.source}, {AFTER_DELETION}" if item.is_gone else self.source
        exchange = self.send(self.requests.plain(role, item), source=source)
        body = item_at(exchange.body, role.response_path) if exchange.response.is_success else None
        if self.model.differs(item, body):
            again = self.send(self.requests.plain(role, item), source=source)
            self.judge(again, self.model.read_again(exchange, again, role.response_path))
        self.judge(exchange, self.model.read(exchange, item, body))

    def replace(self, item: KnownItem, known: Mapping[str, Any] | None = None) -> bool:
        """Replaces an item, with given values of members; tells whether that succeeded."""
        role = self.requests.needed("replace")
        request = self.requests.replacement(role, item, known)
        return self._change(role, request, item, self.model.put)

    def write_back(self, items: Sequence[KnownItem]) -> KnownItem | None:
        """Replaces one of some items by the values that were last read, and returns the item.

        The item does not change, and values that only the service sets, such as checksums, are sent.
        """
        role, name = self.requests.needed("replace"), self.model.identifier
        sendable = self.state.maker.members(role)
        shown = [it for step in reversed(self.steps) for it in objects_in(step.body)]
        by_identifier = {item.identifier: item for item in items}
        for members in shown:
            item = by_identifier.get(str(members.get(name or "")))
            if item is not None:
                known = {n: value for n, value in members.items() if n in sendable}
                request = self.requests.replacement(role, item, known)
                self._change(role, request, item, self.model.put)
                return item
        return None

    def update(self, item: KnownItem, known: Mapping[str, Any] | None = None) -> bool:
        """Changes members of an item, by default one member; tells whether that succeeded.

        Raises:
            NotPermitted: No member can be changed to a value that is certainly different.
        """
        role = self.requests.needed("update")
        return self._change(role, self.requests.change(role, item, known), item, self.model.patch)

    def delete(self, item: KnownItem) -> bool:
        """Deletes an item; tells whether that succeeded.

        A deleted item is deleted again only if the document declares a 404 or 410.
        """
        role = self.requests.needed("delete")
        if item.is_gone and all(role.operation.response(it) is None for it in GONE):
            return False
        request = self.matching(role, self.requests.plain(role, item), item)
        exchange = self.send(request)
        if exchange.status == ACCEPTED:
            item.is_lost = True  # its state is unknown until the service has processed the request
            return False
        self.judge(exchange, self.model.delete(exchange, item))
        if item.is_gone:
            self.state.undo.deleted(request.url)
        return exchange.response.is_success

    def list_items(self, limit: int) -> list[str]:
        """Lists the items page by page, judges the list, and returns the identifiers.

        Args:
            limit: The page size, if the document lets the client choose it.
        """
        listed = self.pages(limit, None)
        collection = self.requests.collection
        is_across = collection.is_across(self.requests.needed("list"))
        if listed.pages and collection.identifier is not None and not is_across:
            judgements = self.model.listed(
                listed.pages, listed.identifiers, is_whole=listed.is_whole
            )
            self.judge(listed.pages[-1], judgements)
        if listed.pages and max(listed.first, len(self.model.present)) > listed.bound:
            is_kept, expected = listed.first <= listed.bound, f"{listed.bound} items at most"
            result = expect(is_kept, expected, f"{listed.first} items", *self.model.creations)
            self.judge(listed.pages[0], [(LIST_LIMITED, result)])
        if listed.bound < inf and listed.wrong_totals:
            listed = self.pages(limit, None)  # other clients may have changed the list meanwhile
        # only for paged lists, as in others a member named total may be a sum of values
        if listed.pages and listed.is_whole and listed.bound < inf:
            last, count = listed.pages[-1], len(listed.identifiers)
            if totals(last):
                wrong = listed.wrong_totals
                result = expect(not wrong, f"a total of {count}", f"{wrong}", *listed.pages[:-1])
                self.judge(last, [(LIST_COUNTED, result)])
            number = ceil(count / listed.bound)
            if page_counts(last) and listed.first in {count, listed.bound} and count:
                result = expect_equal(page_counts(last)[0], number, "the number of pages")
                self.judge(last, [(LIST_COUNTED, result._replace(evidence=(*listed.pages[:-1],)))])
        return listed.identifiers

    def list_by(self, values: Mapping[str, Any]) -> tuple[Exchange, list[Any]] | None:
        """Lists the items with given values of parameters; None if the response has no list."""
        role = self.requests.needed("list")
        exchange = self.send(self.requests.plain(role).asking(values))
        items = _list_in(exchange, role)
        return None if items is None else (exchange, items)

    def _change(
        self, role: ResourceOperation, request: PreparedRequest, item: KnownItem, record: _Record
    ) -> bool:
        """Sends a change of an item, and records it if it succeeds; tells whether it did."""
        exchange = self.send(self.matching(role, request, item))
        if exchange.status == ACCEPTED:
            item.is_lost = True  # see delete
            return False
        if exchange.response.is_success:
            sent = self.requests.sent_as_read(role, request.sent)
            shown = item_at(exchange.body, role.response_path)
            record(exchange, item, sent, shown)
            self._follow(item, exchange, (shown or {}).get(self.model.identifier or ""))
        return exchange.response.is_success

    def _follow(self, item: KnownItem, exchange: Exchange, identifier: Any) -> None:
        """Follows an item whose identifier a change has changed, such as a slug of its title."""
        if identifier is None or str(identifier) in self.model.items:
            return
        self.state.undo.renamed(exchange.path, str(identifier))
        self.model.items[str(identifier)] = self.model.items.pop(item.identifier)
        item.identifier, item.value = str(identifier), identifier

    def pages(self, limit: int, who: str | None) -> ListedItems:
        """Reads the list page by page, by another identity if one is named.

        Args:
            limit: The page size, if the document lets the client choose it.
            who: The other identity; None for that of the run.
        """
        role, collection = self.requests.needed("list"), self.requests.collection
        schemas = self.requests.maker.schemas
        paged = paged_list(role.operation, schemas, schemas.members(collection.schema))
        request = self.requests.plain(role)
        query: Query = (*request.query, *paged.limited(limit))
        following: Query | str | None = query
        bound = paged.size_of(query)
        pages: list[Exchange] = []
        identifiers: list[str] = []
        count = first = 0
        while following is not None and len(pages) < _MOST_PAGES:
            if isinstance(following, str) and _is_elsewhere(following, pages[-1]):
                break
            current, query = following, query if isinstance(following, str) else following
            exchange = self.send(_page_of(request, current), who)
            items = _list_in(exchange, role)
            if items is None:
                return ListedItems([], [], is_whole=False)
            count = len(items)
            pages.append(exchange)
            first = first if len(pages) > 1 else count
            values = [it.get(collection.identifier or "") for it in items]
            identifiers += ["" if value is None else str(value) for value in values]
            following = paged.following(exchange, current, count, len(pages) - 1)
        is_single = len(pages) == 1 and not paged.is_paged
        is_full = 0 < count >= paged.size_of(query)
        is_cut = following is not None or has_more(pages[-1]) or is_full
        is_cut = is_cut or (is_single and len(identifiers) >= _SURELY_WHOLE)
        is_whole = not (is_cut or paged.is_filtered)
        return ListedItems(pages, identifiers, is_whole, first, bound)

    def matching(
        self, role: ResourceOperation, request: PreparedRequest, item: KnownItem
    ) -> PreparedRequest:
        """Returns a request with the item's current entity tag, if ``If-Match`` is required."""
        needs = any(
            it.required and it.name.lower() == "if-match" for it in role.operation.parameters
        )
        if not needs:
            return request
        read = self.requests.collection.operation("read")
        tag = "*"
        if read is not None:
            exchange = self.send(self.requests.plain(read, item))
            tag = exchange.response.header("etag") or tag
        return request._replace(headers={**request.headers, "if-match": tag})

    def send(self, request: PreparedRequest, who: str | None = None, source: str = "") -> Exchange:
        """Sends a request, by another identity or as another part of the run if one is named."""
        exchange = self.state.send(request, source or self.source, who)
        self.steps.append(exchange)
        return exchange

    def judge(self, exchange: Exchange, judgements: Sequence[Judgement]) -> None:
        """Records judgements on an exchange, with the creations of parents as evidence."""
        for rule, judged in judgements:
            result = judged._replace(evidence=(*self.origin, *judged.evidence))
            self.state.note(rule, result, exchange)
            if not result.holds:
                self.broken.append((rule, result))

    def _identifier_in(self, exchange: Exchange, role: ResourceOperation) -> Any:
        """Returns the identifier of a new item from its body, from around it, or else from Location."""
        body = item_at(exchange.body, role.response_path)
        name, steps = self.requests.collection.identifier or "", role.response_path or ()
        around = [value_at(exchange.body, steps[:at]) for at in range(len(steps))]
        for shown in (body, *reversed(around)):  # {"id": 1, "pet": {…}}
            if isinstance(shown, Mapping) and shown.get(name) is not None:
                return shown[name]
        path = urlsplit(exchange.response.header("location")).path.rstrip("/")
        return unquote(path.rpartition("/")[2]) or None


def _refused(role: ResourceOperation, exchange: Exchange) -> NotPermitted:
    happened = "is carried out later" if exchange.response.is_success else "was refused"
    msg = f"{' '.join(role.key)} {happened}: status {exchange.status}"
    if exchange.status == UNAUTHORIZED and exchange.identity.name != OWNER:
        is_basic = exchange.response.header("www-authenticate").lower().startswith("basic")
        form = ', which for HTTP Basic is "name:password",' if is_basic else ""
        msg += f"; [credentials] access_token{form} is not given"
    return NotPermitted(msg)


def _without_identifier(role: ResourceOperation) -> NotPermitted:
    return NotPermitted(f"the response of {' '.join(role.key)} has no identifier of the item")


_DEEPEST = 3
"""Longest chain of collections that depend on one another; longer ones are not judged."""


def collection_client(
    state: InferredRun,
    collection: ResourceCollection,
    source: str,
    above: tuple[str, ...] = (),
) -> CollectionClient:
    """Returns a client of a collection, after creating the parents and items that it refers to.

    Args:
        state: The inferred state of the run.
        collection: The collection.
        source: Name of the part of the run, for reports.
        above: Paths of the collections that depend on this one.

    Raises:
        NotPermitted: A parent cannot be created.
    """
    if len(above) >= _DEEPEST:
        msg = f"{above[0]} depends on more than {_DEEPEST} other collections"
        raise NotPermitted(msg)
    chain = (*above, collection.path)
    owners: dict[str, tuple[CollectionClient, KnownItem]] = {}

    def created(name: str, client: CollectionClient) -> KnownItem:
        owners[name] = client, client.create()
        return owners[name][1]

    parents: list[str] = []
    for parent in collection.parents:
        target, identifier = state.model.collection(parent.collection or ""), ""
        if target is not None and target.path not in chain:
            requests = CollectionRequests(state.maker, target, tuple(parents))
            client = CollectionClient(state, requests, source)
            if target.can_create:
                client = client if parents else collection_client(state, target, source, chain)
                identifier = created(parent.parameter, client).identifier
            else:
                identifier = next(iter(client.list_items(WHOLE)), "")
        first = collection.operations[0].operation
        parents.append(identifier or state.maker.path_text(first, parent.parameter))
    references: dict[str, Any] = {}
    for member, path in collection.references.items():
        target = state.model.collection(path)
        is_usable = target is not None and target.can_create and not target.parents
        if target is not None and is_usable and target.path not in chain:
            client = collection_client(state, target, source, chain)
            references[member] = created(member, client).value
    left_out = frozenset(collection.references) - references.keys()
    requests = CollectionRequests(state.maker, collection, tuple(parents), references, left_out)
    steps = ((*by.origin, *item.writes) for by, item in owners.values())
    return CollectionClient(
        state, requests, source, tuple(it for each in steps for it in each), owners
    )
