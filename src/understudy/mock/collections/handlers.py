"""Binds the operations of a document to the state that was inferred from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from understudy.errors import Problem
from understudy.mock.collections import changing, reading
from understudy.mock.collections.bound import OVERRIDE, BoundCall, StatefulDocument
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.handlers import DocumentCall
from understudy.mock.store.items import items_of
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.resources.model import Resource, ResourceCollection, ResourceOperation, Role

_FUNCTIONS: Final[Mapping[Role, Callable[[BoundCall], HandlerResponse | None]]] = {
    "list": reading.list_items,
    "create": changing.create,
    "read": reading.read,
    "replace": changing.replace,
    "update": changing.update,
    "delete": changing.delete,
    "action": changing.act,
}


@dataclass(frozen=True, slots=True)
class StatefulOperation:
    """Responds to one operation by the state of the document.

    Attributes:
        stateful: The document.
        resource: What the operation works on.
        role: The operation in its role.
    """

    stateful: StatefulDocument
    resource: Resource
    role: ResourceOperation

    def __call__(self, call: DocumentCall) -> HandlerResponse | None:
        """Responds to a call; None where the response is to be generated from the document.

        Raises:
            Problem: The state does not allow it.
        """
        self.stateful.adopt(call.schemas)
        bound = BoundCall(call, self.stateful, self.resource, self.role)
        try:
            return _FUNCTIONS[self.role.role](bound)
        except Problem as problem:
            problem.headers = (*problem.headers, OVERRIDE)  # each refusal names what changes it
            raise

    def path_values(self) -> Mapping[str, str]:
        """Returns the path parameters of a request that a new world has an item for."""
        names = PATH_PARAMETER.findall(self.role.operation.path)
        parents = [it.collection for it in self.resource.parents if it.collection is not None]
        for path in (self.resource.path, *reversed(parents)):
            items = self.stateful.beginning.get(items_of(path).name, {})
            for item in items.values():
                is_flat = isinstance(
                    self.resource, ResourceCollection
                ) and self.resource.is_flat_at(self.role.operation.path)
                above = () if is_flat else item.parents
                return dict(zip(names, (*above, item.identifier), strict=False))
        return {}

    @property
    def inference(self) -> Mapping[str, Any]:
        """Explains what the operation works on, how sure that is, and what changes it."""
        return {
            "resource": self.resource.path,
            "role": self.role.role,
            "confidence": self.resource.confidence,
            "reasons": list(self.resource.reasons),
            "override": OVERRIDE[1],
        }
