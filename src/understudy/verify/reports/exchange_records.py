"""Writes the exchanges of a finding into the JSON report, with secrets masked."""

import base64
from collections.abc import Mapping
from typing import Any

from understudy.exchange.messages import Exchange, masked

LARGEST_BODY = 512 * 1024
"""Bytes of a body that a report keeps; a larger one is left out."""


def exchange_record(exchange: Exchange, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Returns an exchange as the report holds it.

    Args:
        exchange: The exchange.
        secrets: Each secret, and the variable that replaces it.
    """
    request, response, identity = exchange.request, exchange.response, exchange.identity
    return {
        "number": exchange.number,
        "source": exchange.source,
        "identity": identity.name,
        "kind": identity.kind,
        "account": identity.account,
        "scopes": None if identity.scopes is None else sorted(identity.scopes),
        "method": request.method,
        "url": masked(request.url, secrets),
        "request_headers": [[name, masked(text, secrets)] for name, text in request.headers],
        "request_body": _body_record(request.body, secrets),
        "status": response.status,
        "response_headers": [[name, masked(text, secrets)] for name, text in response.headers],
        "response_body": _body_record(response.body, secrets),
        "at": exchange.at.isoformat(),
        "operation": exchange.operation,
        "site": exchange.site,
        "path": masked(exchange.path, secrets),
        "values": [masked(value, secrets) for value in exchange.values],
        "elapsed_ms": round(exchange.elapsed_ms, 3),
    }


def _body_record(body: bytes, secrets: Mapping[str, str]) -> dict[str, str]:
    if len(body) > LARGEST_BODY:
        return {}
    try:
        return {"text": masked(body.decode(), secrets)}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}
