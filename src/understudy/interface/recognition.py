"""Recognises the interface's operations in a document, which may describe another service.

A path alone proves little, as many services have a ``/me/profile``. So the names of inputs and of
response members are compared with the interface's (Resources and their fields; Endpoints). The mock
binds its handlers by the result, ``generate`` its prose, ``verify`` its rules.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    DELETE_AVATAR,
    LIST_AVATARS,
    LOOKUP,
    OWN_PROFILE,
    QR_CODE,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
    key_of,
)
from understudy.openapi.loader import Document, Node, once_per_document
from understudy.openapi.media_types import JSON, is_json
from understudy.openapi.operations import MediaType, Operation, operations, path_shape
from understudy.openapi.schemas import ALL, Schemas, schemas_of

PROFILE_TEXTS = (
    "display_name",
    "avatar_url",
    "avatar_alt_text",
    "location",
    "description",
    "job_title",
    "company",
    "pronunciation",
    "pronouns",
)
REQUIRED = ("hash", "profile_url", "verified_accounts", *PROFILE_TEXTS)
"""The required members of a profile."""

_PROFILE = frozenset(REQUIRED)

_AVATAR = frozenset({"image_id", "image_url", "rating", "alt_text", "updated_date"})

_NAMES: Final[Mapping[str, frozenset[str]]] = {
    LOOKUP: _PROFILE,
    QR_CODE: frozenset({"size", "version", "utm_medium", "utm_campaign", "type"}),
    LIST_AVATARS: _AVATAR | {"selected_email_hash"},
    UPLOAD_AVATAR: _AVATAR | {"selected_email_hash", "select_avatar"},
    DELETE_AVATAR: frozenset(),
    UPDATE_AVATAR: _AVATAR,
    SET_AVATAR: frozenset({"email_hash"}),
    OWN_PROFILE: _PROFILE,
    UPDATE_PROFILE: _PROFILE,
    ASSOCIATED_EMAIL: frozenset({"email_hash", "associated"}),
}
"""The names of the inputs of each operation and of the members of its responses."""

COMPARED: Final = frozenset(_NAMES)
"""The operations that are compared: all but the one that publishes the document."""

_SHAPES = frozenset(key.partition(" ")[2] for key in _NAMES)

_TELLING = frozenset(
    {
        "hash",
        "profile_url",
        "avatar_alt_text",
        "verified_accounts",
        "pronunciation",
        "utm_medium",
        "utm_campaign",
        "version",
        "image_id",
        "selected_email_hash",
        "select_avatar",
        "email_hash",
        "associated",
    }
)
"""Names that other services hardly use at the same paths, unlike ``location``."""

_ENOUGH = 3
"""Number of such names that identify a document; published definitions leave some out."""


@once_per_document
def interface_operations(document: Document) -> frozenset[str]:
    """Returns the names of the interface's operations that a document describes.

    An operation without names, such as a deletion, is included if others identify the document; an
    operation that has none of the expected names is not.

    Returns:
        The operations, as ``key_of`` names them; empty for the document of another service.

    Raises:
        StartupError: A part of the document violates OpenAPI.
    """
    if not _SHAPES & set(map(path_shape, document.raw.get("paths", {}))):
        return frozenset()
    similar = {
        key: operation
        for operation in operations(document)
        if (key := key_of(operation.method, operation.path)) in _NAMES
    }
    schemas = schemas_of(document)
    declared = {key: _declared_names(schemas, operation) for key, operation in similar.items()}
    shared = {key: declared[key] & _NAMES[key] for key in similar}
    if len(_TELLING & frozenset().union(*shared.values())) < _ENOUGH:
        return frozenset()
    return frozenset(key for key in similar if shared[key] or not (declared[key] and _NAMES[key]))


@once_per_document
def envelopes(document: Document) -> Mapping[str, str]:
    """Returns the member in which a document has what the interface returns itself, by operation.

    Raises:
        StartupError: A part of the document is not as OpenAPI has it.
    """
    known, schemas = interface_operations(document), schemas_of(document)
    found: dict[str, str] = {}
    for operation in operations(document):
        key = key_of(operation.method, operation.path)
        for status, response in operation.responses.items() if key in known else ():
            for media in response.content.values() if status.startswith("2") else ():
                members = schemas.members(media.schema, ALL)
                own = members.keys() & _NAMES[key]
                within = {name: _inner(schemas, members[name]) & _NAMES[key] for name in members}
                name = max(within, key=lambda it: len(within[it]), default="")
                if name and len(within[name]) > len(own):
                    found.setdefault(key, name)
    return found


@once_per_document
def json_types(document: Document) -> Mapping[str, str]:
    """Returns the media type of JSON that requests have where it is not JSON's own, by operation."""
    found: dict[str, str] = {}
    for operation in operations(document):
        body = operation.request_body
        types = [it for it in body.content if is_json(it)] if body is not None else []
        if types and JSON not in types and not types[0].endswith("json-patch+json"):
            found[key_of(operation.method, operation.path)] = types[0]
    return {key: found[key] for key in found.keys() & interface_operations(document)}


def _inner(schemas: Schemas, schema: Node) -> frozenset[str]:
    """Returns the names of an object's members, or of those of the items of a list."""
    return frozenset(schemas.members(schemas.items(schema) or schema, ALL))


def _declared_names(schemas: Schemas, operation: Operation) -> frozenset[str]:
    """Returns the names of query parameters, body members and members of successful responses."""
    names = {it.name for it in operation.parameters if it.location == "query"}
    successes = [it for status, it in operation.responses.items() if status.startswith("2")]
    contents = [response.content for response in successes]
    if operation.request_body is not None:
        contents.append(operation.request_body.content)
    media_types = (media for content in contents for media in content.values())
    return frozenset(names.union(*(_members(schemas, media) for media in media_types)))


def _members(schemas: Schemas, media: MediaType) -> Iterator[str]:
    """Yields the member names of a body, of the objects in it, and of the items of its lists."""
    pending = [media.schema, *schemas.members(media.schema).values()]
    visited: set[str] = set()
    while pending:
        schema = pending.pop()
        if schema is not None and schema.pointer not in visited:
            visited.add(schema.pointer)
            members = schemas.members(schema)
            yield from members
            pending += map(schemas.items, (schema, *members.values()))
