"""The plain request of an operation, which every case changes: made of the document's examples.

Where the document gives no example, a value is made that the schema accepts.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from understudy.cases import protocol, uploads
from understudy.cases.drafts import FORM, JSON, MULTIPART, Draft, is_json
from understudy.cases.edges import SchemaValues
from understudy.cases.model import CaseSite, encoded_variable, variable
from understudy.cases.uploads import png
from understudy.interface.operations import LOOKUP, key_of
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import FieldEncoding, Operation, Parameter
from understudy.openapi.parameter_writing import encoded, query_pairs, text_of, written

ANY_BYTES = ("image/", "application/octet-stream")
"""Prefixes of the media types for which a document cannot say which bytes are valid."""

_PRINTABLE = re.compile("[ -~]*")
"""The texts that every client can send in a header."""

_BEARER_TYPES = ("oauth2", "openIdConnect")


class PlainRequests:
    """Makes the plain request of each operation of a document.

    Args:
        document: The document.
        site: The address that its operations are at.
        values: Makes values for the document's schemas.
        own: The operations that the document shares with the interface.
    """

    def __init__(
        self,
        document: Document,
        site: CaseSite,
        values: SchemaValues,
        own: frozenset[str] = frozenset(),
    ) -> None:
        self._document = document
        self._own = own
        self._site: CaseSite = site
        self._values = values

    def draft(self, operation: Operation) -> Draft:
        """Returns the plain request: what is required, with the document's examples."""
        draft = Draft(self._site, operation.method, operation.path)
        for parameter in operation.parameters:
            draft = self._with_parameter(draft, parameter)
        draft = self._with_credentials(draft, operation)
        media_type, schema = body_of(operation)
        if not media_type:
            return draft
        draft = draft._replace(content_type=media_type)
        value = self._body_value(operation, media_type, schema)
        if is_json(media_type):
            return draft._replace(json=value, has_json=True)
        members = value if isinstance(value, dict) else {}
        if media_type == FORM:
            assert operation.request_body is not None
            encodings = operation.request_body.content[media_type].encoding
            fields = (_field_pairs(n, it, encodings.get(n)) for n, it in members.items())
            return draft._replace(form=tuple(chain.from_iterable(fields)))
        if media_type == MULTIPART and schema is not None:
            files = {name: png() for name in self.file_fields(schema)}
            parts = ((n, item) for n, it in {**members, **files}.items() for item in _items(it))
            return draft._replace(parts=uploads.base_parts(parts))
        if media_type.startswith("image/"):
            return draft._replace(raw=png(), content_type=media_type.replace("*", "png"))
        return draft._replace(raw=(value if isinstance(value, str) else "understudy").encode())

    def uncertain_part(self, operation: Operation) -> str:
        """Returns the part for which no value was found that its schema accepts, or an empty string."""
        for parameter in operation.parameters:
            schema = parameter.schema
            is_needed = parameter.required or parameter.location == "path"
            if (
                schema is not None
                and is_needed
                and not self._accepts(schema, self._example(schema))
            ):
                return f"{parameter.location} {parameter.name}"
        media_type, schema = body_of(operation)
        if media_type.startswith(ANY_BYTES):
            return ""
        if not media_type.startswith("text/plain") and not _is_structured(media_type):
            return "body" if media_type else ""
        value = None if schema is None else self._body_value(operation, media_type, schema)
        is_fitting = schema is None or media_type == MULTIPART or self._accepts(schema, value)
        return "" if is_fitting else "body"

    def _accepts(self, schema: Node, value: Any) -> bool:
        return bool(self._values.schemas.validator(schema).is_valid(value))

    def _body_value(self, operation: Operation, media_type: str, schema: Node | None) -> Any:
        assert operation.request_body is not None
        examples = operation.request_body.content[media_type].examples.values()
        if schema is None:
            return next(iter(examples), {})
        is_accepted = self._values.schemas.validator(schema).is_valid
        fitting = next((example for example in examples if is_accepted(example)), None)
        return self._values.sample(schema) if fitting is None else fitting

    def _with_parameter(self, draft: Draft, parameter: Parameter) -> Draft:
        name, is_needed = parameter.name, parameter.required or parameter.location == "path"
        if not is_needed:
            return draft
        value = "a" if parameter.schema is None else self._example(parameter.schema)
        if parameter.location == "path":
            text = text_of(parameter, value) or "a"
            return draft._replace(places=(*draft.places, (name, text)))
        if parameter.location == "query":
            return draft._replace(query=(*draft.query, *query_pairs(parameter, value)))
        if parameter.location == "cookie":
            return draft.with_cookie(name, text_of(parameter, value))
        text = text_of(parameter, value, str)
        return draft.with_headers(name, text if _PRINTABLE.fullmatch(text) else "a")

    def _example(self, schema: Node) -> Any:
        parameter = self._parameter_of(schema)
        is_accepted = self._values.schemas.validator(schema).is_valid
        listed = parameter.get("examples") or {}
        named = (entry.get("value") for entry in listed.values() if isinstance(entry, dict))
        examples = (*([parameter["example"]] if "example" in parameter else []), *named)
        fitting = next((value for value in examples if is_accepted(value)), None)
        return self._values.sample(schema) if fitting is None else fitting

    def _parameter_of(self, schema: Node) -> Mapping[str, Any]:
        """Returns the parameter object that a schema belongs to, which holds its examples."""
        node: Node | None = self._document.root
        for step in schema.pointer[2:].split("/")[:-1]:
            key = step.replace("~1", "/").replace("~0", "~")
            is_list = node is not None and isinstance(node.value, list)
            node = node and node.child(int(key) if is_list else key)
        return node.value if node is not None and isinstance(node.value, dict) else {}

    def _with_credentials(self, draft: Draft, operation: Operation) -> Draft:
        """Returns the draft with every credential of the first alternative, or with none needed.

        A request has one Authorization header, so a token wins over other schemes in it.
        """
        has_token = bool(self.bearer_access(operation))
        if has_token:
            draft = draft.with_headers("Authorization", f"Bearer {protocol.BEARER_TOKEN}")
        if not operation.security or {} in operation.security:
            return draft
        for name in operation.security[0]:
            draft = self._with_credential(draft, self._scheme(name), has_token=has_token)
        return draft

    def _with_credential(
        self, draft: Draft, scheme: Mapping[str, Any], *, has_token: bool
    ) -> Draft:
        kind, place, name = scheme.get("type"), scheme.get("in"), str(scheme.get("name"))
        text = variable("CREDENTIAL")
        if kind == "http" and not has_token:
            return draft.with_headers("Authorization", _credential(str(scheme.get("scheme"))))
        if kind != "apiKey":
            return draft
        if place == "query":
            return draft.with_query(encoded(name), encoded_variable("CREDENTIAL"))
        if place == "cookie":
            return draft.with_cookie(name, text)
        is_taken = has_token and name.lower() == "authorization"
        return draft if is_taken else draft.with_headers(name, text)

    def bearer_access(self, operation: Operation) -> str:
        """Returns ``required`` or ``optional`` for a bearer token, or an empty string if none is taken.

        A plain request sends the first alternative, so a token of another one changes nothing.
        """
        sent = operation.security[:1] if {} not in operation.security else operation.security
        named = {name for alternative in sent for name in alternative}
        if not any(_is_bearer(self._scheme(name)) for name in named):
            return ""
        is_lookup = LOOKUP in self._own and key_of(operation.method, operation.path) == LOOKUP
        return "optional" if {} in operation.security or is_lookup else "required"

    def _scheme(self, name: str) -> Mapping[str, Any]:
        node = self._document.root.child("components", "securitySchemes", name)
        scheme: Mapping[str, Any] = {} if node is None else self._document.follow(node).value
        return scheme

    def file_fields(self, schema: Node) -> Iterator[str]:
        """Yields the names of a form's fields that are files."""
        schemas = self._values.schemas
        for name in dict.fromkeys(schemas.property_names(schema)):
            member = schemas.property_schema(schema, name)
            keywords = {} if member is None else self._values.keywords(member)
            is_binary = keywords.get("format") == "binary" or "contentMediaType" in keywords
            if is_binary or not keywords:
                yield name


def _field_pairs(
    name: str, value: Any, encoding: FieldEncoding | None
) -> tuple[tuple[str, str], ...]:
    """Returns the names and values that a field is written as: by its encoding, or else as JSON."""
    if encoding is not None and encoding.style and isinstance(value, list | dict):
        field = Parameter(
            name,
            "query",
            required=True,
            style=encoding.style,
            explode=encoding.explode,
            schema=None,
        )
        return query_pairs(field, value)
    return tuple((encoded(name), encoded(written(item))) for item in _items(value))


def _items(value: Any) -> list[Any]:
    """Returns the items of a list, each of which is its own field in a form."""
    return value if isinstance(value, list) else [value]


def _is_structured(media_type: str) -> bool:
    return is_json(media_type) or media_type in {FORM, MULTIPART}


def _credential(scheme: str) -> str:
    """Returns the value of ``Authorization`` for an HTTP scheme other than Bearer."""
    name = "BASIC_CREDENTIAL" if scheme.lower() == "basic" else "CREDENTIAL"
    return f"{scheme.capitalize()} {variable(name)}"


def _is_bearer(scheme: Mapping[str, Any]) -> bool:
    is_http = scheme.get("type") == "http" and str(scheme.get("scheme")).lower() == "bearer"
    return is_http or scheme.get("type") in _BEARER_TYPES


def body_of(operation: Operation) -> tuple[str, Node | None]:
    """Returns the media type that cases send and its schema, or an empty string and None."""
    if operation.request_body is None:
        return "", None
    content = operation.request_body.content
    first = next(iter(content))
    chosen = next((name for name in content if is_json(name)), first)
    chosen = next((name for name in (JSON, FORM, MULTIPART) if name in content), chosen)
    return chosen, content[chosen].schema
