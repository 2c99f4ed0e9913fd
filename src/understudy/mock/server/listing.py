"""Lists the operations and security schemes of a document, with working commands and credentials.

The terminal output at start and the start page show them for another service's document. The values in
a command are valid by their schemas.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from understudy.errors import LimitExceeded
from understudy.exchange.curl import plain_command
from understudy.mock.server.bodies import form_fields
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.json_bodies import json_bytes
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Node
from understudy.openapi.media_types import JSON, MULTIPART, URLENCODED
from understudy.openapi.operations import (
    BEARER,
    Credential,
    MediaType,
    Parameter,
    credentials_of,
    security_schemes,
)
from understudy.openapi.parameter_writing import encoded, form_pairs, query_pairs, text_of
from understudy.openapi.sampler import PLAUSIBLE_REQUEST, Sampler


class SampleCredentials(NamedTuple):
    """The credentials in shown commands.

    Attributes:
        token: Bearer token or API key.
        account: User name and password, separated by a colon.
    """

    token: str = "anything"
    account: str = "anyone:anything"


ANY_CREDENTIALS = SampleCredentials()
"""The credentials for a document whose credentials are not checked."""


def curl_command(
    base_url: str, endpoint: Endpoint, credentials: SampleCredentials = ANY_CREDENTIALS
) -> str:
    """Returns a curl command that calls an operation.

    Args:
        base_url: Base URL of the API, without a trailing slash.
        endpoint: Operation to call.
        credentials: Credentials to send if the operation requires any.
    """
    options = [
        word
        for credential in _credentials(endpoint)
        for word in _credential_words(credential, credentials)
    ]
    return plain_command(
        endpoint.operation.method,
        base_url + _target(endpoint, credentials),
        list(_headers(endpoint)),
        [*options, *_body(endpoint)],
    )


def credential_text(credential: Credential, credentials: SampleCredentials) -> str:
    """Returns a valid credential; for Basic authentication, a user name and a password."""
    return credentials.account if credential.scheme == "basic" else credentials.token


def _credential_words(credential: Credential, credentials: SampleCredentials) -> list[str]:
    """Returns the curl options that send a credential; none for a query parameter, part of the URL."""
    text = credential_text(credential, credentials)
    if credential.scheme == "basic":
        return ["-u", text]
    if credential.scheme:
        return ["-H", f"Authorization: {credential.scheme.capitalize()} {text}"]
    if credential.location == "cookie":
        return ["-b", f"{credential.name}={text}"]
    return ["-H", f"{credential.name}: {text}"] if credential.location == "header" else []


def _target(endpoint: Endpoint, credentials: SampleCredentials) -> str:
    """Returns the path and query of a request, with a value for every required parameter."""
    operation = endpoint.operation
    handler = endpoint.document_handler
    items = {} if handler is None else handler.path_values()
    texts = {
        p.name: text_of(p, items.get(p.name, _value(endpoint, p)))
        for p in operation.parameters
        if p.location == "path"
    }
    path = PATH_PARAMETER.sub(lambda match: texts.get(match[1], "1"), operation.path)
    required = _required(endpoint, "query")
    query = [pair for p in required for pair in query_pairs(p, _value(endpoint, p))]
    query += [
        (encoded(c.name), encoded(credentials.token))
        for c in _credentials(endpoint)
        if c.location == "query"
    ]
    return f"{path}?{'&'.join(f'{name}={text}' for name, text in query)}" if query else path


def _headers(endpoint: Endpoint) -> Iterator[str]:
    for parameter in _required(endpoint, "header"):
        yield f"{parameter.name}: {text_of(parameter, _value(endpoint, parameter), str)}"
    cookies = [f"{p.name}={text_of(p, _value(endpoint, p))}" for p in _required(endpoint, "cookie")]
    if cookies:
        yield f"Cookie: {'; '.join(cookies)}"


def _credentials(endpoint: Endpoint) -> tuple[Credential, ...]:
    """Returns the credentials of the first alternative; none if anonymous access is allowed."""
    if endpoint.access.is_optional:
        return ()
    if endpoint.access.token == "required":
        return (BEARER,)
    return next(iter(endpoint.access.alternatives), ())


def _required(endpoint: Endpoint, location: str) -> list[Parameter]:
    return [p for p in endpoint.operation.parameters if p.required and p.location == location]


def _value(endpoint: Endpoint, parameter: Parameter) -> Any:
    if parameter.schema is None:
        return "1"
    return _sample(endpoint, parameter.schema, parameter.name)


def _text(value: Any, *, is_json: bool = False) -> str:
    """Returns a value as the text of a parameter, with commas between items."""
    if isinstance(value, str) and not is_json:
        return value
    if isinstance(value, list) and not is_json:
        return ",".join(map(_text, value))
    return json_bytes(value).decode()


def _body(endpoint: Endpoint) -> list[str]:
    """Returns the curl options that send a body; none if the operation requires no body."""
    request = endpoint.operation.request_body
    if request is None or not request.required or not request.content:
        return []
    offered = request.content
    media_type = next((kind for kind in (JSON, URLENCODED) if kind in offered), next(iter(offered)))
    media = offered[media_type]
    value = _media_value(endpoint, media)
    if media_type == URLENCODED:
        fields = form_pairs(value if isinstance(value, dict) else {}, media.encoding)
        return ["-d", "&".join(f"{name}={text}" for name, text in fields)]
    if media_type == MULTIPART:
        return _parts(endpoint, media, value)
    is_json = media_type == JSON or media_type.endswith("+json")
    return ["-H", f"Content-Type: {media_type}", "-d", _text(value, is_json=is_json)]


def _parts(endpoint: Endpoint, media: MediaType, value: Any) -> list[str]:
    """Returns the curl options that send a multipart body; a file part gets a file name."""
    declared = form_fields(media.schema, endpoint.schemas, ())
    words: list[str] = []
    for name, text in _fields(value):
        is_file = name in declared and declared[name].is_file
        words += ["-F", f"{name}={text};filename={name}" if is_file else f"{name}={text}"]
    return words or ["-F", "name=text"]  # a body must be sent even if its schema names no field


def _fields(value: Any) -> list[tuple[str, str]]:
    """Returns the fields of a form, with a separate field for each item of an array."""
    members = value.items() if isinstance(value, dict) else ()
    return [
        (name, _text(item))
        for name, member in members
        for item in (member if isinstance(member, list) else [member])
    ]


def _media_value(endpoint: Endpoint, media: MediaType) -> Any:
    if media.schema is None:
        return next(iter(media.examples.values()), {})
    accepts = endpoint.schemas.for_requests.validator(media.schema).is_valid
    for example in media.examples.values():
        if accepts(example):
            return example
    is_new = endpoint.operation.method == "POST" and endpoint.document_handler is not None
    return _sample(endpoint, media.schema, number=_NEW if is_new else 0)


_NEW = 99
"""Index of the sample for a new item: those that exist at the start have the first ones' identifiers."""


def _sample(endpoint: Endpoint, schema: Node, name: str = "", number: int = 0) -> Any:
    """Returns a value for a command; an empty object where the schema requires too large a value."""
    try:
        return Sampler(endpoint.schemas, 0, number, PLAUSIBLE_REQUEST).value(schema, name)
    except LimitExceeded:
        return {}


class ListedOperation(NamedTuple):
    """An operation, with a curl command that calls it."""

    method: str
    path: str
    command: str


class ListedScheme(NamedTuple):
    """A security scheme of the document.

    Attributes:
        name: Name of the scheme in the document.
        place: Place of the credential in a request.
        credential: A valid credential.
    """

    name: str
    place: str
    credential: str


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity, as a key of caches
class Listing:
    """The operations and security schemes of a document.

    Attributes:
        title: Title of the document.
        endpoints: Operations of the document.
        are_credentials_checked: Whether only credentials of the fixtures are valid.
    """

    title: str
    endpoints: Sequence[Endpoint]
    are_credentials_checked: bool = False

    def operations(
        self, base_url: str, credentials: SampleCredentials
    ) -> Iterator[ListedOperation]:
        """Yields the operations in the order of the document, each with its curl command."""
        for endpoint in self.endpoints:
            operation = endpoint.operation
            command = curl_command(base_url, endpoint, credentials)
            yield ListedOperation(operation.method, operation.path, command)

    def schemes(self, credentials: SampleCredentials) -> list[ListedScheme]:
        """Returns the security schemes that use a credential in the request."""
        if not self.endpoints:
            return []
        schemes = security_schemes(self.endpoints[0].api.document)
        return [
            ListedScheme(name, credential.described, credential_text(credential, credentials))
            for name, scheme in schemes.items()
            for credential in credentials_of([scheme])
        ]
