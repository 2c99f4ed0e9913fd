"""The objects of OpenAPI 3.0 to 3.2 as a table: the members of each, and the kind of each member.

A kind is written in a small language: ``{x}`` is an object whose members are x, ``[x]`` is a list
of x, and a name is a scalar of ``mends.SCALARS`` or an object of ``MEMBERS``. ``any`` is data that
is not examined.
"""

import re
from collections.abc import Mapping
from typing import Final

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")

MOCK_PATHS: Final = ("/__admin", "/__console", "/__world")
"""First steps of the paths that a mock serves beside those of any document."""

PATH_PARAMETER: Final = re.compile(r"\{([^}]*)\}")
"""A parameter of a path template, such as ``{id}``; the group is its name."""


def _members(text: str) -> Mapping[str, str]:
    """Returns member to kind, read from ``kind: members; …``, as ``text: name url; flag: deprecated``."""
    held = (part.split(": ") for part in text.split("; "))
    return {name: kind for kind, names in held for name in names.split()}


MEMBERS: Final[Mapping[str, Mapping[str, str]]] = {
    "document": _members(
        "any: openapi; info: info; [server]: servers; paths: paths; {path item}: webhooks; "
        "components: components; security: security; [tag]: tags; "
        "link to documentation: externalDocs; text: jsonSchemaDialect $self"
    ),
    "info": _members(
        "text: title summary description termsOfService version; any: contact license"
    ),
    "server": _members("text: url description name; {server variable}: variables"),
    "server variable": _members("[text]: enum; text: default description"),
    "tag": _members(
        "text: name summary description parent kind; link to documentation: externalDocs"
    ),
    "link to documentation": _members("text: description url"),
    "components": _members(
        "{schema}: schemas; {response}: responses; {parameter}: parameters; "
        "{example}: examples; {request body}: requestBodies; {header}: headers; "
        "{security scheme}: securitySchemes; {link}: links; {callback}: callbacks; "
        "{path item}: pathItems; {media type}: mediaTypes"
    ),
    "path item": {
        **_members(
            "text: summary description; [server]: servers; [parameter]: parameters; "
            "{operation}: additionalOperations"
        ),
        **dict.fromkeys(METHODS, "operation"),
    },
    "operation": _members(
        "[text]: tags; text: summary description operationId; "
        "link to documentation: externalDocs; [parameter]: parameters; "
        "request body: requestBody; responses: responses; {callback}: callbacks; "
        "flag: deprecated; security: security; [server]: servers"
    ),
    "parameter": _members(
        "text: name in description style; "
        "flag: required deprecated explode allowEmptyValue allowReserved; schema: schema; "
        "{media type}: content; any: example; {example}: examples"
    ),
    "header": _members(
        "text: description style; flag: required deprecated explode; schema: schema; "
        "{media type}: content; any: example; {example}: examples"
    ),
    "request body": _members("text: description; {media type}: content; flag: required"),
    "media type": _members(
        "schema: schema itemSchema; any: example; {example}: examples; {encoding}: encoding; "
        "[encoding]: prefixEncoding; encoding: itemEncoding"
    ),
    "encoding": _members(
        "text: contentType style; {header}: headers; flag: explode allowReserved; "
        "{encoding}: encoding; [encoding]: prefixEncoding; encoding: itemEncoding"
    ),
    "response": _members(
        "text: summary description; {header}: headers; {media type}: content; {link}: links"
    ),
    "example": _members(
        "text: summary description externalValue serializedValue; any: value dataValue"
    ),
    "link": _members(
        "text: operationRef operationId description; any: parameters requestBody; server: server"
    ),
    "security scheme": _members(
        "text: type description name in scheme bearerFormat openIdConnectUrl "
        "oauth2MetadataUrl; {flow}: flows; flag: deprecated"
    ),
    "flow": _members(
        "text: authorizationUrl deviceAuthorizationUrl tokenUrl refreshUrl; {text}: scopes"
    ),
    "discriminator": _members("text: propertyName defaultMapping; {text}: mapping"),
    "schema": _members(
        "any: type enum const default example xml exclusiveMinimum exclusiveMaximum "
        "dependencies examples $vocabulary $schema $id $anchor $dynamicAnchor; "
        "text: title description format $comment contentEncoding contentMediaType; "
        "number: minimum maximum multipleOf; "
        "count: minLength maxLength minItems maxItems minProperties maxProperties "
        "minContains maxContains; flag: uniqueItems nullable readOnly writeOnly deprecated; "
        "[schema]: allOf anyOf oneOf prefixItems; "
        "schema: not if then else contains propertyNames items additionalItems "
        "additionalProperties unevaluatedItems unevaluatedProperties contentSchema; "
        "{schema}: properties dependentSchemas $defs definitions; patterns: patternProperties; "
        "pattern: pattern; [text]: required; {[text]}: dependentRequired; "
        "discriminator: discriminator; link to documentation: externalDocs"
    ),
}
"""Kind of object to its members and their kinds, without ``$ref``."""

MAPS: Final = {
    "paths": "path item",
    "callback": "path item",
    "responses": "response",
    "patterns": "schema",
}
"""Kind of object whose member names the author chooses, to the kind of its members."""

REQUIRED: Final[Mapping[str, Mapping[str, object]]] = {
    "document": {"info": {}, "paths": {}},
    "info": {"title": "untitled", "version": "0"},
    "server": {"url": "/"},
    "operation": {"responses": {}},
    "request body": {"content": {}},
    "response": {"description": ""},
}
"""Required members of each kind, and the value that is assumed if one is missing."""

OPTIONAL_SINCE: Final[Mapping[tuple[str, str], str]] = {
    ("document", "paths"): "3.1",
    ("operation", "responses"): "3.1",
    ("response", "description"): "3.2",
}
"""Kind and required member to the version since which the member is optional."""

REFERENCED: Final = frozenset(
    {
        *("schema", "parameter", "request body", "response", "header", "example"),
        *("link", "callback", "path item", "security scheme", "media type", "operation"),
    }
)
"""Kinds that a Reference Object may replace; operations only in practice, not in the specification."""

OPENED: Final[Mapping[str, str]] = {
    "schema": "any value is taken",
    "parameter": "the parameter is not read",
    "request body": "no body is read",
    "response": "the response has no content",
}
"""Kinds that an operation can do without, to the effect of a reference that leads nowhere."""

NEEDED: Final = frozenset({"path item", "operation"})
"""Kinds without which an operation cannot be served."""


def is_compound(kind: str) -> bool:
    """Tells whether values of a kind are objects or lists whose members have kinds."""
    return kind[0] in "[{" or kind in MAPS or kind in MEMBERS
