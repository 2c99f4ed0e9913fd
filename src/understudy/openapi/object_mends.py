"""Mends what people write in the objects of OpenAPI: short forms, and those of Swagger 2.0."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from understudy.openapi.positions import Losses, Position, shown
from understudy.openapi.schema_mends import mend_pattern, mend_pattern_names

Mend = Callable[[Losses, Position], None]

_STATUS = re.compile(r"[1-5]([0-9][0-9]|XX|xx)|default")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_FIELD_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SCHEMA_KEYWORDS = (
    *("type", "format", "items", "default", "enum", "pattern", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems"),
    *("uniqueItems", "multipleOf", "nullable"),
)
_SHORT_FORMS = {"discriminator": "propertyName", "server": "url", "tag": "name"}
"""Kind to the member that a text in its place means."""
_EXAMPLE_MEMBERS = {"value", "externalValue", "dataValue", "serializedValue", "$ref"}
_JSON = "application/json"


def _mend_short_form(losses: Losses, place: Position) -> None:
    if isinstance(place.value, str):
        member = _SHORT_FORMS[place.kind]
        place.replace({member: place.value})
        losses.note("converted-value", place, f"a {place.kind} is an object; read as its {member}.")


def _mend_example(losses: Losses, place: Position) -> None:
    value = place.value
    is_described = isinstance(value, dict) and set(value) <= {"summary", "description"}
    if is_described or (isinstance(value, dict) and _EXAMPLE_MEMBERS & set(value)):
        return
    place.replace({"value": value})
    message = "an example is an object with a member value; read as that value."
    losses.note("converted-value", place, message)


def _mend_examples(losses: Losses, place: Position) -> None:
    """Names the examples that stand in a list, as those of a schema do."""
    examples = isinstance(place.value, dict) and place.value.get("examples")
    if isinstance(examples, list):
        at = place.below("examples", "any")
        at.replace({str(number): {"value": it} for number, it in enumerate(examples, start=1)})
        losses.note("converted-value", at, "examples here have names; read as a list of values.")


def _mend_parameter(losses: Losses, place: Position) -> None:
    _mend_examples(losses, place)
    value = place.value
    if not isinstance(value, dict) or "$ref" in value:
        return
    if value.get("in") == "path" and value.get("required") is not True:
        value["required"] = True
        message = f"the path parameter {value.get('name')!r} must say required: true; read as that."
        losses.note("missing-member", place, message)
    keywords = [name for name in _SCHEMA_KEYWORDS if name in value]
    if keywords and "schema" not in value and "content" not in value:
        value["schema"] = {name: value.pop(name) for name in keywords}
        message = f"{', '.join(keywords)} belong into a schema since OpenAPI 3.0; read as that."
        losses.note("other-dialect", place, message)


def _mend_body(losses: Losses, place: Position) -> None:
    value = place.value
    if isinstance(value, dict) and "schema" in value and "content" not in value:
        value["content"] = {_JSON: {"schema": value.pop("schema")}}
        message = f"a schema belongs into content since OpenAPI 3.0; read as {_JSON}."
        losses.note("other-dialect", place, message)


def _mend_paths(losses: Losses, place: Position) -> None:
    if not isinstance(place.value, dict):
        return
    renamed: dict[str, Any] = {}
    for path, item in place.value.items():
        is_path = path.startswith(("/", "x-"))
        if not is_path:
            message = f"a path begins with '/'; read as '/{path}'."
            losses.note("invalid-path", place.below(path, "any"), message)
        renamed.setdefault(path if is_path else f"/{path}", item)
    if list(renamed) != list(place.value):
        place.replace(renamed)


def _mend_responses(losses: Losses, place: Position) -> None:
    for status in list(place.value) if isinstance(place.value, dict) else ():
        if not (_STATUS.fullmatch(status) or status.startswith("x-") or status == "$ref"):
            message = f"{status!r} is not a status code, class (2XX) or default"
            losses.drop("invalid-status", place.below(status, "any"), message)


def _mend_media_types(losses: Losses, place: Position) -> None:
    """Cuts media types where they would end the header field that they are sent in."""
    if not isinstance(place.value, dict):
        return
    renamed: dict[str, Any] = {}
    for media_type, value in place.value.items():
        read = _CONTROL.split(media_type, maxsplit=1)[0]
        if read != media_type:
            message = f"{shown(media_type)} is not a media type; read as {read!r}."
            losses.note("invalid-field", place.below(media_type, "any"), message)
        renamed.setdefault(read, value)
    if list(renamed) != list(place.value):
        place.replace(renamed)


def _mend_field_names(losses: Losses, place: Position) -> None:
    """Leaves out headers and methods whose names cannot be sent (RFC 9110, 5.1 and 9.1)."""
    if place.pointer.startswith("#/components/"):  # these are names of components
        return
    for name in list(place.value) if isinstance(place.value, dict) else ():
        if not _FIELD_TOKEN.fullmatch(name):
            message = f"{shown(name)} is not a token as HTTP has it"
            losses.drop("invalid-field", place.below(name, "any"), message)


def _mend_security(losses: Losses, place: Position) -> None:
    """Reads requirements as a list of objects of lists (OpenAPI 3.1.1, Security Requirement Object)."""
    listed = place.value if isinstance(place.value, list) else [place.value]
    alternatives = [_alternative(it) for it in listed]
    if alternatives == place.value:
        return
    if None in alternatives:
        wrong = next(it for it, read in zip(listed, alternatives, strict=True) if read is None)
        losses.drop("invalid-security", place, f"{shown(wrong)} is not a security requirement")
        return
    message = (
        f"{shown(place.value)} is not a list of security requirements; read as {alternatives}."
    )
    losses.note("invalid-security", place, message)
    place.replace(alternatives)


def _alternative(value: Any) -> dict[str, list[str]] | None:
    if value in ([], None):
        return {}
    if isinstance(value, str):
        return {value: []}
    if not isinstance(value, dict):
        return None
    return {
        name: [str(it) for it in scopes] if isinstance(scopes, list) else []
        for name, scopes in value.items()
    }


OBJECT_MENDS: Final[Mapping[str, Mend]] = {
    "discriminator": _mend_short_form,
    "server": _mend_short_form,
    "tag": _mend_short_form,
    "example": _mend_example,
    "media type": _mend_examples,
    "parameter": _mend_parameter,
    "header": _mend_parameter,
    "request body": _mend_body,
    "response": _mend_body,
    "{media type}": _mend_media_types,
    "{header}": _mend_field_names,
    "{operation}": _mend_field_names,
    "paths": _mend_paths,
    "responses": _mend_responses,
    "security": _mend_security,
    "pattern": mend_pattern,
    "patterns": mend_pattern_names,
}
"""Kind to what is done before the grammar is applied."""
