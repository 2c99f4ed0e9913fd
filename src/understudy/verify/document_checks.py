"""Validates responses by two independent validators, and requests by one, by the document in force.

One validator uses jsonschema-rs, the other is openapi-core. If they disagree, one of them has a
defect, so that the disagreement is not a finding about the deployment.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import (
    LOOKUP,
    QR_CODE,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
    DeclaredInputs,
    keyed,
)
from understudy.interface.recognition import REQUIRED, envelopes
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node, once_per_document
from understudy.openapi.media_types import JSON, MULTIPART, declared_for, is_json
from understudy.openapi.operations import (
    DeclaredResponse,
    MediaType,
    Operation,
    Parameter,
    operations,
)
from understudy.openapi.schemas import ALL, schemas_of
from understudy.openapi.validators import SchemaError
from understudy.verify.shapes import AUTHENTICATED_ONLY

if TYPE_CHECKING:
    from understudy.verify.second_opinion import OpenApiCoreValidator

_NUMBER = re.compile(r"-?[0-9]{1,100}(\.[0-9]{1,100})?([eE][-+]?[0-9]{1,3})?", re.ASCII)
"""Matches numbers, with bounds since ``int`` raises an error on thousands of digits."""
_FRACTION = re.compile(r"[.eE]")

UNDECLARED: Final = "is not in the document"
"""End of the error for a status or a media type that the document does not declare."""


class DocumentErrors(NamedTuple):
    """The first error that each validator finds in a response; empty where it finds none."""

    validator: str
    openapi_core: str

    @property
    def agrees(self) -> bool:
        """True if both find an error or neither does."""
        return bool(self.validator) == bool(self.openapi_core)


class DocumentValidator:
    """Validates responses against one document.

    Args:
        document: The document in force.
        base_url: The base URL of its operations.

    Attributes:
        is_cross_checked: False to skip openapi-core, as if it agreed.
    """

    def __init__(self, document: Document, base_url: str) -> None:
        self._schemas = schemas_of(document).for_responses
        self.is_cross_checked = True
        self._document = document
        self._base_url = base_url.rstrip("/")
        self._envelopes = envelopes(document)
        self._errors: dict[object, DocumentErrors] = {}
        self._own_errors: dict[object, str] = {}

    @cached_property
    def _openapi_core(self) -> "OpenApiCoreValidator":
        from understudy.verify.second_opinion import OpenApiCoreValidator  # noqa: PLC0415 - openapi-core takes 0.2 s to import, and a run of a rule needs none

        return OpenApiCoreValidator({**self._document.raw, "servers": [{"url": self._base_url}]})

    def judge(self, exchange: Exchange, operation: Operation) -> DocumentErrors:
        """Returns the errors that both validators find in a response."""
        if _is_undeclared(exchange, operation):
            return DocumentErrors("", "")
        exchange = self._as_received(exchange)
        key = response_key(exchange)
        if key not in self._errors:
            own = self.error(exchange, operation)
            is_large = len(exchange.response.body) > _LARGE
            is_alone = is_large or not self.is_cross_checked
            other = own if is_alone else self._openapi_core.error(exchange)
            self._errors[key] = DocumentErrors(own, other)
        return self._errors[key]

    def error(self, exchange: Exchange, operation: Operation) -> str:
        """Returns the error that understudy's own validator finds; openapi-core takes ten times as long."""
        if _is_undeclared(exchange, operation):
            return ""
        exchange = self._as_received(exchange)
        key = response_key(exchange)
        if key not in self._own_errors:
            self._own_errors[key] = self._error(exchange, operation)
        return self._own_errors[key]

    def _as_received(self, exchange: Exchange) -> Exchange:
        """Returns an exchange with the body in its envelope, whatever was changed of it since."""
        name = self._envelopes.get(exchange.operation)
        around = exchange.wire[1].json if name is not None and exchange.wire is not None else None
        if not isinstance(around, dict) or name not in around or exchange.body is NO_JSON:
            return exchange
        body = orjson.dumps({**around, name: exchange.body})
        return replace(exchange, response=replace(exchange.response, body=body), wire=None)

    def declares(self, exchange: Exchange, operation: Operation) -> bool:
        """Tells whether the document allows a response and names the members of its body."""
        response = operation.response(exchange.status)
        media = _media_of(exchange, response) if response else None
        if media is None or media.schema is None or self.error(exchange, operation):
            return False
        return self._names_members(media.schema)

    def _names_members(self, schema: Node) -> bool:
        place = self._document.follow(schema)
        items = place.child("items")
        if items is not None:
            return self._names_members(items)
        parts = place.child("allOf")
        if parts is not None:
            return any(self._names_members(part) for _, part in parts.children())
        return place.child("properties") is not None

    def _error(self, exchange: Exchange, operation: Operation) -> str:
        response = operation.response(exchange.status)
        if response is None:
            error = f"status {exchange.status} {UNDECLARED}"
        else:
            error = self._body_error(exchange, response) or self._header_error(exchange, response)
        place = exchange.response.header("location").partition("?")[0]
        if exchange.status // 100 == 3 and place and error.endswith(UNDECLARED):  # noqa: PLR2004 - 3XX
            return f"status {exchange.status} is a redirect to {place:.200}, which {UNDECLARED}"
        return error

    def _body_error(self, exchange: Exchange, response: DeclaredResponse) -> str:
        media_type = exchange.response.media_type
        media = _media_of(exchange, response)
        if media is None:
            is_free = not response.content
            return "" if is_free else f"{media_type or 'no content type'} {UNDECLARED}"
        if not exchange.response.body:
            return "the body is empty"
        if media.schema is None or not is_json(media_type):
            return ""
        return self._schema_error(exchange, media.schema)

    def _schema_error(self, exchange: Exchange, schema: Node) -> str:
        if exchange.body is NO_JSON:
            return "the body is not JSON"
        for error in self._schemas.validator(schema).iter_errors(exchange.body):
            place = "/".join(str(step) for step in error.instance_path)
            return f"{place or 'the body'}: {_shortened(error.message)}"
        return ""

    def body_errors(self, exchange: Exchange, operation: Operation) -> Iterator[SchemaError]:
        """Yields every schema error of a response's JSON body, within an envelope."""
        response = operation.response(exchange.status)
        media = _media_of(exchange, response) if response is not None else None
        if media is not None and media.schema is not None and exchange.body is not NO_JSON:
            name = self._envelopes.get(exchange.operation, "") if exchange.wire else ""
            schema = self._schemas.members(media.schema, ALL).get(name, media.schema)
            yield from self._schemas.validator(schema).iter_errors(exchange.body)

    def _header_error(self, exchange: Exchange, response: DeclaredResponse) -> str:
        headers = dict(reversed(exchange.response.headers))  # of a repeated header the first wins
        for header in response.headers:
            text = headers.get(header.name.lower())
            if text is None and header.required:
                return f"the header {header.name} is missing"
            if text is None or header.schema is None or header.is_json:
                continue
            types = self._schemas.types(header.schema)
            items = self._schemas.items(header.schema) if "array" in types else None
            item_types = self._schemas.types(items)
            if "object" in types or item_types & COMPOSED:
                continue
            value = typed_text(text, types)
            if item_types:
                value = [typed_text(it, item_types) for it in value]
            for error in self._schemas.validator(header.schema).iter_errors(value):
                return f"the header {header.name}: {error.message}"
        return ""


_LARGE: Final = 4 * 1024 * 1024
"""Bytes of a body above which openapi-core is skipped: its errors quote the whole body."""


def _is_undeclared(exchange: Exchange, operation: Operation) -> bool:
    """Tells whether the document declares no responses that this one could match."""
    return exchange.request.method == "HEAD" or not operation.responses


def _media_of(exchange: Exchange, response: DeclaredResponse) -> MediaType | None:
    """Returns the declared content for a response's media type, also by a range such as ``*/*``."""
    name = declared_for(exchange.response.media_type, response.content)
    return None if name is None else response.content[name]


_LONGEST = 200
"""Most characters of an error: its middle is cut, as it starts with the value and ends with why."""


def _shortened(message: str) -> str:
    is_long = len(message) > _LONGEST
    return f"{message[: _LONGEST // 2]} … {message[-_LONGEST // 2 :]}" if is_long else message


def typed_text(text: str, types: frozenset[str]) -> Any:
    """Returns a header or parameter as the most specific of these JSON types that it fits."""
    if "array" in types:
        return [part.strip() for part in text.split(",")] if text else []
    if types & {"integer", "number"} and _NUMBER.fullmatch(text):
        return float(text) if _FRACTION.search(text) else int(text)
    if "boolean" in types and text in {"true", "false"}:
        return text == "true"
    return text


def response_key(exchange: Exchange) -> object:
    """Returns what tells a response from others, but for its date and numbers in headers, as of limits."""
    headers = [
        (n, "0" if t.isdecimal() else t) for n, t in exchange.response.headers if n != "date"
    ]
    return (exchange.operation, exchange.status, tuple(headers), exchange.response.body)


# The interface calls the field of an upload ``data``, and leaves the bounds of texts and QR codes open;
# the published definition is the authority for all of them.

STATED: Final = DeclaredInputs()


@once_per_document
def declared_inputs(document: Document) -> DeclaredInputs:
    """Returns the inputs that a document declares; the interface's where it declares none."""
    declared = keyed(operations(document))
    size = _query_schema(document, declared.get(QR_CODE), "size")
    icons = _query_schema(document, declared.get(QR_CODE), "type").get("enum")
    return DeclaredInputs(
        upload_field=_upload_field(document, declared.get(UPLOAD_AVATAR)),
        qr_types=tuple(map(str, icons)) if icons else STATED.qr_types,
        least_qr_size=_whole(size.get("minimum")),
        largest_qr_size=_whole(size.get("maximum")),
        longest=_longest(document, declared.get(UPDATE_PROFILE)),
        **_shown_members(document, declared.get(LOOKUP)),
    )


def _shown_members(document: Document, operation: Operation | None) -> dict[str, frozenset[str]]:
    """Returns the members that a profile must have, and those of the interface that it never has."""
    response = operation.response(HTTPStatus.OK) if operation is not None else None
    media = response.content.get(JSON) if response is not None else None
    if media is None or media.schema is None:
        return {}
    schemas = schemas_of(document).for_responses
    around = schemas.members(media.schema, ALL)
    schema = around.get(envelopes(document).get(LOOKUP, ""), media.schema)
    named = schemas.members(schema, ALL).keys()
    return {
        "always_shown": frozenset(schemas.required_names(schema)),
        "never_shown": frozenset((*AUTHENTICATED_ONLY, *REQUIRED) if named else ()) - named,
    }


def _upload_field(document: Document, operation: Operation | None) -> str:
    schemas = schemas_of(document)
    schema = _body_schema(operation, MULTIPART) if operation is not None else None
    members = schemas.members(schema, ALL).items()
    names = [name for name, member in members if schemas.is_file(member)]
    return STATED.upload_field if STATED.upload_field in names or not names else names[0]


def _body_schema(operation: Operation, media_type: str) -> Node | None:
    body = operation.request_body
    media = body.content.get(media_type) if body is not None else None
    return media.schema if media is not None else None


def _query_schema(document: Document, operation: Operation | None, name: str) -> Mapping[str, Any]:
    """Returns the keywords of a query parameter's schema; empty where it is not declared."""
    for parameter in operation.parameters if operation is not None else ():
        is_named = (parameter.name, parameter.location) == (name, "query")
        if is_named and parameter.schema is not None:
            value = document.follow(parameter.schema).value
            return value if isinstance(value, dict) else {}
    return {}


def _longest(document: Document, operation: Operation | None) -> dict[str, int]:
    schema = _body_schema(operation, JSON) if operation is not None else None
    if schema is None:
        return {}
    schemas = schemas_of(document)
    bounds = {
        name: _whole(schemas.keyword(member, "maxLength", ALL))
        for name, member in schemas.members(schema, ALL).items()
    }
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None


COMPOSED = frozenset({"array", "object"})
"""Types of parameters that a ``style`` serializes, which are not judged."""


class DeclaredRequests:
    """Judges requests by a document.

    Args:
        document: The document in force.

    Attributes:
        schemas: The document's schemas.
    """

    def __init__(self, document: Document) -> None:
        self.schemas = schemas_of(document)
        self._operations = keyed(operations(document))

    def operation(self, key: str) -> Operation | None:
        """Returns an operation by the name that rules use."""
        return self._operations.get(key)

    def members(self, operation: Operation) -> frozenset[str]:
        """Returns the members that the document declares in an operation's JSON body."""
        schema = _body_schema(operation, JSON)
        return frozenset() if schema is None else frozenset(self.schemas.members(schema, ALL))

    def allows(self, exchange: Exchange) -> bool:
        """Tells whether the document allows a request; what it does not declare, it allows."""
        operation = self.operation(exchange.operation)
        if operation is None:
            return True
        texts = _texts(exchange, operation)
        return all(
            self._allows(parameter, texts[parameter.location].get(parameter.name, ()))
            for parameter in operation.parameters
            if parameter.location in texts
        ) and self._allows_body(exchange, operation)

    def _allows(self, parameter: Parameter, texts: Sequence[str]) -> bool:
        types = self.schemas.types(parameter.schema)
        if not texts or parameter.schema is None or parameter.is_json or types & COMPOSED:
            return bool(texts) or not parameter.required
        validator = self.schemas.validator(parameter.schema)
        return all(validator.is_valid(typed_text(text, types)) for text in texts)

    def _allows_body(self, exchange: Exchange, operation: Operation) -> bool:
        schema = _body_schema(operation, JSON)
        if schema is None or exchange.request.json is NO_JSON:
            return True
        return bool(self.schemas.for_requests.validator(schema).is_valid(exchange.request.json))


class Departures:
    """Compares the document in force with the bundled one; where they differ, the former decides.

    Rules from prose describe the operations of the bundled document, but the interface names the
    published definition as the authority (interface, The published definition).

    Args:
        document: The document in force.
        own: The bundled document.
    """

    def __init__(self, document: Document, own: Document) -> None:
        self._declared, self._own = DeclaredRequests(document), DeclaredRequests(own)

    def has(self, exchange: Exchange, *, is_of_status: bool = False) -> bool:
        """Tells whether the documents differ on a request or on its response.

        Args:
            exchange: The exchange.
            is_of_status: True to compare the status, and not the form of the response.
        """
        declared = self._declared.operation(exchange.operation)
        own = self._own.operation(exchange.operation)
        if declared is None or own is None:
            return False
        if self._declared.allows(exchange) != self._own.allows(exchange):
            return True
        if self._lacks_inputs(exchange, declared, own):
            return True
        if is_of_status:
            return exchange.response.is_success and _usual(own) not in declared.responses
        return self._is_unlike(exchange, own)

    def _lacks_inputs(self, exchange: Exchange, declared: Operation, own: Operation) -> bool:
        """Tells whether a request has an input that only the bundled document declares."""
        sent = {name for name, _ in exchange.request.pairs}
        if sent & (_query_names(own) - _query_names(declared)):
            return True
        body, known = exchange.request.json, self._declared.members(declared)
        members = self._own.members(own) - known
        return bool(known) and isinstance(body, dict) and not members.isdisjoint(body)

    def _is_unlike(self, exchange: Exchange, own: Operation) -> bool:
        """Tells whether the bundled document lacks the response's status, media type or members."""
        response = own.response(exchange.status)
        if response is None:
            return True
        media = _media_of(exchange, response)
        if media is None or media.schema is None:
            return media is None and bool(response.content)
        if not isinstance(exchange.body, dict):
            return "object" in self._own.schemas.types(media.schema)
        return self._own.schemas.members(media.schema, ALL).keys().isdisjoint(exchange.body)


def _usual(operation: Operation) -> str:
    """Returns the usual status of a success, which documents declare before other 2XX statuses."""
    return next((status for status in operation.responses if status.startswith("2")), "")


def _query_names(operation: Operation) -> frozenset[str]:
    return frozenset(it.name for it in operation.parameters if it.location == "query")


def _texts(exchange: Exchange, operation: Operation) -> dict[str, dict[str, list[str]]]:
    """Returns the texts of the query and of the path, by the names of their parameters."""
    query: dict[str, list[str]] = {}
    for name, text in exchange.request.pairs:
        query.setdefault(name, []).append(text)
    names = PATH_PARAMETER.findall(operation.path)
    path = zip(names, exchange.values, strict=False)  # a recording may lack them
    return {"query": query, "path": {name: [text] for name, text in path}}
