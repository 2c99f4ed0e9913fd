"""Writes all traffic of a run as an HTTP archive (HAR 1.2) with its secrets masked."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from understudy.exchange import har as writer
from understudy.exchange.messages import Exchange, Headers, masked
from understudy.verify.outcome import Outcome

LARGEST_BODY = 512 * 1024
"""Bytes of a body that an archive keeps; a larger one is left out."""


def traffic_archive(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the traffic as HAR."""
    entries = (_entry(exchange, secrets) for exchange in outcome.exchanges)
    log = writer.archive("understudy verify", entries)
    return orjson.dumps(log, option=orjson.OPT_INDENT_2).decode()


def _entry(exchange: Exchange, secrets: Mapping[str, str]) -> dict[str, Any]:
    request, response = exchange.request, exchange.response
    query = [
        (name, masked(f"{name}={text}", secrets).partition("=")[2]) for name, text in request.pairs
    ]
    return writer.entry(
        exchange.at.isoformat(),
        exchange.elapsed_ms,
        writer.request(
            request.method,
            masked(request.url, secrets),
            _masked(request.headers, secrets),
            query,
            _body(request.body, secrets, writer.posted_text) if request.body else None,
            len(request.body),
        ),
        writer.response(
            response.status,
            _masked(response.headers, secrets),
            _body(response.body, secrets, writer.text),
            len(response.body),
        ),
        _source=exchange.source,
        _identity=exchange.identity.name,
        **_scopes(exchange),
    )


def _scopes(exchange: Exchange) -> dict[str, list[str]]:
    scopes = exchange.identity.scopes
    return {} if scopes is None else {"_scopes": sorted(scopes)}


def _masked(headers: Headers, secrets: Mapping[str, str]) -> Headers:
    return tuple((name, masked(text, secrets)) for name, text in headers)


def _body(
    body: bytes, secrets: Mapping[str, str], write: Callable[[bytes], dict[str, str]]
) -> dict[str, str]:
    if len(body) > LARGEST_BODY:
        return {"text": "", "comment": f"left out: {len(body)} bytes"}
    try:
        return write(masked(body.decode(), secrets).encode())
    except UnicodeDecodeError:
        return write(body)
