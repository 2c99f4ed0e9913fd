"""Reads the schemas of one document for mutations: keywords, members, and a sample of each."""

from typing import Any

from understudy.errors import LimitExceeded
from understudy.openapi.loader import Node
from understudy.openapi.sample_styles import PLAIN
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas

MAX_DEPTH = 4
"""Levels of alternatives that are read for members."""

ONE_OF_EACH: tuple[tuple[str, str, Any], ...] = (
    ("null", "null", None),
    ("boolean", "true", True),
    ("integer", "a number", 7),
    ("number", "a fraction", 7.5),
    ("string", "a text", "7"),
    ("array", "a list", []),
    ("object", "an object", {}),
)
"""Type, description and a value of each JSON type."""


class SchemaValues:
    """Reads schemas, and makes plain values for them.

    Args:
        schemas: The document's validators.
    """

    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas.for_requests
        self._sampler = Sampler(schemas, seed=0, style=PLAIN)
        self._samples: dict[str, Any] = {}

    def keywords(self, schema: Node) -> dict[str, Any]:
        """Returns the keywords of a schema, through references and ``allOf``; the first wins."""
        node = self.schemas.follow(schema)
        if not isinstance(node.value, dict):
            return {}
        keywords = dict(node.value)
        for _, part in (node.child("allOf") or Node("", [])).children():
            keywords = {**self.keywords(part), **keywords}
        return keywords

    def members(self, schema: Node, depth: int = 0) -> dict[str, Node]:
        """Returns the members that an object schema declares, in any of its alternatives too."""
        node = self.schemas.follow(schema)
        declared = (node.child("properties") or Node("", {})).children()
        members = {str(name): self.schemas.follow(member) for name, member in declared}
        for keyword in ("allOf", "oneOf", "anyOf") if depth < MAX_DEPTH else ():
            for _, part in (node.child(keyword) or Node("", [])).children():
                members = {**self.members(part, depth + 1), **members}
        return members

    def sample(self, schema: Node) -> Any:
        """Returns the plainest value that the schema accepts, or one it refuses if there is none.

        It is made once: thousands of mutations of one body need the same value, and change a copy.
        """
        if schema.pointer not in self._samples:
            try:
                value = self._sampler.value(schema)
            except LimitExceeded:  # nobody reads, or sends, what is so large
                value = None
            self._samples[schema.pointer] = value
        return self._samples[schema.pointer]

    def takes_more(self, schema: Node) -> bool:
        """Tells whether an object schema accepts a text under a name that it does not declare."""
        value = self.sample(schema)
        is_accepted = self.schemas.validator(schema).is_valid
        return isinstance(value, dict) and is_accepted({**value, "understudy_extra": "1"})


def sized(size: int) -> str:
    """Returns a text of this many plain characters."""
    return ("abcdefghij" * (size // 10 + 1))[: max(size, 0)]
