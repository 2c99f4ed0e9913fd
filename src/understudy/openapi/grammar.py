"""The objects of OpenAPI 3.0 to 3.2 as a table: their members, and what each holds.

What a member holds is written in a small language: ``{x}`` is an object whose members are x, ``[x]``
a list of x, and a name is a scalar of ``SCALARS`` or a kind of object of ``MEMBERS``. ``any`` is data,
which nobody looks into.
"""

import re
from collections.abc import Mapping
from typing import Final

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")

PATH_PARAMETER: Final = re.compile(r"\{([^}]*)\}")
"""A name in braces in a path template."""

_TEXTS: Final = {"summary": "text", "description": "text"}
_EXAMPLES: Final = {"example": "any", "examples": "{example}"}
_PARAMETER: Final = {
    "description": "text",
    "required": "flag",
    "deprecated": "flag",
    "style": "text",
    "explode": "flag",
    "schema": "schema",
    "content": "{media type}",
    **_EXAMPLES,
}

MEMBERS: Final[Mapping[str, Mapping[str, str]]] = {
    "document": {
        "openapi": "any",
        "info": "info",
        "servers": "[server]",
        "paths": "paths",
        "webhooks": "{path item}",
        "components": "components",
        "security": "security",
        "tags": "[tag]",
        "externalDocs": "link to documentation",
        "jsonSchemaDialect": "text",
        "$self": "text",
    },
    "info": {
        "title": "text",
        **_TEXTS,
        "termsOfService": "text",
        "contact": "any",
        "license": "any",
        "version": "text",
    },
    "server": {
        "url": "text",
        "description": "text",
        "name": "text",
        "variables": "{server variable}",
    },
    "server variable": {"enum": "[text]", "default": "text", "description": "text"},
    "tag": {
        "name": "text",
        **_TEXTS,
        "externalDocs": "link to documentation",
        "parent": "text",
        "kind": "text",
    },
    "link to documentation": {"description": "text", "url": "text"},
    "components": {
        "schemas": "{schema}",
        "responses": "{response}",
        "parameters": "{parameter}",
        "examples": "{example}",
        "requestBodies": "{request body}",
        "headers": "{header}",
        "securitySchemes": "{security scheme}",
        "links": "{link}",
        "callbacks": "{callback}",
        "pathItems": "{path item}",
        "mediaTypes": "{media type}",
    },
    "path item": {
        **_TEXTS,
        "servers": "[server]",
        "parameters": "[parameter]",
        **dict.fromkeys(METHODS, "operation"),
        "additionalOperations": "{operation}",
    },
    "operation": {
        "tags": "[text]",
        **_TEXTS,
        "externalDocs": "link to documentation",
        "operationId": "text",
        "parameters": "[parameter]",
        "requestBody": "request body",
        "responses": "responses",
        "callbacks": "{callback}",
        "deprecated": "flag",
        "security": "security",
        "servers": "[server]",
    },
    "parameter": {
        "name": "text",
        "in": "text",
        **_PARAMETER,
        "allowEmptyValue": "flag",
        "allowReserved": "flag",
    },
    "header": _PARAMETER,
    "request body": {"description": "text", "content": "{media type}", "required": "flag"},
    "media type": {
        "schema": "schema",
        "itemSchema": "schema",
        **_EXAMPLES,
        "encoding": "{encoding}",
        "prefixEncoding": "[encoding]",
        "itemEncoding": "encoding",
    },
    "encoding": {
        "contentType": "text",
        "headers": "{header}",
        "style": "text",
        "explode": "flag",
        "allowReserved": "flag",
        "encoding": "{encoding}",
        "prefixEncoding": "[encoding]",
        "itemEncoding": "encoding",
    },
    "response": {
        **_TEXTS,
        "headers": "{header}",
        "content": "{media type}",
        "links": "{link}",
    },
    "example": {
        **_TEXTS,
        "value": "any",
        "externalValue": "text",
        "dataValue": "any",
        "serializedValue": "text",
    },
    "link": {
        "operationRef": "text",
        "operationId": "text",
        "parameters": "any",
        "requestBody": "any",
        "description": "text",
        "server": "server",
    },
    "security scheme": {
        "type": "text",
        "description": "text",
        "name": "text",
        "in": "text",
        "scheme": "text",
        "bearerFormat": "text",
        "flows": "{flow}",
        "openIdConnectUrl": "text",
        "oauth2MetadataUrl": "text",
        "deprecated": "flag",
    },
    "flow": {
        "authorizationUrl": "text",
        "deviceAuthorizationUrl": "text",
        "tokenUrl": "text",
        "refreshUrl": "text",
        "scopes": "{text}",
    },
    "discriminator": {"propertyName": "text", "mapping": "{text}", "defaultMapping": "text"},
    "schema": {
        **dict.fromkeys(("type", "enum", "const", "default", "example", "xml"), "any"),
        **dict.fromkeys(("title", "description", "format", "$comment"), "text"),
        **dict.fromkeys(("contentEncoding", "contentMediaType"), "text"),
        **dict.fromkeys(("minimum", "maximum", "multipleOf"), "number"),
        **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), "any"),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), "count"),
        **dict.fromkeys(("minProperties", "maxProperties"), "count"),
        **dict.fromkeys(("minContains", "maxContains"), "count"),
        **dict.fromkeys(("uniqueItems", "nullable", "readOnly", "writeOnly", "deprecated"), "flag"),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), "[schema]"),
        **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames"), "schema"),
        **dict.fromkeys(("items", "additionalItems", "additionalProperties"), "schema"),
        **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties", "contentSchema"), "schema"),
        **dict.fromkeys(("properties", "dependentSchemas", "$defs", "definitions"), "{schema}"),
        "patternProperties": "patterns",
        "pattern": "pattern",
        "required": "[text]",
        "dependentRequired": "{[text]}",
        "dependencies": "any",
        "examples": "any",
        "discriminator": "discriminator",
        "externalDocs": "link to documentation",
        "$vocabulary": "any",
        "$schema": "any",
        "$id": "any",
        "$anchor": "any",
        "$dynamicAnchor": "any",
    },
}
"""Kind of object to its members, ``$ref`` left out."""

MAPS: Final = {
    "paths": "path item",
    "callback": "path item",
    "responses": "response",
    "patterns": "schema",
}
"""Kind of object whose members have names of their own, to what they hold."""

REQUIRED: Final[Mapping[str, Mapping[str, object]]] = {
    "document": {"info": {}, "paths": {}},
    "info": {"title": "untitled", "version": "0"},
    "server": {"url": "/"},
    "operation": {"responses": {}},
    "request body": {"content": {}},
    "response": {"description": ""},
}
"""Members that must be there, and what they are where they are not."""

OPTIONAL_SINCE: Final[Mapping[tuple[str, str], str]] = {
    ("document", "paths"): "3.1",
    ("operation", "responses"): "3.1",
    ("response", "description"): "3.2",
}
"""Kind and member to the version since which it need not be there."""

REFERENCED: Final = frozenset(
    {
        *("schema", "parameter", "request body", "response", "header", "example"),
        *("link", "callback", "path item", "security scheme", "media type", "operation"),
    }
)
"""Kinds that a Reference Object may stand for; for operations only in what people write."""

OPENED: Final[Mapping[str, str]] = {
    "schema": "any value is taken",
    "parameter": "the parameter is not read",
    "request body": "no body is read",
    "response": "the response has no content",
}
"""Kinds that an operation can be served without, and what holds where the reference leads nowhere."""

NEEDED: Final = frozenset({"path item", "operation"})
"""Kinds without which an operation cannot be served."""
