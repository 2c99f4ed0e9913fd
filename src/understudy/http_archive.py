"""Writes HTTP archives (HAR 1.2): one shape for a journal, a run of verify and generated cases.

What is masked is for the callers to say, and what an entry holds beside it: HAR leaves names that
begin with an underscore to whoever writes them.
"""

import base64
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

Pairs = Iterable[tuple[str, str]]
"""Headers, or the parameters of a query, in order."""

UNKNOWN = "x-unknown"
"""What HAR calls the content type of nothing."""


def archive(creator: str, entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns a log of entries."""
    named = {"name": creator, "version": version("understudy")}
    return {"log": {"version": "1.2", "creator": named, "entries": list(entries)}}


def entry(
    started: str,
    milliseconds: float,
    request: Mapping[str, Any],
    response: Mapping[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """Returns an entry.

    Args:
        started: When, in ISO 8601 with an offset.
        milliseconds: How long it took, all of it waiting.
        request: What ``request`` returns.
        response: What ``response`` returns.
        more: A comment, and members whose names begin with an underscore.
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


def request(
    method: str, url: str, headers: Pairs, query: Pairs, posted: Mapping[str, Any] | None, size: int
) -> dict[str, Any]:
    """Returns a request.

    Args:
        method: As it is sent.
        url: Whole.
        headers: In order.
        query: Its parameters, decoded.
        posted: The body as ``text`` or ``posted_text`` returns it; None where there is none.
        size: Of the body, in bytes.
    """
    listed = _pairs(headers)
    said = {
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
        said["postData"] = {"mimeType": _header(listed, "content-type"), **posted}
    return said


def response(
    status: int, headers: Pairs = (), content: Mapping[str, Any] | None = None, size: int = -1
) -> dict[str, Any]:
    """Returns an answer.

    Args:
        status: Its number; 0 where nothing came.
        headers: In order.
        content: The body as ``text`` returns it.
        size: Of the body, in bytes; -1 where it is not known.
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
    """Returns an answer's body, in base64 where it is no text."""
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(body).decode(), "encoding": "base64"}


def posted_text(body: bytes) -> dict[str, str]:
    """Returns a request's body, for which HAR has no encoding: it stands in ``_encoding``."""
    said = text(body)
    return {"_encoding" if name == "encoding" else name: word for name, word in said.items()}


def body(holder: Mapping[str, Any]) -> bytes:
    """Returns the bytes of a body that was written down, by us or by a browser.

    Raises:
        ValueError: It is not the base64 that it says it is.
    """
    said = str(holder.get("text") or "")
    if "base64" in (holder.get("encoding"), holder.get("_encoding")):
        return base64.b64decode(said)
    return said.encode()


def _pairs(pairs: Pairs) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _header(listed: list[dict[str, str]], name: str) -> str:
    return next((pair["value"] for pair in listed if pair["name"].lower() == name), "")
