"""Reads arrays and objects as the styles of OpenAPI write them (OpenAPI 3.0.3, 4.7.12.2)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Final

import orjson

from understudy.errors import BadRequest
from understudy.openapi.loader import Node
from understudy.openapi.members import item_schema, member_names, member_schema
from understudy.openapi.schemas import Schemas

ABSENT: Final = object()

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})", re.ASCII)
_NUMBER = re.compile(
    r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][-+]?[0-9]{1,3})?", re.ASCII
)
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}
_KEYS = re.compile(r"\[([^\]\[]*)\]")
_MAX_INDEX = 1000

Texts = Mapping[str, Sequence[str]]
"""Name to every value given, in order."""


def convert(text: str, types: frozenset[str]) -> Any:
    """Returns a text as the most specific of these JSON types that it can be read as.

    A text that is none of them stays a string, for the validator to name.
    """
    if not types or types == {"string"}:
        return text
    if "integer" in types and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types and _NUMBER.fullmatch(text):
        return float(text)
    if "boolean" in types and text in {"true", "false"}:
        return text == "true"
    if "null" in types and "string" not in types and text in {"", "null"}:
        return None
    return text


class StyleReader:
    """Reads the arrays and objects of one parameter or form field.

    Args:
        label: Names it in a refusal.
        key: Its name, as requests have it.
        style: How it is written.
        explode: Whether each item or member is written by itself.
        schema: Its schema.
        schemas: The document's validators.
    """

    def __init__(
        self,
        label: str,
        key: str,
        style: str,
        *,
        explode: bool,
        schema: Node,
        schemas: Schemas,
    ) -> None:
        self._label = label
        self._key = key
        self._style = style
        self._explode = explode
        self._schema = schema
        self._schemas = schemas
        self._types = schemas.types(schema)
        self._items = item_schema(schemas, schema)
        self._members = member_names(schemas, schema)

    @property
    def is_deep(self) -> bool:
        """True if members and items are written as ``name[member]=value``."""
        return self._style == "deepObject"

    def values(self, texts: Texts) -> Iterator[Any]:
        """Yields the values that the texts may mean, the likeliest first; none if it is absent.

        Raises:
            BadRequest: It is given several times, or not in its style.
        """
        if self._style == "deepObject":
            members = self._deep(texts)
            if members is not ABSENT:
                yield members
        elif self._style == "form" and self._explode and "object" in self._types:
            yield from self._spread(texts)
        listed = texts.get(self._key)
        if not listed and "array" in self._types:
            listed = texts.get(f"{self._key}[]")  # as many clients write a list
        if listed:
            yield from self._read([self._unprefixed(text) for text in listed])

    def _read(self, texts: list[str]) -> Iterator[Any]:
        if "array" in self._types:
            types = self._schemas.types(self._items)
            yield [_item(text, types) for text in self._split(texts)]
        is_spread = self._style == "deepObject" or (self._style == "form" and self._explode)
        if "object" in self._types and not is_spread:
            yield self._named(once(self._label, texts))
        others = self._types - {"array", "object"}
        is_list = "array" in self._types and len(texts) > 1
        if (others or not self._types) and not is_list:
            yield convert(once(self._label, texts), others)

    def _split(self, texts: Sequence[str]) -> list[str]:
        """Returns the texts of a list's items."""
        if self._style == "matrix" and self._explode:
            return [text for whole in texts for text in self._matrix_items(whole)]
        if self._style == "label" and self._explode:
            return [part for text in texts for part in text.split(".")]
        if self._explode and self._style in {"form", "deepObject"}:
            return list(texts)
        separator = _SEPARATORS.get(self._style, ",")
        return [part.strip() for text in texts for part in text.split(separator)]

    def _matrix_items(self, text: str) -> list[str]:
        return [part.removeprefix(f"{self._key}=") for part in text.split(";")]

    def _named(self, text: str) -> Any:
        """Returns the members of an object: ``a=1,b=2``, or names and values in turn."""
        if self._explode:
            separator = {"matrix": ";", "label": "."}.get(self._style, ",")
            pairs = [part.partition("=")[::2] for part in text.split(separator)]
        else:
            parts = text.split(_SEPARATORS.get(self._style, ","))
            if len(parts) % 2:
                return text
            pairs = list(pairwise(parts))[::2]
        return {name: self._member(name, [value]) for name, value in pairs}

    def _member(self, name: str, texts: Sequence[str]) -> Any:
        member = member_schema(self._schemas, self._schema, name)
        types = self._schemas.types(member)
        if "array" in types:
            return [
                convert(text, self._schemas.types(item_schema(self._schemas, member)))
                for text in texts
            ]
        return convert(once(f"{self._label}, member {name!r},", texts), types)

    def _spread(self, texts: Texts) -> Iterator[Any]:
        """Yields the object whose members are parameters by themselves."""
        members = {name: texts[name] for name in self._members or texts if name in texts}
        if members:
            yield {name: self._member(name, values) for name, values in members.items()}

    def _deep(self, texts: Texts) -> Any:
        """Returns the object that is written as ``name[member]=value``, of any depth."""
        tree: dict[str, Any] = {}
        for key, values in texts.items():
            name, bracket, _ = key.partition("[")
            if name == self._key and bracket:
                _plant(tree, _KEYS.findall(key), list(values))
        return self._grown(tree, self._schema, self._key) if tree else ABSENT

    def _grown(self, tree: dict[str, Any] | list[str], schema: Node | None, where: str) -> Any:
        """Returns what a tree of texts means by a schema."""
        types = self._schemas.types(schema)
        if isinstance(tree, list):
            if "array" not in types:
                return convert(once(f"Query parameter {where!r}", tree), types)
            items = self._schemas.types(item_schema(self._schemas, schema))
            return [convert(text, items) for text in tree]
        items_schema = item_schema(self._schemas, schema)
        if "array" in types and tree.keys() == {""}:
            return self._grown(tree[""], schema, where)
        if "array" in types and all(key.isdecimal() and int(key) < _MAX_INDEX for key in tree):
            order = sorted(tree, key=int)
            return [self._grown(tree[key], items_schema, f"{where}[{key}]") for key in order]
        return {
            name: self._grown(below, member_schema(self._schemas, schema, name), f"{where}[{name}]")
            for name, below in tree.items()
        }

    def _unprefixed(self, text: str) -> str:
        """Returns a text without what the styles of paths put before it.

        Raises:
            BadRequest: It is not in its style.
        """
        prefix = {"label": ".", "matrix": f";{self._key}="}.get(self._style, "")
        if self._style == "matrix" and self._explode and "object" in self._types:
            prefix = ";"
        if not text.startswith(prefix):
            msg = f"{self._label}: {text!r:.80} is not in the style {self._style}; begin with {prefix!r}."
            raise BadRequest(msg, code="invalid_parameter")
        return text[len(prefix) :]


def _item(text: str, types: frozenset[str]) -> Any:
    """Returns an item of a list; an object or a list in it is JSON, as no style writes it."""
    if types & {"array", "object"} and text[:1] in {"{", "["}:
        with suppress(ValueError):
            return orjson.loads(text)
    return convert(text, types)


def _plant(tree: dict[str, Any], keys: list[str], values: list[str]) -> None:
    """Puts texts where keys in brackets lead; an empty key, ``[]``, is one more item."""
    *above, last = [key for index, key in enumerate(keys) if key or index == 0]
    for key in above:
        below = tree.setdefault(key, {})
        if not isinstance(below, dict):
            return
        tree = below
    known = tree.setdefault(last, [])
    if isinstance(known, list):
        known += values


def once(label: str, values: Sequence[str]) -> str:
    """Returns the one text of a value.

    Raises:
        BadRequest: It is given several times.
    """
    if len(values) > 1:
        msg = f"{label} is given {len(values)} times; give it once."
        raise BadRequest(msg, code="repeated_parameter")
    return values[0]
