"""Writes HTTP archives (HAR 1.2) for journals, runs of verify, recordings and generated cases.

Callers mask secrets before, and may add custom members, whose names begin with an underscore (HAR
1.2). The library ``harfile`` has no custom members, which recordings need to be judged later, and
writes only to open files, while the admin API returns an archive and ``generate`` yields pieces.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import understudy
from understudy.exchange.messages import LARGEST_REPORTED, Exchange

Pairs = Iterable[tuple[str, str]]
"""Headers or query parameters, in order."""

UNKNOWN = "x-unknown"
"""The media type of a response without one."""


def archive(creator: str, entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns an archive of entries."""
    named = {"name": creator, "version": understudy.__version__}
    return {"log": {"version": "1.2", "creator": named, "entries": list(entries)}}


def entry(
    started: str,
    milliseconds: float,
    request: Mapping[str, Any],
    response: Mapping[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """Returns an entry of an archive.

    Args:
        started: Start of the request, in ISO 8601 with an offset.
        milliseconds: Duration; all of it is reported as waiting.
        request: The request, as ``request`` returns it.
        response: The response, as ``response`` returns it.
        more: A comment and custom members.
    """
    return {
        "startedDateTime": started,
        "time": milliseconds,
        "request": request,
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
        **more,
    }


def entry_of(exchange: Exchange, largest: int = LARGEST_REPORTED, **more: Any) -> dict[str, Any]:
    """Returns the entry of an exchange whose secrets are masked already.

    Args:
        exchange: The exchange.
        largest: Bytes of the largest body to keep; a comment replaces a larger one.
        more: A comment and custom members.
    """
    sent, received = exchange.request, exchange.response
    return entry(
        exchange.at.isoformat(),
        exchange.elapsed_ms,
        request(
            sent.method,
            sent.url,
            sent.headers,
            sent.pairs,
            _kept(sent.body, largest, posted_text) if sent.body else None,
            len(sent.body),
        ),
        response(
            received.status,
            received.headers,
            _kept(received.body, largest, text),
            len(received.body),
        ),
        **more,
    )


def _kept(content: bytes, largest: int, write: Callable[[bytes], dict[str, str]]) -> dict[str, str]:
    if len(content) > largest:
        return {"text": "", "comment": f"left out: {len(content)} bytes"}
    return write(content)


def request(
    method: str, url: str, headers: Pairs, query: Pairs, posted: Mapping[str, Any] | None, size: int
) -> dict[str, Any]:
    """Returns the request of an entry.

    Args:
        method: The method as sent.
        url: The absolute URL.
        headers: The headers in order.
        query: The decoded query parameters.
        posted: The body, as ``text`` or ``posted_text`` returns it; None without a body.
        size: Bytes of the body.
    """
    listed = _pairs(headers)
    member = {
        "method": method,
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": listed,
        "queryString": _pairs(query),
        "headersSize": -1,
        "bodySize": size,
    }
    if posted is not None:
        member["postData"] = {"mimeType": _header(listed, "content-type"), **posted}
    return member


def response(
    status: int, headers: Pairs = (), content: Mapping[str, Any] | None = None, size: int = -1
) -> dict[str, Any]:
    """Returns the response of an entry.

    Args:
        status: The status code; 0 if no response was received.
        headers: The headers in order.
        content: The body, as ``text`` returns it.
        size: Bytes of the body; -1 if unknown.
    """
    listed = _pairs(headers)
    kind = _header(listed, "content-type") or UNKNOWN
    return {
        "status": status,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": listed,
        "content": {"size": max(size, 0), "mimeType": kind, **(content or {})},
        "redirectURL": _header(listed, "location"),
        "headersSize": -1,
        "bodySize": size,
    }


def text(body: bytes) -> dict[str, str]:
    """Returns the members that hold a response body: as text, or in base64 if it is not UTF-8."""
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(body).decode(), "encoding": "base64"}


def posted_text(body: bytes) -> dict[str, str]:
    """Returns the members that hold a request body; HAR has none for base64, hence a custom one."""
    members = text(body)
    return {"_encoding" if name == "encoding" else name: value for name, value in members.items()}


def body(holder: Mapping[str, Any]) -> bytes:
    """Returns the bytes of a body in an archive of this or another tool.

    Raises:
        ValueError: The body is declared as base64, but is not.
    """
    content = str(holder.get("text") or "")
    if "base64" in (holder.get("encoding"), holder.get("_encoding")):
        return base64.b64decode(content)
    return content.encode()


def _pairs(pairs: Pairs) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _header(listed: list[dict[str, str]], name: str) -> str:
    return next((pair["value"] for pair in listed if pair["name"].lower() == name), "")
