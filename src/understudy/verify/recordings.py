"""Reads recorded traffic (HAR 1.2): a browser's export, a proxy's, or a run's own archive."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from understudy.deployments.target import Target
from understudy.errors import StartupError
from understudy.exchange import har
from understudy.exchange.messages import (
    ISSUED,
    Exchange,
    Headers,
    Identity,
    Request,
    Response,
    headers_of,
    issued_identity,
    media_type,
    unmasked,
)
from understudy.interface.operations import Routes


def read_recording(
    path: Path, target: Target, routes: Routes, *, is_sent: bool = True
) -> list[Exchange]:
    """Reads the exchanges of an archive, with the target's secrets put in again.

    Args:
        path: The HTTP archive.
        target: Whose secrets are meant by their variables.
        routes: Finds a request's operation.
        is_sent: False to read requests without a response too, as `understudy generate` writes them.

    Raises:
        StartupError: The file cannot be read, or is not an archive.
    """
    try:
        entries = orjson.loads(path.read_bytes())["log"]["entries"]
        exchanges = [_exchange(number, e, target, routes) for number, e in enumerate(entries, 1)]
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise StartupError(msg) from error
    except KeyError as error:
        msg = f"{path} is not an HTTP archive (HAR 1.2): it has no member {error}."
        raise StartupError(msg) from error
    except (ValueError, TypeError, AttributeError) as error:
        msg = f"{path} is not an HTTP archive (HAR 1.2): {error}."
        raise StartupError(msg) from error
    return [exchange for exchange in exchanges if exchange.response.status or not is_sent]


def _exchange(number: int, entry: dict[str, Any], target: Target, routes: Routes) -> Exchange:
    sent, received = entry["request"], entry["response"]
    secrets = target.secrets()

    def pairs(listed: list[dict[str, str]]) -> Headers:
        return headers_of((h["name"], unmasked(h["value"], secrets)) for h in listed)

    request = Request(
        sent["method"],
        unmasked(sent["url"], secrets, is_encoded=True),
        pairs(sent["headers"]),
        _content(sent.get("postData") or {}, secrets, pairs(sent["headers"])),
    )
    body = _content(received.get("content") or {}, secrets, ())
    response = Response(int(received["status"]), pairs(received["headers"]), body)
    place = routes.find(request.method, request.url)
    at = datetime.fromisoformat(entry["startedDateTime"])
    return Exchange(
        number=number,
        source="recorded",
        identity=_identity(entry, target.identify(request.token)),
        request=request,
        response=response,
        at=at if at.tzinfo else at.replace(tzinfo=UTC),
        operation=place.operation,
        site=place.site,
        path=place.path,
        values=place.values,
        elapsed_ms=float(entry.get("time") or 0),
    )


def _identity(entry: dict[str, Any], identity: Identity) -> Identity:
    """Returns the identity of a token that a run's own archive says was issued during the run."""
    if identity.kind != "unknown" or entry.get("_identity") != ISSUED:
        return identity
    scopes = entry.get("_scopes")
    return issued_identity(None if scopes is None else frozenset(scopes))


def _content(holder: dict[str, Any], secrets: dict[str, str], headers: Headers) -> bytes:
    body = har.body(holder)
    is_form = media_type(headers) == "application/x-www-form-urlencoded"
    try:
        return unmasked(body.decode(), secrets, is_encoded=is_form).encode()
    except UnicodeDecodeError:
        return body
