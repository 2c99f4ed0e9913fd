"""Finds collections and single resources in a document, and says how sure that is and why.

A collection is a path that items are created at, beside a path with one parameter more that they are
read, changed or deleted at, if the bodies of both share members and one member identifies an item.
What too little speaks for is not claimed: a response made up from the document is better than a
state that the service does not have.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from understudy.errors import StartupError
from understudy.openapi.loader import Document
from understudy.openapi.operations import operations
from understudy.openapi.resources.bodies import (
    BodySchemas,
)
from understudy.openapi.resources.drafts import draft_collection
from understudy.openapi.resources.links import (
    by_referring_name,
    parents_of,
    paths_by_key,
    references_of,
    unique_members,
)
from understudy.openapi.resources.model import (
    ResourceCollection,
    ResourceModel,
)
from understudy.openapi.resources.places import places
from understudy.openapi.resources.singletons import find_singletons
from understudy.openapi.resources.state_models import CollectionEntry, StateModel, load_state_model
from understudy.openapi.resources.statements import with_collections, with_singletons

INFERRED: Final = StateModel()
"""States nothing: all is inferred."""


def find_resources(document: Document, stated: StateModel = INFERRED) -> ResourceModel:
    """Finds the collections and single resources of a document.

    Args:
        document: A document of any service.
        stated: What is known better: the content of a state-model file.

    Raises:
        StartupError: A part of the document is not as OpenAPI has it, or the state model names what
            the document does not have.
    """
    schemas = BodySchemas(document)
    declared = operations(document)
    drafts = [draft_collection(place, schemas) for place in places(declared).values()]
    corrected = with_collections([it for it in drafts if it], stated, declared, schemas)
    collections = _related(corrected, stated, schemas)
    paths = paths_by_key([it for it in collections if it.is_certain])
    taken = {operation.key for it in collections for operation in it.operations}
    singletons = [
        replace(it, parents=parents_of(it.path, paths))
        for it in with_singletons(find_singletons(declared, taken, schemas), stated.singletons)
    ]
    return ResourceModel(
        tuple(it for it in collections if it.is_certain),
        tuple(it for it in singletons if it.is_certain),
        tuple(it for it in collections if not it.is_certain)
        + tuple(it for it in singletons if not it.is_certain),
    )


def infer_resources(document: Document, state_model: Path | None = None) -> ResourceModel:
    """Finds the resources of a document, corrected by a state-model file if there is one.

    Raises:
        StartupError: The document or the file is not as it must be; the text names the file.
    """
    if state_model is None:
        return find_resources(document)
    stated = load_state_model(state_model)
    try:
        return find_resources(document, stated)
    except StartupError as error:
        msg = f"{state_model}: {error}"
        raise StartupError(msg) from error


def _related(
    drafts: Sequence[ResourceCollection], stated: StateModel, schemas: BodySchemas
) -> list[ResourceCollection]:
    """Adds parents, references and unique members, which depend on the other collections."""
    certain = [it for it in drafts if it.is_certain]
    paths, targets = paths_by_key(certain), by_referring_name(certain)
    related = []
    for draft in drafts:
        members = schemas.members(draft.schema)
        entry = stated.collections.get(draft.path, CollectionEntry())
        references = entry.references
        if references is None:
            references = references_of(members, draft.identifier, targets, schemas)
        unique = unique_members(draft, members) if entry.unique is None else entry.unique
        parents = parents_of(draft.path, paths)
        related.append(replace(draft, parents=parents, references=references, unique=unique))
    return related
