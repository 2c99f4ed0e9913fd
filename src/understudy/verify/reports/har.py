"""All traffic of a run as an HTTP archive (HAR 1.2), secrets masked; and archives read again."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from understudy import http_archive as writer
from understudy.deployments.exchange import (
    Exchange,
    Headers,
    Request,
    Response,
    headers_of,
    masked,
    unmasked,
)
from understudy.deployments.target import Target
from understudy.errors import StartupError
from understudy.interface.operations import Routes
from understudy.verify.outcome import Outcome

KEPT = 512 * 1024
"""Bytes of a body that an archive keeps."""


def har(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the traffic as HAR."""
    entries = (_entry(exchange, secrets) for exchange in outcome.exchanges)
    log = writer.archive("understudy verify", entries)
    return orjson.dumps(log, option=orjson.OPT_INDENT_2).decode()


def _entry(exchange: Exchange, secrets: Mapping[str, str]) -> dict[str, Any]:
    request, answer = exchange.request, exchange.response
    query = [
        (name, masked(f"{name}={text}", secrets).partition("=")[2]) for name, text in request.pairs
    ]
    asked = writer.request(
        request.method,
        masked(request.url, secrets),
        _masked(request.headers, secrets),
        query,
        _body(request.body, secrets, writer.posted_text) if request.body else None,
        len(request.body),
    )
    answered = writer.response(
        answer.status,
        _masked(answer.headers, secrets),
        _body(answer.body, secrets, writer.text),
        len(answer.body),
    )
    return writer.entry(
        exchange.at.isoformat(),
        exchange.elapsed_ms,
        asked,
        answered,
        _source=exchange.source,
        _identity=exchange.identity.name,
    )


def _masked(headers: Headers, secrets: Mapping[str, str]) -> Headers:
    return tuple((name, masked(text, secrets)) for name, text in headers)


def _body(
    body: bytes, secrets: Mapping[str, str], write: Callable[[bytes], dict[str, str]]
) -> dict[str, str]:
    if len(body) > KEPT:
        return {"text": "", "comment": "left out, as it is large"}
    try:
        return write(masked(body.decode(), secrets).encode())
    except UnicodeDecodeError:
        return write(body)


def read_har(path: Path, target: Target, routes: Routes) -> list[Exchange]:
    """Reads recorded traffic: a browser's export, a proxy's, or a run's.

    Raises:
        StartupError: It cannot be read, or is no archive.
    """
    try:
        entries = orjson.loads(path.read_bytes())["log"]["entries"]
        found = [_exchange(number, e, target, routes) for number, e in enumerate(entries, 1)]
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise StartupError(msg) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{path} is no HTTP archive (HAR 1.2): {type(error).__name__}: {error}."
        raise StartupError(msg) from error
    return [exchange for exchange in found if exchange.response.status]


def _exchange(number: int, entry: dict[str, Any], target: Target, routes: Routes) -> Exchange:
    asked, answered = entry["request"], entry["response"]
    secrets = target.secrets()

    def pairs(listed: list[dict[str, str]]) -> Headers:
        return headers_of((h["name"], unmasked(h["value"], secrets)) for h in listed)

    request = Request(
        asked["method"],
        unmasked(asked["url"], secrets),
        pairs(asked["headers"]),
        _content(asked.get("postData") or {}, secrets),
    )
    body = _content(answered.get("content") or {}, secrets)
    answer = Response(int(answered["status"]), pairs(answered["headers"]), body)
    place = routes.find(request.method, request.url)
    at = datetime.fromisoformat(entry["startedDateTime"])
    return Exchange(
        number=number,
        source="recorded",
        identity=target.identify(request.token),
        request=request,
        response=answer,
        at=at if at.tzinfo else at.replace(tzinfo=UTC),
        operation=place.operation,
        site=place.site,
        path=place.path,
        values=place.values,
        elapsed_ms=float(entry.get("time") or 0),
    )


def _content(holder: dict[str, Any], secrets: Mapping[str, str]) -> bytes:
    body = writer.body(holder)
    try:
        return unmasked(body.decode(), secrets).encode()
    except UnicodeDecodeError:
        return body
