"""Converts an exchange of the journal to JSON in WireMock's shape, with members of the mock added."""

import base64
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qsl

from understudy.exchange.masking import masked_body, masked_headers, masked_query
from understudy.mock.server.clock import written
from understudy.mock.server.request_context import RequestContext

_LABEL: Final = b"x-mock-client"
"""The header by which a client names itself, such as the test that sends a request."""


def logged(context: RequestContext) -> dict[str, Any]:
    """Returns an exchange with its secrets masked."""
    return {
        "id": context.number,
        "request": request(context),
        "response": response(context),
        **_about(context),
    }


def _about(context: RequestContext) -> dict[str, Any]:
    return {
        "wasMatched": context.is_matched,
        "timing": {"totalTime": round(context.seconds * 1000, 3)},
        "world": context.world.name,
        "operation": operation_id(context),
        "identity": context.identity,
        "person": context.principal.person if context.principal else None,
        "fault": context.fault,
        "preference": preference(context),
        "notes": context.notes,
    }


def summary(context: RequestContext) -> dict[str, Any]:
    """Returns an exchange as ``logged`` does, without headers and bodies but the client's names."""
    return {
        "id": context.number,
        "request": {
            "url": target(context),
            "method": context.method,
            "clientIp": context.client,
            "userAgent": context.headers.get(b"user-agent", b"").decode("latin-1"),
            "label": context.headers.get(_LABEL, b"").decode("latin-1"),
            "loggedDate": _milliseconds(context.started),
            "loggedDateString": written(context.started),
        },
        "response": {"status": context.status},
        **_about(context),
    }


def operation_id(context: RequestContext) -> str | None:
    """Returns what an exchange called; None where nothing matched."""
    return context.endpoint.operation.operation_id if context.endpoint else None


def preference(context: RequestContext) -> str | None:
    """Returns the preference that the response applied (RFC 7240, 3); None for none."""
    applied = (text for name, text in context.response_headers if name == b"preference-applied")
    return next((text.decode("latin-1") for text in applied), None)


def target(context: RequestContext) -> str:
    """Returns path and query of the request, below the prefix of its world."""
    query = masked_query(context.query.decode("latin-1"), context.secret_names)
    return f"{context.path}?{query}" if query else context.path


def request(context: RequestContext) -> dict[str, Any]:
    """Returns the request, as WireMock's journal has it."""
    headers = masked_headers(context.sent_headers)
    query = masked_query(context.query.decode("latin-1"), context.secret_names)
    parameters: dict[str, dict[str, Any]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters.setdefault(name, {"key": name, "values": []})["values"].append(value)
    return {
        "url": target(context),
        "absoluteUrl": context.site_url + target(context),
        "method": context.method,
        "clientIp": context.client,
        "headers": dict(headers),
        "queryParams": parameters,
        "loggedDate": _milliseconds(context.started),
        "loggedDateString": written(context.started),
        **_body(masked_body(context.body, header(headers, "content-type"), context.secret_names)),
    }


def response(context: RequestContext) -> dict[str, Any]:
    """Returns the response, as WireMock's journal has it."""
    headers = masked_headers(context.response_headers)
    return {
        "status": context.status,
        "headers": dict(headers),
        **_body(
            masked_body(
                context.response_body, header(headers, "content-type"), context.secret_names
            )
        ),
    }


def header(headers: list[tuple[str, str]], name: str) -> str:
    """Returns the value of a header; empty if it is absent."""
    return next((text for field, text in headers if field.lower() == name), "")


def _body(content: bytes) -> dict[str, str]:
    encoded = base64.b64encode(content).decode()
    try:
        return {"body": content.decode(), "bodyAsBase64": encoded}
    except UnicodeDecodeError:
        return {"bodyAsBase64": encoded}


def _milliseconds(instant: datetime) -> int:
    return int(instant.timestamp() * 1000)
