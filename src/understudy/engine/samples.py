"""Answers for operations that nobody wrote a handler for: the document's examples, else its schemas.

Also completes an answer of ours that a newer document wants more of. What is made up is seeded by
the place it is made up for, so the same document gives the same answer every time.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from understudy.document.loader import Node
from understudy.document.operations import MediaType, Operation
from understudy.document.schemas import Schemas
from understudy.engine.call import Answer

JSON = "application/json"
MAX_DEPTH = 8
"""Levels of a made-up value; a schema that contains itself ends here, without optional members."""

_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")

_Make = Callable[[Any], str]

_BY_FORMAT: Mapping[str, _Make] = {
    "date": lambda fake: str(fake.date_this_decade()),
    "date-time": lambda fake: f"{fake.date_this_decade()}T09:30:00Z",
    "email": lambda fake: fake.safe_email(),
    "hostname": lambda fake: fake.hostname(),
    "ipv4": lambda fake: fake.ipv4(),
    "ipv6": lambda fake: fake.ipv6(),
    "time": lambda _: "09:30:00Z",
    "uri": lambda fake: f"https://example.com/{fake.slug()}",
    "uri-reference": lambda fake: f"/{fake.slug()}",
    "uuid": lambda fake: fake.uuid4(),
}

_BY_NAME: Mapping[str, _Make] = {
    "address": lambda fake: fake.address(),
    "city": lambda fake: fake.city(),
    "company": lambda fake: fake.company(),
    "country": lambda fake: fake.country(),
    "description": lambda fake: fake.sentence(),
    "email": lambda fake: fake.safe_email(),
    "first_name": lambda fake: fake.first_name(),
    "job_title": lambda fake: fake.job(),
    "language": lambda fake: fake.language_name(),
    "last_name": lambda fake: fake.last_name(),
    "location": lambda fake: fake.city(),
    "name": lambda fake: fake.name(),
    "phone": lambda fake: fake.phone_number(),
    "slug": lambda fake: fake.slug(),
    "timezone": lambda fake: fake.timezone(),
    "title": lambda fake: fake.sentence(nb_words=3),
    "url": lambda fake: f"https://example.com/{fake.slug()}",
    "username": lambda fake: fake.user_name(),
}


def sample_answer(operation: Operation, schemas: Schemas, seed: int) -> Answer:
    """Answers an operation from the document alone: its first success, by example or by schema."""
    status, response = next(
        ((s, r) for s, r in operation.responses.items() if s.startswith("2")),
        ("default", operation.responses.get("default")),
    )
    number = int(status) if status.isdigit() else 200
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
    if media.examples:
        return next(iter(media.examples.values()))
    if media.schema is None:
        return {}
    return Sampler(schemas, seed).value(media.schema)


def _encoded(body: Any, media_type: str) -> Any:
    """Returns bytes for a type that is not JSON, where only JSON's dicts and lists stay values."""
    if media_type == JSON or media_type.endswith("+json"):
        return body
    return body.encode() if isinstance(body, str) else str(body).encode()


class Sampler:
    """Makes values up that keep to a schema.

    Args:
        schemas: The document's validators.
        seed: Same seed and schema, same value.
    """

    def __init__(self, schemas: Schemas, seed: int) -> None:
        self._schemas = schemas
        self._seed = seed

    def value(self, schema: Node, name: str = "", depth: int = 0) -> Any:
        """Makes up a value.

        Args:
            schema: What it must keep to.
            name: Of the member it is for; says much of what a person expects to see.
            depth: Levels above it.
        """
        schema = self._schemas.follow(schema)
        said = schema.value if isinstance(schema.value, dict) else {}
        for keyword in ("example", "const", "default"):
            if keyword in said:
                return said[keyword]
        for keyword in ("examples", "enum"):
            if said.get(keyword):
                return said[keyword][0]
        for keyword in ("oneOf", "anyOf"):
            if said.get(keyword):
                alternatives = schema.child(keyword) or schema
                return self.value(next(n for _, n in alternatives.children()), name, depth)
        return self._typed(schema, name, depth)

    def _typed(self, schema: Node, name: str, depth: int) -> Any:
        types = self._schemas.types(schema)
        if "object" in types or {"properties", "allOf"} & set(schema.value or ()):
            return self._object(schema, depth)
        if "array" in types:
            return self._array(schema, name, depth)
        if "integer" in types or "number" in types:
            return self._number(schema)
        if "boolean" in types:
            return True
        if "null" in types and "string" not in types:
            return None
        return self._text(schema.value or {}, name, schema.pointer)

    def _object(self, schema: Node, depth: int) -> dict[str, Any]:
        names = self._schemas.property_names(schema)
        if depth >= MAX_DEPTH:
            names = [n for n in names if n in self._schemas.required_names(schema)]
        members = {name: self._schemas.property_schema(schema, name) for name in names}
        return {
            name: self.value(member, name, depth + 1)
            for name, member in members.items()
            if member is not None
        }

    def _array(self, schema: Node, name: str, depth: int) -> list[Any]:
        items = self._schemas.items_schema(schema)
        fewest: int = schema.value.get("minItems", 0)
        if items is None or (depth >= MAX_DEPTH and not fewest):
            return []
        return [self.value(items, name.removesuffix("s"), depth + 1)] * max(1, fewest)

    def _number(self, schema: Node) -> float:
        """Tries what the bounds suggest until the schema takes one."""
        said = schema.value
        bounds = [
            said[keyword] for keyword in _BOUNDS if isinstance(said.get(keyword), int | float)
        ]
        near = [bound + step for bound in bounds for step in (0, 1, -1, 0.5, -0.5)]
        whole = [-(-bound // 1) * said.get("multipleOf", 1) for bound in bounds]
        takes = self._schemas.validator(schema).is_valid
        return next((number for number in (1, *near, *whole) if takes(number)), 1)

    def _text(self, said: dict[str, Any], name: str, pointer: str) -> str:
        if "pattern" in said:
            return _matching(said["pattern"], self._seed)
        fake = _seeded_faker(f"{self._seed} {pointer}")
        make = _BY_FORMAT.get(said.get("format", "")) or _BY_NAME.get(name.lower())
        text: str = make(fake) if make else fake.word()
        shortest = said.get("minLength", 0)
        while len(text) < shortest:
            text += f" {fake.word()}"
        return text[: max(shortest, said["maxLength"])] if "maxLength" in said else text


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


def _seeded_faker(seed: str) -> Any:
    fake = _faker()
    fake.seed_instance(seed)
    return fake


@cache
def _faker() -> Any:
    from faker import Faker  # noqa: PLC0415 - 0.1 s at start, for what most runs never need

    return Faker()


def _matching(pattern: str, seed: int) -> str:
    from random import Random  # noqa: PLC0415, TID251 - seeded, and only where a pattern is

    from rstr import Rstr  # noqa: PLC0415 - only where a pattern is

    text: str = Rstr(Random(seed)).xeger(pattern)
    return text
