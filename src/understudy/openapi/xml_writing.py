"""Writes values as XML by the ``xml`` members of their schemas (OpenAPI 3.0.3, XML Object)."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as Xml

from understudy.openapi.loader import Node
from understudy.openapi.parameter_writing import written
from understudy.openapi.schemas import ALL, Schemas

_SCHEMAS = "#/components/schemas/"
_ROOT = "root"
ITEM = "item"
"""Default name of the elements of a list that has no name itself: the root, or a nested list."""


class XmlWriter:
    """Writes XML for the schemas of one document."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas

    def write(self, value: Any, schema: Node | None) -> bytes:
        """Returns a value as an XML document in UTF-8.

        Args:
            value: The value, as parsed JSON.
            schema: Its schema, whose ``xml`` members name elements and attributes.
        """
        root = Xml.Element(self._tag(schema, _root_name(schema)))
        self._declare_namespace(root, schema)
        if isinstance(value, list):
            self._append_items(root, value, schema, ITEM)
        else:
            self._fill(root, value, schema)
        content: bytes = Xml.tostring(root, encoding="UTF-8", xml_declaration=True)
        return content

    def _fill(self, element: Xml.Element, value: Any, schema: Node | None) -> None:
        if not isinstance(value, dict):
            element.text = written(value)
            return
        for name, member in value.items():
            self._append(element, name, member, self._schemas.members(schema).get(name))

    def _append(self, parent: Xml.Element, name: str, value: Any, schema: Node | None) -> None:
        xml = self._xml(schema)
        if isinstance(value, list):
            if xml.get("wrapped"):
                parent = self._element(parent, name, schema)
            self._append_items(parent, value, schema, name)
        elif xml.get("attribute"):
            self._declare_namespace(parent, schema)
            parent.set(self._tag(schema, name), written(value))
        else:
            self._fill(self._element(parent, name, schema), value, schema)

    def _append_items(
        self, parent: Xml.Element, values: list[Any], schema: Node | None, name: str
    ) -> None:
        items = self._schemas.items(schema)
        for value in values:
            element = self._element(parent, name, items)
            if isinstance(value, list):
                self._append_items(element, value, items, ITEM)
            else:
                self._fill(element, value, items)

    def _element(self, parent: Xml.Element, name: str, schema: Node | None) -> Xml.Element:
        element = Xml.SubElement(parent, self._tag(schema, name))
        self._declare_namespace(element, schema)
        return element

    def _tag(self, schema: Node | None, name: str) -> str:
        xml = self._xml(schema)
        tag = str(xml.get("name", name))
        return f"{xml['prefix']}:{tag}" if xml.get("prefix") else tag

    def _declare_namespace(self, element: Xml.Element, schema: Node | None) -> None:
        xml = self._xml(schema)
        if xml.get("namespace"):
            prefix = xml.get("prefix")
            element.set(f"xmlns:{prefix}" if prefix else "xmlns", str(xml["namespace"]))

    def _xml(self, schema: Node | None) -> Mapping[str, Any]:
        """Returns the XML Object of a schema; empty if the schema is None or has none."""
        return {} if schema is None else xml_object(self._schemas, schema)


def xml_object(schemas: Schemas, schema: Node) -> Mapping[str, Any]:
    """Returns the XML Object of a schema, through references and ``allOf``; empty if it has none."""
    known = schemas.keyword(schema, "xml", ALL)
    return known if isinstance(known, dict) else {}


def _root_name(schema: Node | None) -> str:
    """Returns the default name of the root element: the component that the schema refers to."""
    reference = schema.value.get("$ref") if schema and isinstance(schema.value, dict) else None
    if isinstance(reference, str) and reference.startswith(_SCHEMAS):
        return unquote(reference).removeprefix(_SCHEMAS)
    return _ROOT
