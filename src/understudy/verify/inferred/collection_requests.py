"""Makes the requests to one collection below given parents: addresses, bodies, what undoes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.resources.model import ResourceCollection, ResourceOperation, Role
from understudy.verify.inferred.items import KnownItem
from understudy.verify.inferred.prepared import PreparedRequest
from understudy.verify.inferred.requests import JSON_PATCH, ItemMembers, RequestMaker
from understudy.verify.permits import NotPermitted
from understudy.verify.undo_journal import PLACEHOLDER, PendingItem

_MARK: Final = "understudy-identifier"
_NOT_FREE: Final = ("enum", "format", "pattern", "const")
"""Keywords of texts that may mean something to the service, such as a status."""


@dataclass(frozen=True)
class CollectionRequests:
    """Makes the requests to one collection.

    Attributes:
        maker: Makes requests by the document.
        collection: The collection.
        parents: The texts of the parameters of its path, outermost first.
        references: Members of new items that must have these values, as they refer to items.
        left_out: Members that a new item must not have, as nothing is there to refer to.
    """

    maker: RequestMaker
    collection: ResourceCollection
    parents: tuple[str, ...] = ()
    references: Mapping[str, Any] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()

    def needed(self, role: Role) -> ResourceOperation:
        """Returns the operation in a role.

        Raises:
            NotPermitted: The collection has none.
        """
        operation = self.collection.operation(role)
        if operation is None:
            msg = f"{self.collection.path} has no operation in the role {role}"
            raise NotPermitted(msg)
        return operation

    def plain(self, role: ResourceOperation, item: KnownItem | None = None) -> PreparedRequest:
        """Returns a request without a body, of an item or of the whole collection."""
        identifier = None if item is None else item.identifier
        return self.maker.plain(role.operation, self._values(role, identifier))

    def creation(self, role: ResourceOperation) -> PreparedRequest:
        """Returns a request that creates an item under an identifier of the service.

        Raises:
            NotPermitted: The document takes no item there that could be made.
        """
        return self._with_item(role, None, {})

    def creation_at(self, role: ResourceOperation) -> tuple[Any, PreparedRequest]:
        """Returns an identifier of the client's, and a request that creates an item there.

        Raises:
            NotPermitted: The document takes no item there that could be made.
        """
        parameter = PATH_PARAMETER.findall(role.operation.path)[-1]
        value = self.maker.path_value(role.operation, parameter)
        return value, self._with_item(role, str(value), self._identifying(role, value))

    def replacement(self, role: ResourceOperation, item: KnownItem) -> PreparedRequest:
        """Returns a request that replaces an item.

        Raises:
            NotPermitted: The document takes no item there that could be made.
        """
        return self._with_item(role, item.identifier, self._identifying(role, item.value))

    def change(self, role: ResourceOperation, item: KnownItem) -> PreparedRequest:
        """Returns a request that changes one member of an item to another value.

        Raises:
            NotPermitted: No member can be changed to a value that is certainly another.
        """
        name, value = self._changed_member(role, item)
        known = {**self._identifying(role, item.value), name: value}
        values = self._values(role, item.identifier)
        request = self.maker.item(role, values, ItemMembers(known, is_whole=False))
        if request is None:
            msg = f"no valid request of {' '.join(role.key)} was found"
            raise NotPermitted(msg)
        return request

    def sent_as_read(self, role: ResourceOperation, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the members that were sent and are read, by the names that they are read under."""
        if self.maker.body_schema(role)[0] == JSON_PATCH:
            return dict(sent)
        names = self.maker.read_names(role, self.collection)
        return {names[name]: value for name, value in sent.items() if name in names}

    def pending(self, request: PreparedRequest, sent: Mapping[str, Any], who: str) -> PendingItem:
        """Returns what the undo journal keeps of an item before it is created.

        Args:
            request: The creation.
            sent: The members that are sent, by the names that they are read under.
            who: The credential.
        """
        listing, replace = self.collection.operation("list"), self.collection.operation("replace")
        is_below = replace is not None and replace.operation.path == self.collection.path
        return PendingItem(
            create=request.path,
            who=who,
            delete=self._template("delete"),
            read=self._template("read"),
            list=None if listing is None else self.plain(listing).url,
            steps=() if listing is None else listing.response_path or (),
            identifier=self.collection.identifier or "",
            texts={name: text for name, text in sent.items() if isinstance(text, str)},
            replaces=self.plain(replace).path if replace is not None and is_below else None,
        )

    def _template(self, role: Role) -> str | None:
        """Returns the address of an operation on an item, with a place for its identifier."""
        operation = self.collection.operation(role)
        if operation is None:
            return None
        request = self.maker.plain(operation.operation, self._values(operation, _MARK))
        return request.url.replace(_MARK, PLACEHOLDER)

    def _values(self, role: ResourceOperation, identifier: str | None = None) -> dict[str, str]:
        """Returns the texts of the path parameters of an operation."""
        texts = (*self.parents, *([] if identifier is None else [identifier]))
        return dict(zip(PATH_PARAMETER.findall(role.operation.path), texts, strict=False))

    def _identifying(self, role: ResourceOperation, value: Any) -> dict[str, Any]:
        """Returns the member that identifies an item, if a client sends it."""
        name = self.collection.identifier
        return {name: value} if name is not None and name in self.maker.members(role) else {}

    def _with_item(
        self, role: ResourceOperation, identifier: str | None, known: Mapping[str, Any]
    ) -> PreparedRequest:
        sendable = self.maker.members(role)
        references = {n: value for n, value in self.references.items() if n in sendable}
        identifying = {self.collection.identifier or ""}
        members = ItemMembers(
            {**references, **known},
            left_out=self.left_out | identifying,
            unique={*self.collection.unique, *identifying},
        )
        request = self.maker.item(role, self._values(role, identifier), members)
        if request is None:
            msg = f"no valid request of {' '.join(role.key)} was found"
            raise NotPermitted(msg)
        return request

    def _changed_member(self, role: ResourceOperation, item: KnownItem) -> tuple[str, Any]:
        """Returns a member that is changed, and its new value: preferably of a free text."""
        maker = self.maker
        names = maker.read_names(role, self.collection)
        if maker.body_schema(role)[0] == JSON_PATCH:
            names = {name: name for name in sorted(item.expected)}
            role = self.collection.operation("create") or role
        members = maker.members(role)

        def rank(name: str) -> tuple[bool, bool]:
            keywords = (maker.bodies.keyword(members.get(name), it) for it in _NOT_FREE)
            is_text = maker.bodies.types(members.get(name)) == {"string"}
            return not is_text, any(keyword is not None for keyword in keywords)

        for name in sorted((it for it in names if it not in self.collection.references), key=rank):
            current = item.expected.get(names[name])
            value = maker.value_for(role, name, current)
            if value != current:
                return name, value
        msg = f"no member can be changed by {' '.join(role.key)}"
        raise NotPermitted(msg)
