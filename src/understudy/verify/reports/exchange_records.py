"""Writes the exchanges of a finding into the JSON report with secrets masked, and reads them back.

Whoever joins the reports of several runs makes every other format from these records.
"""

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from understudy.exchange.messages import (
    CredentialKind,
    Exchange,
    Headers,
    Identity,
    Request,
    Response,
    masked,
)

LARGEST_BODY = 512 * 1024
"""Bytes of a body that a report keeps; a larger one is left out."""


class BodyRecord(Struct, frozen=True, omit_defaults=True):
    """A body: as text, or in base64 where it is not UTF-8; neither where it was too large to keep."""

    text: str | None = None
    base64: str | None = None


class ExchangeRecord(Struct, frozen=True):
    """An exchange; its attributes are those of ``Exchange``, with secrets masked."""

    number: int
    source: str
    identity: str
    kind: CredentialKind
    account: str | None
    scopes: list[str] | None
    method: str
    url: str
    request_headers: Headers
    request_body: BodyRecord
    status: int
    response_headers: Headers
    response_body: BodyRecord
    at: datetime
    operation: str
    site: Literal["resource", "authorization", "elsewhere"]
    path: str
    values: tuple[str, ...]
    elapsed_ms: float


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


def exchange_of(record: ExchangeRecord, offset: int) -> Exchange:
    """Returns the exchange of a record; what was masked stays masked.

    Args:
        record: The record.
        offset: The number of exchanges of the reports before its own.
    """
    scopes = None if record.scopes is None else frozenset(record.scopes)
    request = Request(
        record.method, record.url, record.request_headers, _bytes(record.request_body)
    )
    response = Response(record.status, record.response_headers, _bytes(record.response_body))
    return Exchange(
        number=record.number + offset,
        source=record.source,
        identity=Identity(record.identity, record.kind, record.account, scopes),
        request=request,
        response=response,
        at=record.at,
        operation=record.operation,
        site=record.site,
        path=record.path,
        values=record.values,
        elapsed_ms=record.elapsed_ms,
    )


def _body_record(body: bytes, secrets: Mapping[str, str]) -> dict[str, str]:
    if len(body) > LARGEST_BODY:
        return {}
    try:
        return {"text": masked(body.decode(), secrets)}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _bytes(record: BodyRecord) -> bytes:
    if record.text is not None:
        return record.text.encode()
    return base64.b64decode(record.base64 or "")
