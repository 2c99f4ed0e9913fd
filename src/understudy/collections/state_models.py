"""Reads and writes state-model files, which correct and complete the inference from a document."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml
from msgspec import Struct

from understudy.collections.bodies import (
    arrays,
    identifying_names,
    opened,
    request_schema,
    response_schema,
)
from understudy.collections.model import (
    ROLES,
    ResourceCollection,
    ResourceModel,
    ResourceOperation,
    ResourceSingleton,
    Role,
)
from understudy.errors import StartupError, nearest, not_a_record
from understudy.openapi.operations import Operation
from understudy.openapi.schemas import Schemas
from understudy.openapi.yaml_files import read_yaml
from understudy.record_schemas import record_schema, schema_text

SCHEMA_NAME: Final = "state_model.schema.json"
"""Name of the file with the JSON Schema, beside a state-model file."""


class CollectionEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """States what a collection is; what it leaves out is inferred.

    Attributes:
        stateless: Whether responses are generated from the document without state.
        item: The path template of an item, such as ``/pets/{petId}``.
        identifier: The member of an item that identifies it.
        list: The operation that lists items, such as ``GET /pets``.
        create: The operation that creates an item.
        read: The operation that reads an item.
        replace: The operation that replaces an item.
        update: The operation that changes members of an item.
        delete: The operation that deletes an item.
        actions: Operations that set members without a body, to the values that they set:
            ``POST /orders/{orderId}/cancel: {status: cancelled}``.
        unique: Members whose value no two items may share.
        references: Member to the path of the collection whose items it identifies.
    """

    stateless: bool = False
    item: str | None = None
    identifier: str | None = None
    list: str | None = None
    create: str | None = None
    read: str | None = None
    replace: str | None = None
    update: str | None = None
    delete: str | None = None
    actions: dict[str, dict[str, Any]] | None = None
    unique: tuple[str, ...] | None = None
    references: dict[str, str] | None = None


class SingletonEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """States whether a single resource has state.

    Attributes:
        stateless: Whether responses are generated from the document without state.
    """

    stateless: bool = False


class StateModel(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A state-model file: the collections and single resources of a document.

    Attributes:
        collections: Path template to collection, such as ``/pets``.
        singletons: Path template to singleton, such as ``/me/settings``.
    """

    collections: dict[str, CollectionEntry] = {}
    singletons: dict[str, SingletonEntry] = {}


def load_state_model(path: Path) -> StateModel:
    """Reads a state-model file, in YAML or JSON.

    Raises:
        StartupError: The file cannot be read, or has an unknown key or an invalid value.
    """
    content = read_yaml(path)
    try:
        return msgspec.convert(content or {}, StateModel)
    except msgspec.ValidationError as error:
        msg = f"{path}: {not_a_record(error, StateModel)}"
        raise StartupError(msg) from error


def state_model_of(model: ResourceModel) -> StateModel:
    """Returns the state-model file of a model, in which uncertain resources are stateless."""
    uncertain = [it for it in model.uncertain if isinstance(it, ResourceCollection)]
    others = [it.path for it in model.uncertain if not isinstance(it, ResourceCollection)]
    return StateModel(
        {it.path: _entry(it, stateless=False) for it in model.collections}
        | {it.path: _entry(it, stateless=True) for it in uncertain},
        {it.path: SingletonEntry() for it in model.singletons}
        | {path: SingletonEntry(stateless=True) for path in others},
    )


def _entry(collection: ResourceCollection, *, stateless: bool) -> CollectionEntry:
    operations: dict[str, Any] = {}
    actions: dict[str, dict[str, Any]] = {}
    for it in collection.operations:
        name = " ".join(it.key)
        if it.role == "action":
            actions[name] = dict(it.changes)
        else:
            operations.setdefault(it.role, name)
    return CollectionEntry(
        stateless=stateless,
        item=collection.item_path,
        identifier=collection.identifier,
        actions=actions or None,
        unique=collection.unique or None,
        references=dict(collection.references) or None,
        **operations,
    )


def state_model_text(model: ResourceModel) -> str:
    """Returns the text of the state-model file of a model, with the reasons as comments."""
    content: Mapping[str, Any] = msgspec.to_builtins(state_model_of(model))
    lines = [f"# yaml-language-server: $schema=./{SCHEMA_NAME}"]
    reasons = {it.path: it for it in (*model.resources, *model.uncertain)}
    for section, entries in content.items():
        lines.append(f"{section}:")
        for path, entry in entries.items():
            resource = reasons[path]
            lines.append(f"  # {resource.confidence:.0%}: {'; '.join(resource.reasons)}")
            text = yaml.safe_dump({path: entry}, sort_keys=False, allow_unicode=True, width=100)
            lines += [f"  {line}" for line in text.splitlines()]
    return "\n".join(lines) + "\n"


def state_model_schema() -> str:
    """Returns the JSON Schema (2020-12) of state-model files."""
    return schema_text(record_schema(StateModel, "A state-model file of understudy"))


STATED = "stated in the state-model file"


def with_collections(
    drafts: Sequence[ResourceCollection],
    stated: StateModel,
    declared: Sequence[Operation],
    schemas: Schemas,
) -> list[ResourceCollection]:
    """Returns the inferred collections, corrected and completed by a state-model file.

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
            known = ResourceCollection(
                path, None, (), item_path=entry.item, identifier=entry.identifier
            )
        by_path[path] = _Statement(entry, declared, schemas).applied(known)
    return list(by_path.values())


def with_singletons(
    inferred: Sequence[ResourceSingleton], stated: Mapping[str, SingletonEntry]
) -> list[ResourceSingleton]:
    """Returns the inferred singletons, corrected by a state-model file.

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
        self, entry: CollectionEntry, declared: Sequence[Operation], schemas: Schemas
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
                _, schema = opened(self._schemas, response_schema(it.operation), names)
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
            if (it.role not in stated or it.takes_list)
            and not (it.role == "action" and self._entry.actions is not None)
        ]
        inferred = {(it.role, " ".join(it.key)): it for it in known.operations}
        lists = {" ".join(it.key) for it in kept if it.takes_list}
        stated_operations = [
            inferred.get((role, text)) or self._operation(role, text, names)
            for role, text in stated.items()
            if text not in lists
        ]
        for text, changes in (self._entry.actions or {}).items():
            stated_operations.append(
                replace(self._operation("action", text, names), changes=changes)
            )
        return (*stated_operations, *kept)

    def _operation(self, role: Role, text: str, names: Sequence[str]) -> ResourceOperation:
        operation = self._declared.get(text)
        if operation is None:
            hint = nearest(text, list(self._declared)) or "; write it as GET /pets."
            msg = f"collections: {role}: the document has no operation {text!r}{hint}"
            raise StartupError(msg)
        schema = response_schema(operation)
        if role == "list":
            steps = next((steps for steps, _ in arrays(self._schemas, schema)), None)
            return ResourceOperation(role, operation, (), steps)
        steps, item = opened(self._schemas, schema, names)
        request_path, _ = opened(self._schemas, request_schema(operation), names)
        has_item = bool(self._schemas.members(item))
        return ResourceOperation(role, operation, request_path, steps if has_item else None)
