"""Makes valid requests to operations with inferred state, by the document's samplers.

Texts that a service probably wants to be unique differ in each request of each run.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from understudy.openapi.directions import Flag
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import is_json
from understudy.openapi.operations import Operation
from understudy.openapi.resources.bodies import BodySchemas, request_media
from understudy.openapi.resources.model import Resource, ResourceOperation, Steps
from understudy.openapi.resources.names import canonical
from understudy.openapi.sample_styles import PLAUSIBLE_REQUEST
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas
from understudy.verify.inferred.prepared import FORM, PreparedRequest, text_of

JSON_PATCH: Final = "application/json-patch+json"
_UNIQUE: Final = frozenset(
    {
        *("name", "slug", "email", "emailaddress", "username", "login", "handle", "code", "key"),
        *("title", "sku", "reference", "externalid"),
    }
)
_BINARY: Final = frozenset({"binary", "byte"})
_STYLE: Final = PLAUSIBLE_REQUEST._replace(depth=2)
_ATTEMPTS: Final = 6
_ONE_WAY: Final[tuple[Flag, ...]] = ("readOnly", "writeOnly")


class ItemMembers(NamedTuple):
    """The members of an item that is sent.

    Attributes:
        known: Members that have to have these values, such as references.
        is_whole: Whether optional members are sent too, beside those that are known.
        left_out: Optional members that are not sent all the same.
        unique: Members that no other item may have the same value of.
    """

    known: Mapping[str, Any] = {}
    is_whole: bool = True
    left_out: Collection[str] = ()
    unique: Collection[str] = ()


@dataclass
class RequestMaker:
    """Makes the requests of one run.

    Attributes:
        document: The document in force.
        seed: Seed of the sampled values.
        token: A text that no other run has.
        schemas: The validators of the document.
        bodies: Reads its schemas as members.
    """

    document: Document
    seed: int
    token: str
    schemas: Schemas = field(init=False)
    bodies: BodySchemas = field(init=False)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        """Compiles nothing yet: validators are made at their first use."""
        self.schemas = Schemas(self.document)
        self.bodies = BodySchemas(self.document)

    def plain(self, operation: Operation, values: Mapping[str, str]) -> PreparedRequest:
        """Returns a request without a body: the path, and the parameters that are required.

        Args:
            operation: The operation.
            values: The texts of its path parameters; others are sampled.
        """
        texts = {name: self.path_text(operation, name, values) for name in _names(operation)}
        path = PATH_PARAMETER.sub(lambda match: quote(texts[match[1]], safe=""), operation.path)
        needed = [it for it in operation.parameters if it.required and it.schema is not None]
        query = tuple(
            (it.name, text_of(self._sample(it.schema, it.name)))
            for it in needed
            if it.location == "query"
        )
        headers = {
            it.name.lower(): text_of(self._sample(it.schema, it.name))
            for it in needed
            if it.location == "header" and it.name.lower() != "if-match"
        }
        return PreparedRequest(operation.method, path, query, headers)

    def path_value(self, operation: Operation, name: str) -> Any:
        """Returns a value for a path parameter that a client chooses, such as a new identifier."""
        schema = self._path_schema(operation, name)
        if schema is None:
            return f"u{self.token}{next(self._numbers)}"
        return self._varied(schema, name, is_unique=True)

    def item(
        self,
        role: ResourceOperation,
        values: Mapping[str, str],
        members: ItemMembers,
    ) -> PreparedRequest | None:
        """Returns a request with an item in its body; None where the document takes no such body.

        Args:
            role: The operation in its role.
            values: The texts of its path parameters.
            members: The members of the item.
        """
        media_type, schema = self.body_schema(role)
        if not media_type:
            return None
        plain = self.plain(role.operation, values)
        if media_type == JSON_PATCH:
            sent = dict(members.known)
            operations = [{"op": "replace", "path": f"/{n}", "value": v} for n, v in sent.items()]
            return plain._replace(headers=_typed(plain, media_type), body=operations, sent=sent)
        body = self._body(schema, role.request_path, members)
        if body is None:
            return None
        sent = _at(body, role.request_path)
        return plain._replace(headers=_typed(plain, media_type), body=body, sent=sent)

    def body_schema(self, role: ResourceOperation) -> tuple[str, Node | None]:
        """Returns the media type that is sent, and the schema of the body; empty without one."""
        body = role.operation.request_body
        content = body.content if body is not None else {}
        usual = [n for n in content if (is_json(n) or n == "*/*") and n != JSON_PATCH]
        for name in (*usual, *(n for n in (FORM, JSON_PATCH) if n in content)):
            return ("application/json" if name == "*/*" else name), content[name].schema
        return "", None

    def members(self, role: ResourceOperation) -> dict[str, Node]:
        """Returns the members that a client may send in the item of a request."""
        media = request_media(role.operation)
        schema = None if media is None else media.schema
        for step in role.request_path:
            schema = self.bodies.members(schema).get(step)
        return {
            name: member
            for name, member in self.bodies.members(schema).items()
            if not self.schemas.is_flagged(member, "readOnly")
        }

    def read_names(self, role: ResourceOperation, resource: Resource) -> dict[str, str]:
        """Returns the members that are sent and then read, each with its name in the item.

        Those are left out that only one direction has, that identify the item, or whose types differ.
        """
        read = {canonical(name): name for name in self.bodies.members(resource.schema)}
        identifier = getattr(resource, "identifier", None)
        names = {}
        for name, member in self.members(role).items():
            own = read.get(canonical(name), "")
            other = self.bodies.members(resource.schema).get(own)
            if other is not None and own != identifier and self._is_same_kind(member, other):
                names[name] = own
        return names

    def value_for(self, role: ResourceOperation, name: str, current: Any) -> Any:
        """Returns another value than the current one for a member; the current one if none is."""
        member = self.members(role).get(name)
        if member is None:
            return current
        candidates = (self._varied(member, name, is_unique=False) for _ in range(_ATTEMPTS))
        accepts = self.schemas.for_requests.validator(member).is_valid
        return next((it for it in candidates if it != current and accepts(it)), current)

    def _is_same_kind(self, sent: Node, read: Node) -> bool:
        if any(self.schemas.is_flagged(it, flag) for it in (sent, read) for flag in _ONE_WAY):
            return False
        if self.bodies.keyword(sent, "format") in _BINARY:
            return False
        types = self.bodies.types(sent)
        if not types or types != self.bodies.types(read):
            return False
        if "object" in types:
            return self.bodies.pointer(sent) == self.bodies.pointer(read)
        if "array" not in types:
            return True
        items, others = self.bodies.items(sent), self.bodies.items(read)
        return items is not None and others is not None and self._is_same_kind(items, others)

    def _body(self, schema: Node | None, steps: Steps, members: ItemMembers) -> Any:
        """Returns a body that its schema accepts, or None if none was found."""
        if schema is None:
            return None
        accepts = self.schemas.for_requests.validator(schema).is_valid
        for attempt in range(_ATTEMPTS):
            body = self._sample(schema, number=next(self._numbers))
            item = _at(body, steps)
            if isinstance(item, dict):
                self._fill(item, self._at(schema, steps), members, is_varied=not attempt)
                if accepts(body):
                    return body
        return None

    def _fill(
        self, item: dict[str, Any], schema: Node, members: ItemMembers, *, is_varied: bool
    ) -> None:
        """Changes a sampled item: leaves out what is not to be sent, and makes texts unique."""
        required = set(self.schemas.for_requests.required_names(schema))
        unwanted = set(members.left_out if members.is_whole else item) - required
        for name in unwanted & item.keys():
            del item[name]
        for name, member in self.bodies.members(schema).items():
            is_unique = canonical(name) in _UNIQUE or name in members.unique
            if name in item and is_unique and is_varied and members.is_whole:
                item[name] = self._varied(member, name, is_unique=True)
        item.update(members.known)

    def _at(self, schema: Node, steps: Steps) -> Node:
        for step in steps:
            schema = self.bodies.members(schema).get(step, schema)
        return schema

    def _varied(self, schema: Node, name: str, *, is_unique: bool) -> Any:
        """Returns a valid value for a member; a unique one has a text of this run if it can."""
        number = next(self._numbers)
        if not is_unique:
            return self._sample(schema, name, number)
        value = Sampler(self.schemas, int(self.token, 16), number, style=_STYLE).value(schema, name)
        if not isinstance(value, str) or self.bodies.keyword(schema, "enum") is not None:
            return value
        accepts = self.schemas.for_requests.validator(schema).is_valid
        mark = f"{self.token}{number}"
        longest = self.bodies.keyword(schema, "maxLength")
        room = longest - len(mark) - 1 if isinstance(longest, int) else len(value)
        start = value[: max(room, 0)].strip()
        marked = (f"{start} {mark}", f"{start}-{mark}", f"u{mark}@example.com", mark)
        is_email = self.bodies.keyword(schema, "format") == "email"
        return next((it for it in marked[2 if is_email else 0 :] if accepts(it)), value)

    def _sample(self, schema: Node | None, name: str = "", number: int = 0) -> Any:
        sampler = Sampler(self.schemas, self.seed, number, style=_STYLE)
        return "a" if schema is None else sampler.value(schema, name)

    def path_text(
        self, operation: Operation, name: str, values: Mapping[str, str] | None = None
    ) -> str:
        """Returns the text of a path parameter: the known one, or one that its schema accepts."""
        if values and name in values:
            return values[name]
        return text_of(self._sample(self._path_schema(operation, name), name)) or "a"

    def _path_schema(self, operation: Operation, name: str) -> Node | None:
        places = (it for it in operation.parameters if (it.location, it.name) == ("path", name))
        return next((it.schema for it in places), None)


def _names(operation: Operation) -> list[str]:
    return PATH_PARAMETER.findall(operation.path)


def _typed(request: PreparedRequest, media_type: str) -> dict[str, str]:
    return {**request.headers, "content-type": media_type}


def _at(body: Any, steps: Steps) -> Any:
    for step in steps:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body
