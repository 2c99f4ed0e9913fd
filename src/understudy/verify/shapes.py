"""The bundled documents' schemas, for rules about shapes under any document in force."""

from functools import cache
from typing import Any

from understudy.exchange.messages import NO_JSON
from understudy.openapi.loader import Document, bundled_document
from understudy.openapi.schemas import schemas_of
from understudy.openapi.validators import SchemaValidator

# The bundled documents name the exact statuses of the mock. The interface gives few of them: of the
# others, which are marked with ``x-status: assumed``, a deployment may choose any of the same class,
# and it may refuse a request with any status.

MARK = "x-status"


def with_status_classes(document: Document) -> Document:
    """Returns the document with ``2XX`` beside assumed statuses, and ``default`` for refusals."""
    paths = {
        path: {
            method: _opened(operation) if "responses" in operation else operation
            for method, operation in item.items()
        }
        for path, item in document.raw["paths"].items()
    }
    return Document(document.path, {**document.raw, "paths": paths})


def _opened(operation: dict[str, Any]) -> dict[str, Any]:
    responses = operation["responses"]
    classes = {
        f"{status[0]}XX": response
        for status, response in responses.items()
        if response.get(MARK) == "assumed"
    }
    refusals = (responses[status] for status in sorted(responses) if status.startswith("4"))
    refusal = next(refusals, {"description": "A refusal, or a failure."})
    return {**operation, "responses": {**responses, **classes, "default": refusal}}


AUTHENTICATED_ONLY = (
    "timezone",
    "languages",
    "first_name",
    "last_name",
    "is_organization",
    "links",
    "interests",
    "payments",
    "contact_info",
    "gallery",
    "number_verified_accounts",
    "last_profile_edit",
    "registration_date",
)
"""Members of a profile that only authenticated requests get."""
OPEN_TO_ALL = ("header_image", "hide_default_header_image", "background_color")
OPTIONAL = (*AUTHENTICATED_ONLY, *OPEN_TO_ALL)
"""Members of a profile that a response may lack."""
EDITABLE = (
    "display_name",
    "description",
    "pronunciation",
    "pronouns",
    "location",
    "job_title",
    "company",
)
"""Members of a profile that an update may change."""
AVATAR_FIELDS = ("rating", "alt_text")
"""Members of an avatar that an update may change (interface, Authenticated avatar operations)."""


def length_rule(member: str) -> str:
    """Returns the id of the rule on how long the text of an editable member may be."""
    return f"{member.replace('_', '-')}-length"


@cache  # opening the statuses makes a new document, whose results must be kept
def bundled(name: str) -> Document:
    """Returns a bundled document by its file name, with its statuses opened to classes."""
    return with_status_classes(bundled_document(name))


@cache
def validator(*steps: str, document: str = "service.yaml") -> SchemaValidator:
    """Returns the validator of a schema below ``components/schemas``.

    Raises:
        LookupError: The document has no such schema.
    """
    node = bundled(document).root.child("components", "schemas", *steps)
    if node is None:
        msg = f"{document} has no schema {'/'.join(steps)}"
        raise LookupError(msg)
    return schemas_of(bundled(document)).validator(node)


def schema_error(value: Any, *steps: str, document: str = "service.yaml") -> str:
    """Returns the first validation error of a value; empty where it is valid."""
    if value is NO_JSON:
        return "not JSON"
    for error in validator(*steps, document=document).iter_errors(value):
        place = "/".join(str(step) for step in error.instance_path)
        return f"{place}: {error.message}" if place else error.message
    return ""
