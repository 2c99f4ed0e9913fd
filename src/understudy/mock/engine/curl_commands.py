"""Writes a curl command for an operation of any document, with values that its schemas accept."""

import shlex
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from understudy.mock.engine.endpoint import Endpoint
from understudy.openapi.operations import PATH_PARAMETER, MediaType, Parameter
from understudy.openapi.sampler import Sampler

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
ANY_CREDENTIAL = "anything"
"""The value of an API key: the mock only requires that there is one."""


def curl_command(base_url: str, endpoint: Endpoint, token: str | None) -> str | None:
    """Returns a command that calls an operation.

    Args:
        base_url: Base URL of the API, without a trailing slash.
        endpoint: The operation.
        token: A valid token; None where there is none.

    Returns:
        None where the body is of a type that a command cannot show.
    """
    body = _body(endpoint)
    if body is None:
        return None
    words = ["curl"]
    if endpoint.operation.method != "GET":
        words += ["-X", endpoint.operation.method]
    words.append(base_url + _target(endpoint))
    for header in _headers(endpoint, token):
        words += ["-H", header]
    return shlex.join(words + body)


def _target(endpoint: Endpoint) -> str:
    """Returns the path with its query: every required parameter has a value."""
    operation = endpoint.operation
    values = {p.name: _value(endpoint, p) for p in _required(endpoint, "path")}
    path = PATH_PARAMETER.sub(lambda match: quote(str(values.get(match[1], "1"))), operation.path)
    query = [(p.name, _value(endpoint, p)) for p in _required(endpoint, "query")]
    query += [(name, ANY_CREDENTIAL) for place, name in _credentials(endpoint) if place == "query"]
    return f"{path}?{urlencode(query, doseq=True)}" if query else path


def _headers(endpoint: Endpoint, token: str | None) -> list[str]:
    headers = [f"{p.name}: {_value(endpoint, p)}" for p in _required(endpoint, "header")]
    if endpoint.access.token == "required" and token is not None:
        headers.append(f"Authorization: Bearer {token}")
    for place, name in _credentials(endpoint):
        if place == "header":
            headers.append(f"{name}: {ANY_CREDENTIAL}")
        elif place == "cookie":
            headers.append(f"Cookie: {name}={ANY_CREDENTIAL}")
    return headers


def _credentials(endpoint: Endpoint) -> tuple[tuple[str, str], ...]:
    """Returns where the first alternative's credential goes, and its name; one is enough."""
    return endpoint.access.credentials[:1]


def _required(endpoint: Endpoint, location: str) -> list[Parameter]:
    return [p for p in endpoint.operation.parameters if p.required and p.location == location]


def _value(endpoint: Endpoint, parameter: Parameter) -> Any:
    if parameter.schema is None:
        return "1"
    value = Sampler(endpoint.schemas, seed=0).value(parameter.schema, parameter.name)
    return str(value).lower() if isinstance(value, bool) else value


def _body(endpoint: Endpoint) -> list[str] | None:
    """Returns the words of the body; none where no body is required, None where none can be shown."""
    request = endpoint.operation.request_body
    if request is None or not request.required:
        return []
    media_type = next((kind for kind in (JSON, FORM) if kind in request.content), None)
    if media_type is None:
        return None
    value = _media_value(endpoint, request.content[media_type])
    if media_type == FORM:
        return ["-d", urlencode(value if isinstance(value, dict) else {}, doseq=True)]
    return ["-H", f"Content-Type: {JSON}", "-d", orjson.dumps(value).decode()]


def _media_value(endpoint: Endpoint, media: MediaType) -> Any:
    if media.schema is None:
        return next(iter(media.examples.values()), {})
    accepts = endpoint.schemas.validator(media.schema).is_valid
    for example in media.examples.values():
        if accepts(example):
            return example
    return Sampler(endpoint.schemas, seed=0).value(media.schema)
