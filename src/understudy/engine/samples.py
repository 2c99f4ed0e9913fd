"""Answers for operations that nobody wrote a handler for: the document's examples, else its schemas.

Also completes an answer of ours that a newer document wants more of. What is made up is seeded by
the place it is made up for, so the same document gives the same answer every time.
"""

from itertools import chain
from typing import Any

import orjson

from understudy.document.loader import Node
from understudy.document.operations import MediaType, Operation
from understudy.document.schemas import Schemas
from understudy.engine.call import Answer
from understudy.engine.sampler import Sampler

JSON = "application/json"


def sample_answer(operation: Operation, schemas: Schemas, seed: int) -> Answer:
    """Answers an operation from the document alone: its first success, by example or by schema."""
    status, response = next(
        ((s, r) for s, r in operation.responses.items() if s.startswith("2")),
        ("default", operation.responses.get("default")),
    )
    number = int(status) if status.isdecimal() else 200
    if response is None or not response.content:
        return Answer(None, number)
    media_type = JSON if JSON in response.content else next(iter(response.content))
    media = response.content[media_type]
    body = _body(media, schemas, seed)
    return Answer(_encoded(body, media_type), number, media_type)


def complete(body: Any, schema: Node, schemas: Schemas, seed: int) -> Any:
    """Returns a body with the required members it lacks made up, at every level.

    Args:
        body: What a handler answered; not changed.
        schema: What the document in force wants.
        schemas: The document's validators.
        seed: Same seed, same members.
    """
    return _Completion(schemas, seed).completed(body, schema)


def _body(media: MediaType, schemas: Schemas, seed: int) -> Any:
    examples = media.examples.values()
    if media.schema is None:
        return next(iter(examples), {})
    takes = schemas.validator(media.schema).is_valid
    fitting = (example for example in examples if takes(example))
    made = (Sampler(schemas, seed).value(schema) for schema in (media.schema,))
    return next(chain(fitting, made))


def _encoded(body: Any, media_type: str) -> Any:
    """Returns bytes for a type that is not JSON, where only JSON's dicts and lists stay values."""
    if media_type == JSON or media_type.endswith("+json"):
        return body
    return body.encode() if isinstance(body, str) else orjson.dumps(body)


class _Completion:
    """Adds what is missing, level by level."""

    def __init__(self, schemas: Schemas, seed: int) -> None:
        self._schemas = schemas
        self._sampler = Sampler(schemas, seed)

    def completed(self, body: Any, schema: Node) -> Any:
        if isinstance(body, list):
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
                members[name] = self._sampler.value(member, name)
        return members
