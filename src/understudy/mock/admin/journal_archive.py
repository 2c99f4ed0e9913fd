"""The journal as HAR 1.2, which a browser's developer tools open."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from understudy import http_archive as har
from understudy.mock.admin.shapes import header, target
from understudy.mock.engine.exchange import RequestContext
from understudy.mock.engine.masking import masked_body, masked_headers, masked_query


def archive(exchanges: Iterable[RequestContext]) -> dict[str, Any]:
    """Returns exchanges as one archive, secrets masked."""
    return har.archive("understudy", map(_entry, exchanges))


def _entry(exchange: RequestContext) -> dict[str, Any]:
    return har.entry(
        exchange.started.isoformat(),
        round(exchange.seconds * 1000, 3),
        _request(exchange),
        _response(exchange),
        comment="; ".join(exchange.notes),
    )


def _request(exchange: RequestContext) -> dict[str, Any]:
    headers = masked_headers(exchange.sent_headers)
    query = masked_query(exchange.query.decode("latin-1"))
    masked = masked_body(exchange.body, header(headers, "content-type"))
    return har.request(
        exchange.method,
        exchange.site_url + target(exchange),
        headers,
        parse_qsl(query, keep_blank_values=True),
        har.posted_text(masked) if exchange.body else None,
        len(exchange.body),
    )


def _response(exchange: RequestContext) -> dict[str, Any]:
    headers = masked_headers(exchange.answer_headers)
    masked = masked_body(exchange.answer, header(headers, "content-type"))
    return har.response(exchange.status, headers, har.text(masked), len(exchange.answer))
