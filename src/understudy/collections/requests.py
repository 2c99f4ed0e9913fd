"""Makes valid requests to operations with inferred state, from samples of the document's schemas.

Texts that are probably unique in a service differ in each request of each run.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote, urlencode

from understudy.collections import bodies
from understudy.collections.known_items import KnownItem
from understudy.collections.model import (
    Resource,
    ResourceCollection,
    ResourceOperation,
    Role,
    Steps,
    item_at,
    value_at,
)
from understudy.collections.names import canonical
from understudy.exchange.messages import Exchange
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import URLENCODED, is_json
from understudy.openapi.operations import FieldEncoding, Operation
from understudy.openapi.parameter_writing import form_pairs, query_texts, text_of, written
from understudy.openapi.sampler import PLAUSIBLE_REQUEST, Sampler
from understudy.openapi.schemas import Schemas, schemas_of
from understudy.verify.permits import NotPermitted
from understudy.verify.undo_journal import PLACEHOLDER, PendingItem


class PreparedRequest(NamedTuple):
    """A request to an operation, without credentials.

    Attributes:
        method: The method in upper case.
        path: The encoded path below the base URL.
        query: Names and values of the query.
        headers: The headers, including Content-Type.
        body: The JSON value, or the fields of a form; None without a body.
        sent: The members of the item in the body.
        encodings: Field name to encoding, for forms.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = {}
    body: Any = None
    sent: Mapping[str, Any] = {}
    encodings: Mapping[str, FieldEncoding] = {}

    @property
    def url(self) -> str:
        """The path and the query."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def asking(self, values: Mapping[str, Any]) -> "PreparedRequest":
        """Returns the request with these query parameters added or replaced."""
        others = (pair for pair in self.query if pair[0] not in values)
        pairs = ((name, written(value)) for name, value in values.items())
        return self._replace(query=(*others, *pairs))

    @property
    def content(self) -> dict[str, Any]:
        """The keyword arguments for ``ProbeClient.send``."""
        arguments = {"query": self.query, "headers": self.headers}
        if self.body is None:
            return arguments
        if self.headers.get("content-type") != URLENCODED:
            return {**arguments, "json": self.body}
        fields = form_pairs(self.body, self.encodings)
        return {**arguments, "form": [tuple(map(unquote, field)) for field in fields]}


_NUMBERS: Final = re.compile(r"(?<![\w.])-?\d{1,15}(?![\w.])")  # whole numbers in a message
_WORDS: Final = re.compile(r"""['"`]([\w-]{1,60})['"`]""")  # quoted words in a message


def named_values(refusal: Exchange, sent: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields values for members that a refusal mentions, from the numbers and quoted words in it."""
    text = refusal.response.body.decode("utf-8", "replace")
    for name, value in sent.items():
        if not re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE):
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            numbers = [int(number) for number in _NUMBERS.findall(text)]
            yield from ({name: n + step} for n in reversed(numbers) for step in (0, 1, -1))
        elif isinstance(value, str):
            words = [word for word in _WORDS.findall(text) if word not in {*sent, value}]
            yield from ({name: word} for word in words)


_UNIQUE: Final = frozenset(
    (
        "name slug email emailaddress username login handle code key title sku reference externalid"
    ).split()
)
_STYLE: Final = PLAUSIBLE_REQUEST._replace(depth=2)
_ATTEMPTS: Final = 6  # samples per body or value


class ItemMembers(NamedTuple):
    """The members of an item to send.

    Attributes:
        known: Members with given values, such as references.
        is_whole: Whether all optional members are sent too.
        left_out: Optional members that are never sent.
        unique: Members whose value no two items may share.
    """

    known: Mapping[str, Any] = {}
    is_whole: bool = True
    left_out: Collection[str] = ()
    unique: Collection[str] = ()


@dataclass
class RequestMaker:
    """Makes the requests of one run; a token makes its texts unique."""

    document: Document
    seed: int
    token: str
    schemas: Schemas = field(init=False)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        """Makes the validators, which are compiled at their first use."""
        self.schemas = schemas_of(self.document)

    def plain(self, operation: Operation, values: Mapping[str, str]) -> PreparedRequest:
        """Returns a request with the required parameters, and without a body.

        Only a DELETE gets its required body.

        Args:
            operation: The operation.
            values: Path parameter to text; others are sampled.
        """
        texts = {
            name: self.path_text(operation, name, values)
            for name in PATH_PARAMETER.findall(operation.path)
        }
        path = PATH_PARAMETER.sub(lambda match: quote(texts[match[1]], safe=""), operation.path)
        needed = [it for it in operation.parameters if it.required and it.schema is not None]
        query = tuple(
            pair
            for it in needed
            if it.location == "query"
            for pair in query_texts(it, values.get(it.name) or self._sample(it.schema, it.name))
        )
        headers = {
            it.name.lower(): text_of(it, self._sample(it.schema, it.name), str)
            for it in needed
            if it.location == "header" and it.name.lower() != "if-match"
        }
        request = PreparedRequest(operation.method, path, query, headers)
        body = operation.request_body
        if operation.method != "DELETE" or body is None or not body.required:
            return request
        media_type, schema = _content(operation)
        if not is_json(media_type):  # the undo journal can only store JSON bodies
            return request
        return request._replace(headers=_typed(request, media_type), body=self._sample(schema))

    def chosen(self, role: ResourceOperation, collection: ResourceCollection) -> Any:
        """Returns an identifier for a new item, of a number type if identifiers are numbers."""
        name, declared = role.path_names[-1], bodies.identifying_schemas(self.schemas, collection)
        numbers = (
            it
            for it in declared
            if "string" not in (bodies.types_of(self.schemas, it) or {"string"})
        )
        schema = next(iter((*numbers, *declared)), None)
        if schema is None:
            return f"u{self.token}{next(self._numbers)}"
        return self.unique_value(schema, name)

    def item(
        self,
        role: ResourceOperation,
        values: Mapping[str, str],
        members: ItemMembers,
    ) -> PreparedRequest | None:
        """Returns a request with an item in its body; None if no valid body can be made.

        Args:
            role: The operation in its role.
            values: Path parameter to text.
            members: The members of the item.
        """
        media_type, schema = self.body_schema(role)
        if not media_type:
            return None
        plain = self.plain(role.operation, values)
        if media_type == bodies.JSON_PATCH:
            sent = dict(members.known)
            operations = [{"op": "replace", "path": f"/{n}", "value": v} for n, v in sent.items()]
            return plain._replace(headers=_typed(plain, media_type), body=operations, sent=sent)
        body = self._body(schema, role.request_path, members)
        if body is None:
            return None
        sent = item_at(body, role.request_path) or {}
        made = plain._replace(headers=_typed(plain, media_type), body=body, sent=sent)
        content = role.operation.request_body.content if role.operation.request_body else {}
        declared = content.get(media_type)
        return made if declared is None else made._replace(encodings=declared.encoding)

    def body_schema(self, role: ResourceOperation) -> tuple[str, Node | None]:
        """Returns media type and schema of the request body; an empty text and None without."""
        return _content(role.operation)

    def members(self, role: ResourceOperation) -> dict[str, Node]:
        """Returns the members of the item in a request body, without read-only ones."""
        return {
            name: member
            for name, member in bodies.sent_members(self.schemas, role).items()
            if not self.schemas.is_flagged(member, "readOnly")
        }

    def guarded_members(
        self, role: ResourceOperation, resource: ResourceCollection
    ) -> dict[str, Node]:
        """Returns the members of an item that only the service sets.

        These are read-only, or declared for the item but not for the request. With a JSON patch, or a
        request without declared members, only read-only members count.
        """
        media_type, _ = self.body_schema(role)
        sent = bodies.sent_members(self.schemas, role)
        read = self.schemas.members(resource.schema)
        takes = (media_type != bodies.JSON_PATCH and self.members(role)) or read
        taken = (n for n in takes if not self.schemas.is_flagged(takes[n], "readOnly"))
        names = set(map(canonical, (*taken, resource.identifier or "")))
        return {n: it for n, it in {**read, **sent}.items() if canonical(n) not in names}

    def is_closed(self, role: ResourceOperation) -> bool:
        """Tells whether the schema of a request allows only declared members."""
        whole = bodies.item_schema(self.schemas, self.body_schema(role)[1], role.request_path)
        return self.schemas.keyword(whole, "additionalProperties") is False

    def read_names(self, role: ResourceOperation, resource: Resource) -> dict[str, str]:
        """Returns the members that can be sent and read back, each with its name in the item."""
        return bodies.read_names(self.schemas, role, resource)

    def value_for(self, role: ResourceOperation, name: str, current: Any) -> Any:
        """Returns another value than the current one for a member; the current one if none is found."""
        member = bodies.sent_members(self.schemas, role).get(name)
        return current if member is None else self.other_value(member, name, current)

    def other_value(self, member: Node, name: str, current: Any) -> Any:
        """Returns another value of a schema than the current one; the current one if none is found."""
        numbers = (next(self._numbers) for _ in range(_ATTEMPTS))
        candidates = (self._sample(member, name, number) for number in numbers)
        accepts = self.schemas.for_requests.validator(member).is_valid
        return next((it for it in candidates if it != current and accepts(it)), current)

    def _body(self, schema: Node | None, steps: Steps, members: ItemMembers) -> Any:
        """Returns a valid body, or None if none was found.

        Known members that the schema does not declare are added, even if it forbids them.
        """
        if schema is None:
            return None
        accepts = self.schemas.for_requests.validator(schema).is_valid
        for attempt in range(_ATTEMPTS):
            body = self._sample(schema, number=next(self._numbers))
            place = value_at(body, steps)
            if isinstance(place, list):
                del place[1:]  # a single item is created at a time
            item = item_at(body, steps)
            if item is not None:
                self._fill(
                    item,
                    bodies.item_schema(self.schemas, schema, steps) or schema,
                    members,
                    is_varied=not attempt,
                )
                if accepts(body):
                    item.update(members.known)
                    return body
        return None

    def _fill(
        self, item: dict[str, Any], schema: Node, members: ItemMembers, *, is_varied: bool
    ) -> None:
        """Removes unwanted members from a sampled item, makes texts unique, and sets known members."""
        required = set(self.schemas.for_requests.required_names(schema))
        unwanted = set(members.left_out if members.is_whole else item) - required
        for name in unwanted & item.keys():
            del item[name]
        declared = self.schemas.members(schema)
        for name, member in declared.items():
            is_unique = canonical(name) in _UNIQUE or name in members.unique
            # a change that sets others back to their defaults shows by other values alone
            is_default = item.get(name) == self.schemas.keyword(member, "default")
            is_unique |= is_default and bodies.types_of(self.schemas, member) in (
                {"integer"},
                {"number"},
            )
            if name in item and is_unique and is_varied and members.is_whole:
                item[name] = self.unique_value(member, name)
        item.update({n: it for n, it in members.known.items() if n in declared})

    def unique_value(self, schema: Node, name: str) -> Any:
        """Returns a valid value for a member that no item has: one with the run's token, if possible."""
        number = next(self._numbers)
        seed, fresh = int(self.token, 16), _STYLE._replace(is_dynamic=True)
        value = Sampler(self.schemas, seed, number, style=_STYLE).value(schema, name)
        if self.schemas.keyword(schema, "enum") is not None:
            return value
        accepts = self.schemas.for_requests.validator(schema).is_valid
        drawn = Sampler(self.schemas, seed, number, style=fresh).value(schema, name)
        if not isinstance(value, str):
            return drawn if accepts(drawn) else value
        mark = f"{self.token}{number}"
        longest = self.schemas.keyword(schema, "maxLength")
        room = longest - len(mark) - 1 if isinstance(longest, int) else len(value)
        start = value[: max(room, 0)].strip()
        marked = (f"{start} {mark}", f"{start}-{mark}", f"u{mark}@example.com", mark)
        candidates = (*marked[2 if "@" in value else 0 :], drawn)
        return next((it for it in candidates if accepts(it)), value)

    def _sample(self, schema: Node | None, name: str = "", number: int = 0) -> Any:
        sampler = Sampler(self.schemas, self.seed, number, style=_STYLE)
        return "a" if schema is None else sampler.value(schema, name)

    def path_text(
        self, operation: Operation, name: str, values: Mapping[str, str] | None = None
    ) -> str:
        """Returns the text of a path parameter: the given one, or a sample."""
        if values and name in values:
            return values[name]
        return written(self._sample(bodies.path_parameter_schema(operation, name), name)) or "a"


def _content(operation: Operation) -> tuple[str, Node | None]:
    body = operation.request_body
    content = body.content if body is not None else {}
    usual = [n for n in content if (is_json(n) or n == "*/*") and n != bodies.JSON_PATCH]
    for name in (*usual, *(n for n in (URLENCODED, bodies.JSON_PATCH) if n in content)):
        return ("application/json" if name == "*/*" else name), content[name].schema
    return "", None


def _typed(request: PreparedRequest, media_type: str) -> dict[str, str]:
    return {**request.headers, "content-type": media_type}


_MARK: Final = "understudy-identifier"
_NOT_FREE: Final = ("enum", "format", "pattern", "const")
"""Keywords of texts that may have a meaning for the service, such as a status."""


def _address(request: PreparedRequest) -> str:
    return request.url.replace(_MARK, PLACEHOLDER)


@dataclass(frozen=True)
class CollectionRequests:
    """Makes the requests to one collection.

    Attributes:
        maker: Makes requests by the document.
        collection: The collection.
        parents: Identifiers of the parents, as texts, outermost first.
        references: Members of new items with identifiers of existing items that they refer to.
        left_out: Members that new items must not have, as there is no item to refer to.
    """

    maker: RequestMaker
    collection: ResourceCollection
    parents: tuple[str, ...] = ()
    references: Mapping[str, Any] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()

    def needed(self, role: Role) -> ResourceOperation:
        """Returns the operation with a role.

        Raises:
            NotPermitted: The collection has no such operation.
        """
        operation = self.collection.operation(role)
        if operation is None:
            msg = f"{self.collection.path} has no operation in the role {role}"
            raise NotPermitted(msg)
        return operation

    def plain(self, role: ResourceOperation, item: KnownItem | None = None) -> PreparedRequest:
        """Returns a request without a body, to an item or to the whole collection."""
        identifier = None if item is None else item.identifier
        return self.maker.plain(role.operation, self.values(role, identifier))

    def at(self, role: ResourceOperation, item: KnownItem) -> PreparedRequest:
        """Returns a request that reads, changes, replaces or deletes an item.

        Raises:
            NotPermitted: No valid change can be made.
        """
        makers = {"update": self.change, "replace": self.replacement}
        return makers.get(role.role, self.plain)(role, item)

    def creation(
        self,
        role: ResourceOperation,
        known: Mapping[str, Any] | None = None,
        left_out: frozenset[str] = frozenset(),
        *,
        is_whole: bool = True,
    ) -> PreparedRequest:
        """Returns a request that creates an item whose identifier the service chooses.

        Args:
            role: The operation.
            known: Members with given values.
            left_out: Optional members that are not sent.
            is_whole: Whether the other optional members are sent.

        Raises:
            NotPermitted: No valid request can be made.
        """
        return self._with_item(role, None, known or {}, left_out, is_whole=is_whole)

    def creation_at(
        self, role: ResourceOperation, taken: Collection[str]
    ) -> tuple[Any, PreparedRequest]:
        """Returns a chosen identifier that is not taken, and a PUT request that creates an item with it.

        Raises:
            NotPermitted: No valid request can be made.
        """
        # a PUT on the collection replaces an item, and an enum may have no other identifier
        is_own = role.operation.path == self.collection.path
        chosen = (
            self.maker.chosen(role, self.collection) for _ in range(0 if is_own else _ATTEMPTS)
        )
        value = next((it for it in chosen if str(it) not in taken), None)
        if value is None:
            msg = f"{self.collection.path} has no operation that creates another item"
            raise NotPermitted(msg)
        return value, self._with_item(role, str(value), self._identifying(role, value))

    def replacement(
        self, role: ResourceOperation, item: KnownItem, known: Mapping[str, Any] | None = None
    ) -> PreparedRequest:
        """Returns a request that replaces an item, with given values of known members.

        Raises:
            NotPermitted: No valid request can be made.
        """
        members = {**(known or {}), **self._identifying(role, item.value)}
        return self._with_item(role, item.identifier, members)

    def change(
        self, role: ResourceOperation, item: KnownItem, known: Mapping[str, Any] | None = None
    ) -> PreparedRequest:
        """Returns a request that changes members of an item, by default one member.

        Raises:
            NotPermitted: No member can be changed to a value that is certainly different.
        """
        changed = known or dict([self._changed_member(role, item)])
        known = {**self._identifying(role, item.value), **changed}
        return self._made(role, item.identifier, ItemMembers(known, is_whole=False))

    def _made(
        self, role: ResourceOperation, identifier: str | None, members: ItemMembers
    ) -> PreparedRequest:
        request = self.maker.item(role, self.values(role, identifier), members)
        if request is None:
            msg = f"no valid request of {' '.join(role.key)} was found"
            raise NotPermitted(msg)
        return request

    def sent_as_read(self, role: ResourceOperation, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the sent members that can be read back, by their names in the item."""
        if self.maker.body_schema(role)[0] == bodies.JSON_PATCH:
            return dict(sent)
        names = self.maker.read_names(role, self.collection)
        return {names[name]: value for name, value in sent.items() if name in names}

    def pending(self, request: PreparedRequest, sent: Mapping[str, Any], who: str) -> PendingItem:
        """Returns the entry of the undo journal for an item that is about to be created.

        Args:
            request: The creation.
            sent: The sent members, by their names in the item.
            who: The name of the identity.
        """
        listing, replace = self.collection.operation("list"), self.collection.operation("replace")
        is_below = replace is not None and replace.operation.path == self.collection.path
        delete, read = self._template("delete"), self._template("read")
        delete = delete if delete is not None and delete.method == "DELETE" else None
        return PendingItem(
            create=request.path,
            who=who,
            delete=None if delete is None else _address(delete),
            read=None if read is None else _address(read),
            list=None if listing is None else self.plain(listing).url,
            steps=() if listing is None else listing.response_path or (),
            identifier=self.collection.identifier or "",
            texts={name: text for name, text in sent.items() if isinstance(text, str)},
            replaces=self.plain(replace).path if replace is not None and is_below else None,
            headers={} if delete is None else dict(delete.headers),
            body=None if delete is None else delete.body,
        )

    def _template(self, role: Role) -> PreparedRequest | None:
        """Returns a request with a placeholder for the identifier, which is not known yet."""
        operation = self.collection.operation(role)
        if operation is None:
            return None
        return self.maker.plain(operation.operation, self.values(operation, _MARK))

    def values(self, role: ResourceOperation, identifier: str | None = None) -> dict[str, str]:
        """Returns path parameter to text for an operation."""
        above = () if self.collection.is_flat_at(role.operation.path) else self.parents
        texts = (*above, *([] if identifier is None else [identifier]))
        return dict(zip(role.path_names, texts, strict=False))

    def _identifying(self, role: ResourceOperation, value: Any) -> dict[str, Any]:
        """Returns the identifying member with a value; empty if clients do not send it."""
        name = self.collection.identifier
        return {name: value} if name is not None and name in self.maker.members(role) else {}

    def _with_item(
        self,
        role: ResourceOperation,
        identifier: str | None,
        known: Mapping[str, Any],
        left_out: frozenset[str] = frozenset(),
        *,
        is_whole: bool = True,
    ) -> PreparedRequest:
        sendable = self.maker.members(role)
        references = {n: value for n, value in self.references.items() if n in sendable}
        identifying = {self.collection.identifier or ""}
        members = ItemMembers(
            {**references, **known},
            is_whole=is_whole,
            left_out=self.left_out | identifying | left_out,
            unique={*self.collection.unique, *identifying},
        )
        return self._made(role, identifier, members)

    def _changed_member(self, role: ResourceOperation, item: KnownItem) -> tuple[str, Any]:
        """Returns the member to change and its new value; free texts are preferred."""
        maker = self.maker
        names = maker.read_names(role, self.collection)
        if maker.body_schema(role)[0] == bodies.JSON_PATCH:
            names = {name: name for name in sorted(item.expected)}
            role = self.collection.operation("create") or role
        members = maker.members(role)

        def rank(name: str) -> tuple[bool, bool]:
            keywords = (maker.schemas.keyword(members.get(name), it) for it in _NOT_FREE)
            is_text = bodies.types_of(maker.schemas, members.get(name)) == {"string"}
            return not is_text, any(keyword is not None for keyword in keywords)

        for name in sorted((it for it in names if it not in self.collection.references), key=rank):
            current = item.expected.get(names[name])
            value = maker.value_for(role, name, current)
            if value != current:
                return name, value
        msg = f"no member can be changed by {' '.join(role.key)}"
        raise NotPermitted(msg)
