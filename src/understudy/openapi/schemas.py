"""Compiles validators for the schemas of a document, once, with jsonschema-rs.

OpenAPI 3.0 has a dialect of its own; what differs from JSON Schema Draft 7 (``nullable``,
boolean ``exclusiveMinimum``) is translated to Draft 7, in place, so that every JSON pointer
into the document still holds. 3.1 is JSON Schema 2020-12.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from understudy.errors import StartupError
from understudy.limits import COMPOSED_SCHEMAS
from understudy.openapi.composition import Composition
from understudy.openapi.directions import Flag, flags_of, is_flagged, without_required
from understudy.openapi.loader import LITERALS, NAME_MAPS, Document, Node

_URI = "urn:understudy:document"
_JSON_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    dict: "object",
    list: "array",
    type(None): "null",
}
_UUID = re.compile("[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_FORMATS: dict[str, Callable[[str], bool]] = {"uuid": lambda text: bool(_UUID.fullmatch(text))}
"""Formats that documents in 3.0 use, and Draft 7 lacks."""
_NULL = {"type": "null"}


class Schemas:
    """Compiles validators for the schemas of one document.

    Args:
        document: The document with the schemas.
        optional: The flag of members that nothing has to have; None: what is required is required.
    """

    def __init__(self, document: Document, optional: Flag | None = None) -> None:
        self._document = document
        self._optional: Flag | None = optional
        self._validator = (
            jsonschema_rs.Draft7Validator if document.is_30 else jsonschema_rs.Draft202012Validator
        )
        self._compiled: dict[str, jsonschema_rs.Validator] = {}
        self._names: dict[str, Sequence[str]] = {}
        """Pointer of an object schema to the names that it declares."""
        self._composition = Composition(document.follow)

    @cached_property
    def _registry(self) -> jsonschema_rs.Registry:
        """The document, as validators follow its references; made for the first of them."""
        if self._document.is_30:
            content, draft = in_draft_7(self._document.raw), jsonschema_rs.Draft7
        else:
            content, draft = self._document.raw, jsonschema_rs.Draft202012
        return jsonschema_rs.Registry([(_URI, content)], draft=draft)

    @cached_property
    def _formats(self) -> dict[str, Callable[[str], bool]] | None:
        """The formats that Draft 7 lacks, where the document may name one.

        A validator that has formats of ours takes a quarter longer, whether a schema names them or not.
        """
        return _FORMATS if self._document.is_30 and "'uuid'" in repr(self._document.raw) else None

    @cached_property
    def flags(self) -> frozenset[Flag]:
        """The flags by which schemas of the document tell requests from responses."""
        return flags_of(self._document)

    @cached_property
    def for_requests(self) -> "Schemas":
        """The validators of requests, which need no ``readOnly`` member."""
        return self._without("readOnly")

    @cached_property
    def for_responses(self) -> "Schemas":
        """The validators of responses, which need no ``writeOnly`` member."""
        return self._without("writeOnly")

    def _without(self, flag: Flag) -> "Schemas":
        if flag not in self.flags:
            return self
        document = without_required(self._document, flag)
        return self if document is self._document else Schemas(document, optional=flag)

    def is_flagged(self, member: Node, flag: Flag) -> bool:
        """Tells whether a member's schema says that it is ``readOnly`` or ``writeOnly``."""
        return flag in self.flags and is_flagged(member, flag, self._document.follow)

    def validator(self, schema: Node) -> jsonschema_rs.Validator:
        """Returns the validator of a schema; the same one for the same place.

        Raises:
            StartupError: The schema is invalid, or composed of too many; the text says where and why.
        """
        compiled = self._compiled.get(schema.pointer)
        if compiled is None:
            compiled = self._compiled[schema.pointer] = self._compile(schema)
        return compiled

    def _compile(self, schema: Node) -> jsonschema_rs.Validator:
        composed = self._composition.count(schema)
        if composed > COMPOSED_SCHEMAS.most:
            msg = (
                f"{self._document.path}: {schema.pointer} is composed of {composed:,} schemas; "
                f"{COMPOSED_SCHEMAS.exceeded().message} Nest allOf, anyOf and oneOf less."
            )
            raise StartupError(msg)
        reference = {"$ref": _URI + "#" + quote(schema.pointer[1:], safe="/~")}
        try:
            return self._validator(
                reference, registry=self._registry, validate_formats=True, formats=self._formats
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            reason = getattr(error, "message", error)
            msg = f"{self._document.path}: {schema.pointer} is not a schema: {reason}."
            raise StartupError(msg) from error

    def types(self, schema: Node | None) -> frozenset[str]:
        """Returns the JSON types that a schema names, ``null`` among them; empty for any.

        What is composed is followed (``allOf``, ``anyOf``, ``oneOf``), because a parameter's text
        has to be read as some type before it can be judged.
        """
        if schema is None:
            return frozenset()
        schema = self._document.follow(schema)
        if not isinstance(schema.value, dict):
            return frozenset()
        named = schema.value.get("type", [])
        types = {named} if isinstance(named, str) else set(named)
        if not types:
            for keyword in ("allOf", "anyOf", "oneOf"):
                parts = schema.child(keyword)
                if parts is not None:
                    types |= {t for _, part in parts.children() for t in self.types(part)}
        if not types:
            known = [schema.value["const"]] if "const" in schema.value else schema.value.get("enum")
            types = {_JSON_TYPES[type(value)] for value in known or ()}
        if schema.value.get("nullable") is True:
            types.add("null")
        return frozenset(types)

    def property_schema(self, schema: Node | None, name: str) -> Node | None:
        """Returns the schema of a member of an object schema, through references and ``allOf``."""
        if schema is None:
            return None
        schema = self._document.follow(schema)
        member = schema.child("properties", name)
        parts = schema.child("allOf")
        if member is None and parts is not None:
            candidates = (self.property_schema(part, name) for _, part in parts.children())
            member = next((part for part in candidates if part is not None), None)
        return member and self._document.follow(member)

    def property_names(self, schema: Node) -> Sequence[str]:
        """Returns the names that an object schema declares, through references and ``allOf``."""
        names = self._names.get(schema.pointer)
        if names is None:
            names = self._names[schema.pointer] = self._property_names(schema)
        return names

    def _property_names(self, schema: Node) -> list[str]:
        schema = self._document.follow(schema)
        names = list((schema.child("properties") or Node("", {})).value)
        for _, part in (schema.child("allOf") or Node("", [])).children():
            names += self.property_names(part)
        return names

    def required_names(self, schema: Node) -> list[str]:
        """Returns the members that an object schema requires, through references and ``allOf``."""
        names = self._required_names(schema)
        if self._optional is None:
            return names
        members = {name: self.property_schema(schema, name) for name in names}
        return [
            name
            for name, member in members.items()
            if member is None or not self.is_flagged(member, self._optional)
        ]

    def _required_names(self, schema: Node) -> list[str]:
        schema = self._document.follow(schema)
        names = list((schema.child("required") or Node("", [])).value)
        for _, part in (schema.child("allOf") or Node("", [])).children():
            names += self._required_names(part)
        return names

    def follow(self, schema: Node) -> Node:
        """Returns the schema that a reference leads to, or the schema itself."""
        return self._document.follow(schema)

    def place(self, path: Iterable[str | int]) -> Node:
        """Returns where a validator's ``schema_path`` leads in the document as it was written."""
        place = self._document.root
        for step in path:
            below = place.child(step)
            if below is None:  # a keyword that the document says in its own dialect
                break
            place = below
        return place

    def items_schema(self, schema: Node) -> Node | None:
        """Returns the schema of an array's items."""
        return self._document.follow(schema).child("items")


def in_draft_7(value: Any, *, has_names: bool = False) -> Any:
    """Returns the document with OpenAPI 3.0's own keywords translated to Draft 7's."""
    if isinstance(value, list):
        return [in_draft_7(item) for item in value]
    if not isinstance(value, dict):
        return value
    rewritten = {
        k: v
        if k in LITERALS and not has_names
        else in_draft_7(v, has_names=not has_names and k in NAME_MAPS)
        for k, v in value.items()
    }
    return rewritten if has_names else _bounds_and_null(rewritten)


def _bounds_and_null(schema: dict[str, Any]) -> dict[str, Any]:
    for bound in ("Minimum", "Maximum"):
        exclusive, inclusive = f"exclusive{bound}", bound.lower()
        if schema.get(exclusive) is True and inclusive in schema:
            schema[exclusive] = schema.pop(inclusive)
        elif isinstance(schema.get(exclusive), bool):
            del schema[exclusive]
    return _with_null(schema) if schema.pop("nullable", None) is True else schema


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns a schema that takes null too, by changing only the keywords that would refuse it.

    None of its members moves, as ``{"anyOf": [schema, {"type": "null"}]}`` would move them all.
    """
    if "$ref" in schema:
        return {"anyOf": [schema, _NULL]}
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    if None not in schema.get("enum", [None]):
        schema["enum"] = [*schema["enum"], None]
    if "allOf" in schema:
        schema["allOf"] = [_with_null(part) for part in schema["allOf"]]
    if "anyOf" in schema:
        schema["anyOf"] = [*schema["anyOf"], _NULL]
    if "oneOf" in schema:
        exactly_null = {**_NULL, "not": {"anyOf": schema["oneOf"]}}
        schema["oneOf"] = [*schema["oneOf"], exactly_null]
    return schema
