"""Writes the bodies of a sequence's steps: with the items that exist, and with values that can be read back."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from understudy.generate.cases import VARIABLE, CaseRequest, variable
from understudy.generate.drafts import Draft, JsonLiteral, dumps
from understudy.generate.sequences.creations import Creation, ItemName
from understudy.openapi.loader import Document, Node
from understudy.openapi.resources.bodies import BodySchemas, request_schema
from understudy.openapi.resources.model import ResourceCollection, ResourceOperation
from understudy.openapi.resources.names import words

_SAME: Final = frozenset({None, "uuid"})
"""Formats of which a text has one spelling; a server may write an instant or a URL another way."""

_CHOSEN_BY_SERVERS: Final = frozenset({"id", "uuid", "sid", "guid", "uid"})
"""Last words of identifiers that servers choose; names and codes are the client's."""

Accepts = Callable[[Draft], bool]


@dataclass(frozen=True)
class StepBody:
    """The body of one operation on an item.

    Attributes:
        role: The operation.
        links: Member to the item that it has to name.
    """

    role: ResourceOperation
    links: Mapping[str, ItemName]

    def item(self, body: Any) -> dict[str, Any] | None:
        """Returns the item in a parsed body, or None."""
        for step in self.role.request_path:
            body = body.get(step) if isinstance(body, dict) else None
        return body if isinstance(body, dict) else None

    def linked(self, request: CaseRequest) -> CaseRequest:
        """Returns a request whose body names the items that exist.

        A body that is not JSON, or is written in an unusual way, stays as it is.
        """
        body = parsed(request)
        item = self.item(body)
        if not self.links or item is None or dumps(body).encode() != request.body:
            return request
        for name, link in self.links.items():
            if name in item:
                item[name] = _written(link, item[name])
        return request._replace(body=dumps(body).encode())


def _written(link: ItemName, sample: Any) -> Any:
    if not link.variable:
        return link.value
    text = variable(link.variable)
    return text if isinstance(sample, str) else JsonLiteral(text)


def parsed(request: CaseRequest) -> Any:
    """Returns the JSON body of a request, with 0 for each variable; None for any other."""
    try:
        return json.loads(VARIABLE.sub("0", (request.body or b"null").decode()))
    except ValueError:
        return None


class ItemBodies:
    """Reads and adapts the bodies of one collection's operations.

    Args:
        document: The document.
        collection: The collection.
        creation: The creation of the item that the operations are about.
    """

    def __init__(
        self, document: Document, collection: ResourceCollection, creation: Creation
    ) -> None:
        self._schemas = BodySchemas(document)
        self._collection = collection
        self._creation = creation

    def adapted(
        self, role: ResourceOperation, draft: Draft, accepts: Accepts
    ) -> tuple[Draft, StepBody]:
        """Returns a draft without links that it need not have, and how the others are filled.

        Left out are references to other items, and an identifier that the server chooses.

        Args:
            role: The operation.
            draft: Its plain request.
            accepts: Tells whether the schema accepts the body of a draft.
        """
        identifier, links = self._collection.identifier, dict(self._creation.references)
        needless = {*self._collection.references} - {*links}
        if identifier is not None and role.role != "create":
            links[identifier] = self._creation.item
        elif identifier is not None and set(words(identifier)[-1:]) <= _CHOSEN_BY_SERVERS:
            needless.add(identifier)
        item = StepBody(role, {}).item(draft.json) if draft.has_json else None
        for name in sorted(needless & set(item or ())):
            shorter = draft.without_json((*role.request_path, name))
            draft = shorter if accepts(shorter) else draft
        return draft, StepBody(role, links)

    def comparable(self, role: ResourceOperation, item: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the members of a sent item that have to be read back as they are.

        These are texts, numbers and booleans that the document declares in requests and in items,
        whose format allows one spelling.
        """
        sent = self._sent_members(role)
        read = self._schemas.members(self._collection.schema)
        links = {self._collection.identifier, *self._collection.references}
        return {
            name: value
            for name, value in item.items()
            if isinstance(value, str | int | float | bool)
            and name in sent.keys() & read.keys() - links
            and self._is_kept(sent[name])
            and self._is_kept(read[name])
        }

    def changed(self, role: ResourceOperation, draft: Draft, accepts: Accepts) -> Draft:
        """Returns a draft whose body changes a member visibly, where the schema has another value."""
        item = StepBody(role, {}).item(draft.json) if draft.has_json else None
        for name, value in self.comparable(role, item or {}).items():
            enumeration = self._schemas.keyword(self._sent_members(role)[name], "enum")
            for other in _others(value, enumeration):
                changed = draft.with_json((*role.request_path, name), other)
                if accepts(changed):
                    return changed
        return draft

    def _is_kept(self, schema: Node) -> bool:
        keyword = self._schemas.keyword
        is_shown = (
            keyword(schema, "readOnly") is not True and keyword(schema, "writeOnly") is not True
        )
        return is_shown and keyword(schema, "format") in _SAME | {
            "int32",
            "int64",
            "double",
            "float",
        }

    def _sent_members(self, role: ResourceOperation) -> dict[str, Node]:
        schema = request_schema(role.operation)
        for step in role.request_path:
            schema = self._schemas.members(schema).get(step)
        return self._schemas.members(schema)

    def item_members(self) -> dict[str, Node]:
        """Returns the members of an item as it is read."""
        return self._schemas.members(self._collection.schema)


def _others(value: Any, enumeration: Any) -> Iterator[Any]:
    """Yields values other than the current one, of the same type."""
    if isinstance(enumeration, list):
        yield from (other for other in enumeration if type(other) is type(value) and other != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield f"{value} changed"
        yield f"{value[:-1]}{'b' if value[-1:] == 'a' else 'a'}"
    else:
        yield from (value + 1, value - 1)
