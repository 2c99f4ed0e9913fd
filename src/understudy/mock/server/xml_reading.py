"""Reads XML bodies as the values that their schemas describe (OpenAPI 3.0.3, XML Object)."""

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as Xml

from understudy.errors import BadRequest
from understudy.limits import JSON_BYTES, JSON_DEPTH
from understudy.mock.server.parameter_styles import convert
from understudy.mock.server.xml_bodies import xml_object
from understudy.openapi.loader import Node
from understudy.openapi.members import item_schema, member_names, member_schema
from understudy.openapi.schemas import Schemas


class XmlReader:
    """Reads XML for the schemas of one document.

    Args:
        schemas: The document's validators.
    """

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas

    def read(self, content: bytes, schema: Node) -> Any:
        """Returns what an XML document says, as JSON would have it.

        Args:
            content: The document, in UTF-8.
            schema: Its schema, whose ``xml`` members name elements and attributes.

        Raises:
            BadRequest: It is not XML, or declares a type of its own.
            LimitExceeded: It is too large or too deep.
        """
        JSON_BYTES.check(len(content))
        if b"<!" in content.replace(b"<!--", b"").replace(b"<![CDATA[", b"") or b"\0" in content:
            msg = "The body declares a document type, or is not UTF-8; send plain XML in UTF-8."
            raise BadRequest(msg, code="malformed_xml")
        try:
            root = Xml.fromstring(content)
        except Xml.ParseError as error:
            msg = f"The body is not XML: {error}."
            raise BadRequest(msg, code="malformed_xml") from error
        return self._value(root, schema, 0)

    def _value(self, element: Xml.Element, schema: Node | None, depth: int) -> Any:
        JSON_DEPTH.check(depth)
        types = self._schemas.types(schema)
        if "array" in types:
            items = item_schema(self._schemas, schema)
            return [self._value(child, items, depth + 1) for child in element]
        if "object" in types or len(element) or member_names(self._schemas, schema):
            return self._members(element, schema, depth)
        return convert(element.text or "", types)

    def _members(self, element: Xml.Element, schema: Node | None, depth: int) -> dict[str, Any]:
        declared = dict(self._declared(schema))
        members: dict[str, Any] = {}
        for tag, text in element.attrib.items():
            name, member = declared.get(_local(tag), (_local(tag), None))
            members[name] = convert(text, self._schemas.types(member))
        for child in element:
            name, member = declared.get(_local(child.tag), (_local(child.tag), None))
            is_list = member is not None and "array" in self._schemas.types(member)
            if is_list and member is not None and not self._is_wrapped(member):
                item = self._value(child, item_schema(self._schemas, member), depth + 1)
                members.setdefault(name, []).append(item)
            else:
                members[name] = self._value(child, member, depth + 1)
        return members

    def _declared(self, schema: Node | None) -> Iterator[tuple[str, tuple[str, Node]]]:
        """Yields each name that an element or attribute may have, with the member that it is."""
        for name in member_names(self._schemas, schema):
            member = member_schema(self._schemas, schema, name)
            assert member is not None
            items = item_schema(self._schemas, member)
            is_plain_list = items is not None and not self._is_wrapped(member)
            named = xml_object(self._schemas, items if is_plain_list and items else member)
            yield str(named.get("name", name)), (name, member)

    def _is_wrapped(self, schema: Node) -> bool:
        return bool(xml_object(self._schemas, schema).get("wrapped"))


def _local(tag: str) -> str:
    """Returns a name without its namespace."""
    return tag.rpartition("}")[2]
