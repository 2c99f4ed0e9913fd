"""Converts Swagger 2.0 to OpenAPI 3.0, as no maintained library for Python does.

Members that both versions have are copied, valid or not; mending corrects them later, as in any
document. Shared parameters and responses are copied into each operation, since their media types are
the operation's. OpenAPI 3.0 cannot express lists separated by tabs (``collectionFormat: tsv``) and
nested lists of parameters, so these are not converted.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final
from urllib.parse import unquote

from understudy.openapi.media_types import JSON, MULTIPART, URLENCODED
from understudy.openapi.pointers import value_at

_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_SCHEMA_MEMBERS: Final = tuple(
    (
        "type format items default enum pattern multipleOf x-nullable maximum exclusiveMaximum"
        " minimum exclusiveMinimum maxLength minLength maxItems minItems uniqueItems"
    ).split()
)
_STYLES: Final = {
    "multi": {"style": "form", "explode": True},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
}
"""``collectionFormat`` to style; all other formats are read as separated by commas."""
_BODY: Final = frozenset({"body", "formData"})
"""Locations of parameters that become the request body in OpenAPI 3.0."""
_FLOWS: Final = {"application": "clientCredentials", "accessCode": "authorizationCode"}


def converted(swagger: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a Swagger 2.0 document as OpenAPI 3.0.3."""
    conversion = _Conversion(swagger)
    kept = ("info", "tags", "externalDocs", "security")
    document = {
        "openapi": "3.0.3",
        **{name: swagger[name] for name in swagger if name in kept or name.startswith("x-")},
        "servers": list(_servers(swagger)),
        "paths": {
            path: conversion.path_item(item) for path, item in _members(swagger, "paths").items()
        },
        "components": {
            "schemas": _members(swagger, "definitions"),
            "securitySchemes": {
                name: _security_scheme(scheme)
                for name, scheme in _members(swagger, "securityDefinitions").items()
            },
        },
    }
    rewritten: dict[str, Any] = _rewritten(document)
    return rewritten


class _Conversion:
    """Converts the paths of one document."""

    def __init__(self, swagger: Mapping[str, Any]) -> None:
        self._swagger = swagger

    def path_item(self, item: Any) -> Any:
        """Returns a converted path item, with its parameters moved into its operations."""
        if not isinstance(item, dict):
            return item
        shared = self._parameters(item)
        return {
            name: self._operation(value, shared)
            if name in _METHODS and isinstance(value, dict)
            else value
            for name, value in item.items()
            if name != "parameters"
        }

    def _operation(self, operation: Mapping[str, Any], shared: Sequence[Any]) -> dict[str, Any]:
        left_out = {"parameters", "responses", "consumes", "produces", "schemes"}
        result = {name: value for name, value in operation.items() if name not in left_out}
        merged = {
            (str(it.get("name")), str(it.get("in"))): it
            for it in (*shared, *self._parameters(operation))
        }
        parameters = list(merged.values())
        consumes = self._media_types(operation, "consumes")
        plain = [_parameter(it) for it in parameters if str(it.get("in")) not in _BODY]
        body = _request_body(parameters, consumes)
        return {
            **result,
            **({"parameters": plain} if plain else {}),
            **({"requestBody": body} if body else {}),
            "responses": {
                str(status): self._response(response, self._media_types(operation, "produces"))
                for status, response in _members(operation, "responses").items()
            },
        }

    def _parameters(self, owner: Mapping[str, Any]) -> list[dict[str, Any]]:
        listed = owner.get("parameters")
        found = [self._followed(it) for it in listed] if isinstance(listed, list) else []
        return [it for it in found if isinstance(it, dict)]

    def _media_types(self, operation: Mapping[str, Any], name: str) -> list[str]:
        named = operation.get(name, self._swagger.get(name))
        return list(map(str, named)) if isinstance(named, list) and named else [JSON]

    def _response(self, response: Any, produces: Sequence[str]) -> Any:
        response = self._followed(response)
        if not isinstance(response, dict) or "$ref" in response:
            return response
        result = {
            name: value
            for name, value in response.items()
            if name not in {"schema", "examples", "headers"}
        }
        examples = _members(response, "examples")
        media = {"schema": response["schema"]} if "schema" in response else {}
        names = [*(produces if media else ()), *examples]
        content = {
            name: {**media, **({"example": examples[name]} if name in examples else {})}
            for name in names
        }
        headers = {name: _header(it) for name, it in _members(response, "headers").items()}
        return {
            **result,
            **({"content": content} if content else {}),
            **({"headers": headers} if headers else {}),
        }

    def _followed(self, value: Any) -> Any:
        """Returns a copy of a referenced parameter or response; other references stay as they are."""
        reference = value.get("$ref") if isinstance(value, dict) else None
        if isinstance(reference, str) and reference.startswith(("#/parameters/", "#/responses/")):
            try:
                return deepcopy(value_at(self._swagger, unquote(reference)))
            except LookupError:
                return value  # mending reports the dangling reference
        return value


def _members(owner: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = owner.get(name)
    return value if isinstance(value, dict) else {}


def _servers(swagger: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    base_path = str(swagger.get("basePath") or "/")
    if "host" not in swagger:
        yield {"url": base_path}
        return
    schemes = swagger.get("schemes")
    for scheme in schemes if schemes and isinstance(schemes, list) else ["https"]:
        yield {"url": f"{scheme}://{swagger['host']}{base_path}"}


def _parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    moved = {"collectionFormat", "in", "name", "$ref"} | set(_SCHEMA_MEMBERS)
    if "$ref" in parameter:
        return dict(parameter)
    place = parameter.get("in")
    return {
        **{name: parameter[name] for name in ("name", "in") if name in parameter},
        **{name: value for name, value in parameter.items() if name not in moved},
        **(_list_style(parameter) if place == "query" else {}),
        "schema": _schema(parameter),
    }


def _list_style(parameter: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns style and explode of a list in a query or form; empty for other types."""
    if parameter.get("type") != "array":
        return {}
    return _STYLES.get(str(parameter.get("collectionFormat")), {"style": "form", "explode": False})


def _header(header: Any) -> Any:
    if not isinstance(header, dict):
        return header
    described = {"description": header["description"]} if "description" in header else {}
    return {**described, "schema": _schema(header)}


def _schema(owner: Mapping[str, Any]) -> dict[str, Any]:
    schema = {name: owner[name] for name in _SCHEMA_MEMBERS if name in owner}
    if schema.get("type") == "file":
        schema |= {"type": "string", "format": "binary"}
    if isinstance(schema.get("items"), dict):
        schema["items"] = {k: v for k, v in schema["items"].items() if k != "collectionFormat"}
    return schema


def _request_body(
    parameters: Sequence[Mapping[str, Any]], consumes: Sequence[str]
) -> dict[str, Any] | None:
    body = next((it for it in parameters if it.get("in") == "body"), None)
    if body is not None:
        media = {"schema": body.get("schema", {})}
        described = {"description": body["description"]} if "description" in body else {}
        required = {"required": True} if body.get("required") is True else {}
        return {**described, **required, "content": dict.fromkeys(consumes, media)}
    fields = [it for it in parameters if it.get("in") == "formData"]
    if not fields:
        return None
    required_names = [str(it.get("name")) for it in fields if it.get("required") is True]
    schema = {
        "type": "object",
        "properties": {
            str(it.get("name")): {
                **_schema(it),
                **({"description": it["description"]} if "description" in it else {}),
            }
            for it in fields
        },
        **({"required": required_names} if required_names else {}),
    }
    has_file = any(it.get("type") == "file" for it in fields)
    forms = [name for name in consumes if name in {URLENCODED, MULTIPART}]
    names = [MULTIPART] if has_file else forms or [URLENCODED]
    is_required = {"required": True} if required_names else {}
    styles = {str(it.get("name")): dict(_list_style(it)) for it in fields}
    encoding = {name: style for name, style in styles.items() if style}
    media = {"schema": schema, **({"encoding": encoding} if encoding else {})}
    return {**is_required, "content": dict.fromkeys(names, media)}


def _security_scheme(scheme: Any) -> Any:
    if not isinstance(scheme, dict):
        return scheme
    if scheme.get("type") == "basic":
        kept = {name: value for name, value in scheme.items() if name != "type"}
        return {**kept, "type": "http", "scheme": "basic"}
    if scheme.get("type") != "oauth2":
        return scheme
    of_flow = ("authorizationUrl", "tokenUrl", "scopes")
    flow = {"scopes": {}, **{name: scheme[name] for name in of_flow if name in scheme}}
    name = str(scheme.get("flow", "implicit"))
    kept = {name: value for name, value in scheme.items() if name not in {*of_flow, "flow"}}
    return {**kept, "flows": {_FLOWS.get(name, name): flow}}


def _rewritten(value: Any) -> Any:
    """Returns a copy with references and keywords of schemas in the form of OpenAPI 3.0."""
    if isinstance(value, list):
        return [_rewritten(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {name: _rewritten(member) for name, member in value.items()}
    reference = result.get("$ref")
    if isinstance(reference, str):
        result["$ref"] = reference.replace("#/definitions/", "#/components/schemas/", 1)
    if isinstance(result.get("discriminator"), str):
        result["discriminator"] = {"propertyName": result["discriminator"]}
    if result.get("x-nullable") is True:
        result["nullable"] = result.pop("x-nullable")
    return result
