"""Applies a state-model file to what was inferred of a document."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from understudy.errors import StartupError, nearest
from understudy.openapi.operations import Operation
from understudy.openapi.resources.bodies import BodySchemas, request_schema, response_schema
from understudy.openapi.resources.identifiers import identifying_names
from understudy.openapi.resources.model import (
    ROLES,
    ResourceCollection,
    ResourceOperation,
    ResourceSingleton,
    Role,
)
from understudy.openapi.resources.state_models import CollectionEntry, SingletonEntry, StateModel

STATED = "stated in the state-model file"


def with_collections(
    drafts: Sequence[ResourceCollection],
    stated: StateModel,
    declared: Sequence[Operation],
    schemas: BodySchemas,
) -> list[ResourceCollection]:
    """Returns the collections that were inferred, corrected and completed by a state-model file.

    Raises:
        StartupError: The file names a path or an operation that the document does not have.
    """
    by_path = {it.path: it for it in drafts}
    for path, entry in stated.collections.items():
        known = by_path.get(path)
        if known is None:
            paths = [it.path for it in declared]
            if path not in paths and entry.item not in paths:
                msg = f"collections: the document has no path {path!r}{nearest(path, paths) or '.'}"
                raise StartupError(msg)
            known = ResourceCollection(path, entry.item, entry.identifier, None, ())
        by_path[path] = _Statement(entry, declared, schemas).applied(known)
    return list(by_path.values())


def with_singletons(
    inferred: Sequence[ResourceSingleton], stated: Mapping[str, SingletonEntry]
) -> list[ResourceSingleton]:
    """Returns the single resources that were inferred, with the confidence that a file states.

    Raises:
        StartupError: The file names a path that was not inferred.
    """
    by_path = {it.path: it for it in inferred}
    for path, entry in stated.items():
        if path not in by_path:
            hint = (
                nearest(path, list(by_path)) or "; it needs GET, and PUT or PATCH, of one object."
            )
            msg = f"singletons: {path!r} is not a single resource of the document{hint}"
            raise StartupError(msg)
        confidence = 0.0 if entry.stateless else 1.0
        by_path[path] = replace(by_path[path], confidence=confidence, reasons=(STATED,))
    return list(by_path.values())


class _Statement:
    """Applies the entry of one collection."""

    def __init__(
        self, entry: CollectionEntry, declared: Sequence[Operation], schemas: BodySchemas
    ) -> None:
        self._entry = entry
        self._declared = {f"{it.method} {it.path}": it for it in declared}
        self._schemas = schemas

    def applied(self, known: ResourceCollection) -> ResourceCollection:
        entry = self._entry
        if entry.stateless:
            return replace(known, confidence=0.0, reasons=(STATED,))
        known = replace(
            known,
            item_path=entry.item or known.item_path,
            identifier=entry.identifier or known.identifier,
        )
        parameter = known.parameter or "id"
        names = identifying_names(known.identifier or parameter, known.name)
        operations = self._operations(known, names)
        schema = known.schema
        for it in operations:
            if schema is None and it.response_path is not None and it.role != "list":
                _, schema = self._schemas.opened(response_schema(it.operation), names)
        return replace(
            known,
            schema=schema,
            operations=operations,
            confidence=1.0,
            reasons=(STATED,),
        )

    def _operations(
        self, known: ResourceCollection, names: Sequence[str]
    ) -> tuple[ResourceOperation, ...]:
        stated: dict[Role, str] = {
            role: text for role in ROLES[:-1] if (text := getattr(self._entry, role)) is not None
        }
        kept = [
            it
            for it in known.operations
            if it.role not in stated
            and not (it.role == "action" and self._entry.actions is not None)
        ]
        stated_operations = [self._operation(role, text, names) for role, text in stated.items()]
        for text, changes in (self._entry.actions or {}).items():
            stated_operations.append(
                replace(self._operation("action", text, names), changes=changes)
            )
        return (*kept, *stated_operations)

    def _operation(self, role: Role, text: str, names: Sequence[str]) -> ResourceOperation:
        operation = self._declared.get(text)
        if operation is None:
            hint = nearest(text, list(self._declared)) or "; write it as GET /pets."
            msg = f"collections: {role}: the document has no operation {text!r}{hint}"
            raise StartupError(msg)
        schema = response_schema(operation)
        if role == "list":
            steps = next((steps for steps, _ in self._schemas.arrays(schema)), None)
            return ResourceOperation(role, operation, (), steps)
        steps, item = self._schemas.opened(schema, names)
        request_path, _ = self._schemas.opened(request_schema(operation), names)
        has_item = bool(self._schemas.members(item))
        return ResourceOperation(role, operation, request_path, steps if has_item else None)
