"""Exports the journal as HAR 1.2, which a browser's developer tools open."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from understudy.exchange import har
from understudy.exchange.masking import masked_body, masked_headers, masked_query
from understudy.mock.admin.journal_entries import header, target
from understudy.mock.server.request_context import RequestContext


def archive(exchanges: Iterable[RequestContext]) -> dict[str, Any]:
    """Returns exchanges as one archive, secrets masked."""
    return har.archive("understudy", map(_entry, exchanges))


def _entry(context: RequestContext) -> dict[str, Any]:
    return har.entry(
        context.started.isoformat(),
        round(context.seconds * 1000, 3),
        _request(context),
        _response(context),
        comment="; ".join(context.notes),
    )


def _request(context: RequestContext) -> dict[str, Any]:
    headers = masked_headers(context.sent_headers)
    query = masked_query(context.query.decode("latin-1"), context.secret_names)
    masked = masked_body(context.body, header(headers, "content-type"), context.secret_names)
    return har.request(
        context.method,
        context.site_url + target(context),
        headers,
        parse_qsl(query, keep_blank_values=True),
        har.posted_text(masked) if context.body else None,
        len(context.body),
    )


def _response(context: RequestContext) -> dict[str, Any]:
    headers = masked_headers(context.response_headers)
    masked = masked_body(
        context.response_body, header(headers, "content-type"), context.secret_names
    )
    return har.response(context.status, headers, har.text(masked), len(context.response_body))
