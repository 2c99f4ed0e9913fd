"""Infers the state of a document, and the items that its worlds begin with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from understudy.collections import changing, reading
from understudy.collections.calls import OVERRIDE, BoundCall, StatefulDocument
from understudy.collections.inference import infer_resources
from understudy.collections.model import Resource, ResourceCollection, ResourceOperation, Role
from understudy.collections.seeding import load_seed_data, seeded
from understudy.errors import Problem, StartupError
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.handlers import DocumentCall, InferredState
from understudy.mock.server.worlds import Baseline
from understudy.mock.settings import Settings
from understudy.mock.store.items import LAST_NUMBERS, items_of
from understudy.openapi.loader import Document

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
        names = self.role.path_names
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


def served(document: Document, settings: Settings) -> InferredState | None:
    """Returns what serves the state that is inferred from a document, or None where there is none.

    Args:
        document: The document in force, as it was read.
        settings: What corrects the inference, and the items that worlds begin with.

    Raises:
        StartupError: The state model is not as it must be, or is of no use.
    """
    model = infer_resources(document, settings.state_model)
    if settings.seed_data is not None and not model.collections:
        msg = f"--seed-data {settings.seed_data}: the document has no collection; `understudy infer` says why."
        raise StartupError(msg)
    if not model.resources:
        return None
    stateful = StatefulDocument(document, model)

    def with_items(fixtures: Baseline) -> Baseline:
        if LAST_NUMBERS.name in fixtures:
            return fixtures
        path = settings.seed_data
        supplied = None if path is None else load_seed_data(path, stateful)
        stateful.beginning = seeded(stateful, settings.seed, supplied)
        return {**stateful.beginning, **fixtures}

    operations = {
        role.key: StatefulOperation(stateful, resource, role) for resource, role in model.roles()
    }
    return InferredState(operations, with_items)
