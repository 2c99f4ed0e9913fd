"""Writes the exchanges of a finding into the JSON report, with secrets masked."""

import base64
from collections.abc import Mapping
from typing import Any

from understudy.exchange.masking import masked_exchange
from understudy.exchange.messages import LARGEST_REPORTED, Exchange


def exchange_record(exchange: Exchange, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Returns an exchange as the report holds it.

    Args:
        exchange: The exchange.
        secrets: Each secret, and the variable that replaces it.
    """
    exchange = masked_exchange(exchange, secrets)
    request, response, identity = exchange.request, exchange.response, exchange.identity
    return {
        "number": exchange.number,
        "source": exchange.source,
        "identity": identity.name,
        "kind": identity.kind,
        "account": identity.account,
        "scopes": None if identity.scopes is None else sorted(identity.scopes),
        "method": request.method,
        "url": request.url,
        "request_headers": request.headers,
        "request_body": _body_record(request.body),
        "status": response.status,
        "response_headers": response.headers,
        "response_body": _body_record(response.body),
        "at": exchange.at.isoformat(),
        "operation": exchange.operation,
        "site": exchange.site,
        "path": exchange.path,
        "values": exchange.values,
        "elapsed_ms": round(exchange.elapsed_ms, 3),
    }


def _body_record(body: bytes) -> dict[str, str]:
    if len(body) > LARGEST_REPORTED:
        return {}
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}
