"""The plain request of an operation, that every case deviates from: the document's own examples.

Where it gives none, a value is made that the schema takes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from understudy.contract.edge_cases import (
    credentials,
    parameters,
    service,
    uploads,
)
from understudy.contract.edge_cases.case import Site, encoded_variable, variable
from understudy.contract.edge_cases.drafts import FORM, JSON, MULTIPART, Draft, encoded
from understudy.contract.edge_cases.pictures import png
from understudy.contract.edge_cases.values import Values
from understudy.document.loader import Document, Node
from understudy.document.operations import Operation, Parameter

_BEARER_TYPES = ("oauth2", "openIdConnect")


class PlainRequests:
    """Makes the plain request of each operation of a document.

    Args:
        document: The document.
        site: Which address its operations are at.
        values: Makes values for its schemas.
    """

    def __init__(self, document: Document, site: Site, values: Values) -> None:
        self._document = document
        self._site: Site = site
        self._values = values

    def draft(self, operation: Operation) -> Draft:
        """Returns the plain request: what is required, from the document's examples."""
        draft = Draft(self._site, operation.method, operation.path)
        for parameter in operation.parameters:
            draft = self._with_parameter(draft, parameter)
        draft = self._with_credentials(draft, operation)
        media_type, schema = body_of(operation)
        if not media_type:
            return draft
        draft = draft._replace(content_type=media_type)
        value = self._body_value(operation, media_type, schema)
        if media_type == JSON:
            return draft._replace(json=value, has_json=True)
        members = value if isinstance(value, dict) else {}
        if media_type == FORM:
            written = parameters.written
            pairs = ((encoded(name), encoded(written(text))) for name, text in members.items())
            return draft._replace(form=tuple(pairs))
        if media_type == MULTIPART and schema is not None:
            files = {name: png() for name in self.files(schema)}
            return draft._replace(parts=uploads.base_parts(iter({**members, **files}.items())))
        return draft._replace(raw=png() if media_type.startswith("image/") else b"understudy")

    def _body_value(self, operation: Operation, media_type: str, schema: Node | None) -> Any:
        assert operation.request_body is not None
        examples = operation.request_body.content[media_type].examples.values()
        if schema is None:
            return next(iter(examples), {})
        takes = self._values.schemas.validator(schema).is_valid
        fitting = next((example for example in examples if takes(example)), None)
        return self._values.sample(schema) if fitting is None else fitting

    def _with_parameter(self, draft: Draft, parameter: Parameter) -> Draft:
        name, is_needed = parameter.name, parameter.required or parameter.location == "path"
        if not is_needed:
            return draft
        value = "a" if parameter.schema is None else self._example(parameter.schema)
        if parameter.location == "path":
            text = encoded(parameters.written(value)) or "a"
            return draft._replace(places=(*draft.places, (name, text)))
        if parameter.location == "query":
            return draft._replace(query=(*draft.query, *_pairs(parameter, value)))
        header = "Cookie" if parameter.location == "cookie" else name
        text = parameters.written(value)
        return draft.with_headers(header, f"{name}={text}" if header == "Cookie" else text)

    def _example(self, schema: Node) -> Any:
        owner = self._owner(schema)
        takes = self._values.schemas.validator(schema).is_valid
        listed = owner.get("examples") or {}
        named = (entry.get("value") for entry in listed.values() if isinstance(entry, dict))
        given = (*([owner["example"]] if "example" in owner else []), *named)
        fitting = next((value for value in given if takes(value)), None)
        return self._values.sample(schema) if fitting is None else fitting

    def _owner(self, schema: Node) -> Mapping[str, Any]:
        """Returns the parameter that a schema stands in: its examples are there."""
        node: Node | None = self._document.root
        for step in schema.pointer[2:].split("/")[:-1]:
            key = step.replace("~1", "/").replace("~0", "~")
            is_list = node is not None and isinstance(node.value, list)
            node = node and node.child(int(key) if is_list else key)
        return node.value if node is not None and isinstance(node.value, dict) else {}

    def _with_credentials(self, draft: Draft, operation: Operation) -> Draft:
        if self.access(operation):
            return draft.with_headers("Authorization", f"Bearer {credentials.TOKEN}")
        if not operation.security or {} in operation.security:
            return draft
        for name in operation.security[0]:
            scheme, text = self._scheme(name), variable("credential")
            if scheme.get("in") == "query":
                draft = draft.with_query(
                    encoded(str(scheme.get("name"))), encoded_variable("credential")
                )
            elif scheme.get("in") == "cookie":
                draft = draft.with_headers("Cookie", f"{scheme.get('name')}={text}")
            else:
                draft = draft.with_headers(str(scheme.get("name", "Authorization")), text)
        return draft

    def access(self, operation: Operation) -> str:
        """Returns whether a bearer token is required, optional, or nothing (an empty text)."""
        named = {name for alternative in operation.security for name in alternative}
        if not any(_is_bearer(self._scheme(name)) for name in named):
            return ""
        is_lookup = (operation.method, shape_of(operation.path)) == service.LOOKUP
        return "optional" if {} in operation.security or is_lookup else "required"

    def _scheme(self, name: str) -> Mapping[str, Any]:
        node = self._document.root.child("components", "securitySchemes", name)
        found: Mapping[str, Any] = {} if node is None else self._document.follow(node).value
        return found

    def files(self, schema: Node) -> Iterator[str]:
        """Yields the members of a form that are files."""
        schemas = self._values.schemas
        for name in dict.fromkeys(schemas.property_names(schema)):
            member = schemas.property_schema(schema, name)
            said = {} if member is None else self._values.says(member)
            if said.get("format") == "binary" or "contentMediaType" in said or not said:
                yield name


def shape_of(path: str) -> str:
    """Returns a path with ``{}`` for each parameter, as documents name them differently."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def _is_bearer(scheme: Mapping[str, Any]) -> bool:
    is_http = scheme.get("type") == "http" and str(scheme.get("scheme")).lower() == "bearer"
    return is_http or scheme.get("type") in _BEARER_TYPES


def body_of(operation: Operation) -> tuple[str, Node | None]:
    """Returns the media type that cases send, and its schema; nothing where no body is taken."""
    if operation.request_body is None:
        return "", None
    content = operation.request_body.content
    chosen = next(
        (name for name in (JSON, FORM, MULTIPART) if name in content), next(iter(content))
    )
    return chosen, content[chosen].schema


def _pairs(parameter: Parameter, value: Any) -> Iterable[tuple[str, str]]:
    """Yields an array or object as the document's style writes it (OpenAPI 3.0.3, 4.7.12.2)."""
    name, written = encoded(parameter.name), parameters.written
    if isinstance(value, dict) and parameter.style == "deepObject":
        return tuple((f"{name}%5B{encoded(k)}%5D", encoded(written(v))) for k, v in value.items())
    if isinstance(value, list) and parameter.explode:
        return tuple((name, encoded(written(item))) for item in value)
    if isinstance(value, list):
        return ((name, ",".join(encoded(written(item)) for item in value)),)
    return ((name, encoded(written(value))),)
