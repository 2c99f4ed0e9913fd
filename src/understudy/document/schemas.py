"""Validators for any schema of a document, compiled once by jsonschema-rs.

OpenAPI 3.0 has a dialect of its own; what it says otherwise than JSON Schema Draft 7 (``nullable``,
boolean ``exclusiveMinimum``) is said again in Draft 7's words, in place, so that every JSON pointer
into the document still holds. 3.1 is JSON Schema 2020-12 as it stands.
"""

from typing import Any
from urllib.parse import quote

import jsonschema_rs

from understudy.document.loader import Document, Node

_URI = "urn:understudy:document"
_NOT_SCHEMAS = frozenset({"example", "examples", "default", "enum", "const"})


class Schemas:
    """Compiles validators for the schemas of one document.

    Args:
        document: Where the schemas stand.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        draft = jsonschema_rs.Draft7 if document.is_30 else jsonschema_rs.Draft202012
        self._validator = (
            jsonschema_rs.Draft7Validator if document.is_30 else jsonschema_rs.Draft202012Validator
        )
        content = _in_draft_7(document.raw) if document.is_30 else document.raw
        self._registry = jsonschema_rs.Registry([(_URI, content)], draft=draft)
        self._compiled: dict[str, jsonschema_rs.Validator] = {}

    def validator(self, schema: Node) -> jsonschema_rs.Validator:
        """Returns the validator of a schema; the same one for the same place."""
        compiled = self._compiled.get(schema.pointer)
        if compiled is None:
            reference = {"$ref": _URI + "#" + quote(schema.pointer[1:], safe="/~")}
            compiled = self._validator(reference, registry=self._registry, validate_formats=True)
            self._compiled[schema.pointer] = compiled
        return compiled

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
        if schema.value.get("nullable") is True:
            types.add("null")
        return frozenset(types)

    def property_schema(self, schema: Node | None, name: str) -> Node | None:
        """Returns the schema of a member of an object schema, through references and ``allOf``."""
        if schema is None:
            return None
        schema = self._document.follow(schema)
        found = schema.child("properties", name)
        parts = schema.child("allOf")
        if found is None and parts is not None:
            candidates = (self.property_schema(part, name) for _, part in parts.children())
            found = next((part for part in candidates if part is not None), None)
        return found and self._document.follow(found)

    def property_names(self, schema: Node) -> list[str]:
        """Returns the names that an object schema declares, through references and ``allOf``."""
        schema = self._document.follow(schema)
        names = list(schema.value.get("properties", {}))
        for _, part in (schema.child("allOf") or Node("", [])).children():
            names += self.property_names(part)
        return names

    def required_names(self, schema: Node) -> list[str]:
        """Returns the members that an object schema requires, through references and ``allOf``."""
        schema = self._document.follow(schema)
        names = list(schema.value.get("required", []))
        for _, part in (schema.child("allOf") or Node("", [])).children():
            names += self.required_names(part)
        return names

    def follow(self, schema: Node) -> Node:
        """Returns the schema that a reference leads to, or the schema itself."""
        return self._document.follow(schema)

    def items_schema(self, schema: Node) -> Node | None:
        """Returns the schema of an array's items."""
        return self._document.follow(schema).child("items")


def _in_draft_7(value: Any) -> Any:
    """Returns the document with OpenAPI 3.0's own keywords said in Draft 7's."""
    if isinstance(value, list):
        return [_in_draft_7(item) for item in value]
    if not isinstance(value, dict):
        return value
    said = {k: v if k in _NOT_SCHEMAS else _in_draft_7(v) for k, v in value.items()}
    for bound in ("Minimum", "Maximum"):
        exclusive, inclusive = f"exclusive{bound}", bound.lower()
        if said.get(exclusive) is True and inclusive in said:
            said[exclusive] = said.pop(inclusive)
        elif isinstance(said.get(exclusive), bool):
            del said[exclusive]
    if said.get("nullable") is True:
        return _with_null(said)
    return said


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    del schema["nullable"]
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return schema
    return {"anyOf": [schema, {"type": "null"}]}
