"""The journal as HAR 1.2, which a browser's developer tools open."""

import base64
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any
from urllib.parse import parse_qsl

from understudy.admin.shapes import header, target
from understudy.engine.exchange import Exchange
from understudy.engine.masking import masked_body, masked_headers, masked_query

Pairs = list[dict[str, str]]


def archive(exchanges: Iterable[Exchange]) -> dict[str, Any]:
    """Returns exchanges as one archive, secrets masked."""
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "understudy", "version": version("understudy")},
            "entries": [_entry(exchange) for exchange in exchanges],
        }
    }


def _entry(exchange: Exchange) -> dict[str, Any]:
    milliseconds = round(exchange.seconds * 1000, 3)
    return {
        "startedDateTime": exchange.started.isoformat(),
        "time": milliseconds,
        "request": _request(exchange),
        "response": _response(exchange),
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
        "comment": "; ".join(exchange.notes),
    }


def _request(exchange: Exchange) -> dict[str, Any]:
    headers = masked_headers(exchange.sent_headers)
    query = masked_query(exchange.query.decode("latin-1"))
    said: dict[str, Any] = {
        "method": exchange.method,
        "url": exchange.site_url + target(exchange),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers),
        "queryString": _pairs(parse_qsl(query, keep_blank_values=True)),
        "headersSize": -1,
        "bodySize": len(exchange.body),
    }
    if exchange.body:
        kind = header(headers, "content-type")
        text = masked_body(exchange.body, kind).decode("utf-8", "replace")
        said["postData"] = {"mimeType": kind, "text": text}
    return said


def _response(exchange: Exchange) -> dict[str, Any]:
    headers = masked_headers(exchange.answer_headers)
    kind = header(headers, "content-type")
    return {
        "status": exchange.status,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers),
        "content": {
            "size": len(exchange.answer),
            "mimeType": kind,
            **_text(masked_body(exchange.answer, kind)),
        },
        "redirectURL": header(headers, "location"),
        "headersSize": -1,
        "bodySize": len(exchange.answer),
    }


def _text(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(content).decode(), "encoding": "base64"}


def _pairs(pairs: Iterable[tuple[str, str]]) -> Pairs:
    return [{"name": name, "value": value} for name, value in pairs]
