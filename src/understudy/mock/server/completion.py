"""Adds the members that a newer document requires to the response of a handler."""

import re
from collections.abc import Mapping
from typing import Any, Final

from understudy.openapi.loader import Node
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas

SLUG: Final = "slug"
_NOT_IN_SLUGS: Final = re.compile("[^a-z0-9]+")


def complete(body: Any, schema: Node, schemas: Schemas, seed: int) -> Any:
    """Returns a body with the required members that it lacks, generated at every level.

    Args:
        body: The body that a handler returned; not changed.
        schema: The schema that the document in force declares.
        schemas: The document's validators.
        seed: Same seed, same members.
    """
    return _Completion(schemas, seed).completed(body, schema)


class _Completion:
    """Adds what is missing, level by level."""

    def __init__(self, schemas: Schemas, seed: int) -> None:
        self._schemas = schemas
        self._sampler = Sampler(schemas, seed)

    def completed(self, body: Any, schema: Node) -> Any:
        if isinstance(body, list | tuple):  # records give tuples
            items = self._schemas.items_schema(schema)
            return body if items is None else [self.completed(item, items) for item in body]
        if not isinstance(body, dict):
            return body
        members = {
            name: self.completed(value, member)
            if (member := self._schemas.property_schema(schema, name)) is not None
            else value
            for name, value in body.items()
        }
        for name in self._schemas.required_names(schema):
            member = self._schemas.property_schema(schema, name)
            if name not in members and member is not None:
                members[name] = self._made_up(name, member, members)
        return members

    def _made_up(self, name: str, schema: Node, beside: Mapping[str, Any]) -> Any:
        """Returns a value for a required member; a slug is made of the name that stands beside it."""
        if name == SLUG:
            slug = _NOT_IN_SLUGS.sub("-", str(beside.get("name", "")).lower()).strip("-")
            if slug and self._schemas.validator(schema).is_valid(slug):
                return slug
        return self._sampler.value(schema, name)
