"""An exchange of the journal as JSON: WireMock's shape where it has one, and ours beside it."""

import base64
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from understudy.mock.engine.clock import written
from understudy.mock.engine.exchange import RequestContext
from understudy.mock.engine.masking import masked_body, masked_headers, masked_query


def logged(exchange: RequestContext) -> dict[str, Any]:
    """Returns an exchange with its secrets masked."""
    said: dict[str, Any] = {
        "id": exchange.number,
        "request": request(exchange),
        "response": response(exchange),
        "wasMatched": exchange.is_matched,
        "timing": {"totalTime": round(exchange.seconds * 1000, 3)},
        "world": exchange.world.name,
        "operation": operation_id(exchange),
        "identity": exchange.identity,
        "person": exchange.principal.person if exchange.principal else None,
        "fault": exchange.fault,
        "notes": exchange.notes,
    }
    return said


def operation_id(exchange: RequestContext) -> str | None:
    """Returns what an exchange called; None where nothing matched."""
    return exchange.endpoint.operation.operation_id if exchange.endpoint else None


def target(exchange: RequestContext) -> str:
    """Returns path and query, as they were asked for within the world."""
    query = masked_query(exchange.query.decode("latin-1"))
    return f"{exchange.path}?{query}" if query else exchange.path


def request(exchange: RequestContext) -> dict[str, Any]:
    """Returns the request, as WireMock's journal has it."""
    headers = masked_headers(exchange.sent_headers)
    query = masked_query(exchange.query.decode("latin-1"))
    parameters: dict[str, dict[str, Any]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters.setdefault(name, {"key": name, "values": []})["values"].append(value)
    return {
        "url": target(exchange),
        "absoluteUrl": exchange.site_url + target(exchange),
        "method": exchange.method,
        "clientIp": exchange.client,
        "headers": dict(headers),
        "queryParams": parameters,
        "loggedDate": _milliseconds(exchange.started),
        "loggedDateString": written(exchange.started),
        **_body(masked_body(exchange.body, header(headers, "content-type"))),
    }


def response(exchange: RequestContext) -> dict[str, Any]:
    """Returns the answer, as WireMock's journal has it."""
    headers = masked_headers(exchange.answer_headers)
    return {
        "status": exchange.status,
        "headers": dict(headers),
        **_body(masked_body(exchange.answer, header(headers, "content-type"))),
    }


def header(headers: list[tuple[str, str]], name: str) -> str:
    """Returns the value of a header; empty where it is not given."""
    return next((text for given, text in headers if given.lower() == name), "")


def _body(content: bytes) -> dict[str, str]:
    encoded = base64.b64encode(content).decode()
    try:
        return {"body": content.decode(), "bodyAsBase64": encoded}
    except UnicodeDecodeError:
        return {"bodyAsBase64": encoded}


def _milliseconds(instant: datetime) -> int:
    return int(instant.timestamp() * 1000)
