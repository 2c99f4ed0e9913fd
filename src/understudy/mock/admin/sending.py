"""Handlers of the admin API that send requests: edge cases, those of the console, and webhooks.

Edge cases need a generator, which not every mock has (``EdgeCaseSource``).
"""

import asyncio
import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from understudy.errors import BadRequest, NotFound, StartupError, nearest
from understudy.exchange.asgi import exchanged, http_scope
from understudy.exchange.masking import MASK, masked_header
from understudy.mock.admin.context import AdminContext, AdminHandlers, EdgeCaseSource, SiteName
from understudy.mock.server.call import Call, HandlerResponse, Handlers, attachment
from understudy.mock.server.callbacks import SENDER, Callbacks
from understudy.mock.server.hosts import PRIVATE_PATHS
from understudy.mock.server.request_context import RequestContext, context_of


async def list_cases(
    admin: AdminContext, _call: Call, *, operation: str, count: int = 20, seed: int = 0
) -> HandlerResponse:
    """Responds to ``GET /edge-cases``.

    Raises:
        BadRequest: There is no such operation.
        NotFound: This mock makes no edge cases.
    """
    source = _expected(admin)
    try:
        cases = await asyncio.to_thread(source.cases, operation, count, seed)
    except StartupError as error:
        raise BadRequest(str(error)) from error
    return HandlerResponse({"cases": cases})


async def send_case(admin: AdminContext, call: Call, *, body: Mapping[str, Any]) -> HandlerResponse:
    """Responds to ``POST /edge-cases/send``.

    Raises:
        BadRequest: There is no such operation.
        NotFound: There is no such case, or this mock makes no edge cases.
    """
    source = _expected(admin)
    total = call.world.journal.total
    site_url = call.site_url + admin.base_path
    await admin.worlds.let_go()
    try:
        sent = await source.send(body, site_url, call.authorization_url)
    except StartupError as error:
        raise BadRequest(str(error)) from error
    await admin.worlds.refresh(call.world)
    after = call.world.journal.total
    return HandlerResponse({**sent, "request": after if after > total else None})


async def export_cases(
    admin: AdminContext, call: Call, *, operation: str, format_: str, count: int = 20, seed: int = 0
) -> HandlerResponse:
    """Responds to ``GET /edge-cases/export``.

    Raises:
        BadRequest: There is no such operation or format.
        NotFound: This mock makes no edge cases.
    """
    source = _expected(admin)
    urls = {
        "resource": call.site_url + admin.base_path,
        "authorization": call.authorization_url,
    }
    options = {"count": count, "seed": seed}
    try:
        exported = await asyncio.to_thread(source.exported, operation, format_, options, urls)
    except StartupError as error:
        raise BadRequest(str(error)) from error
    media_type = "application/zip" if exported.suffix == ".zip" else "text/plain"
    return attachment(exported.content, f"{operation}{exported.suffix}", media_type)


def _expected(admin: AdminContext) -> EdgeCaseSource:
    source = admin.edge_cases()
    if source is None:
        msg = "This mock makes no edge cases; one that `understudy serve` starts does."
        raise NotFound(msg)
    return source


# The journal shows a request with its secrets masked. To send it again, the console passes the masked
# text back with the request's number, and the mock puts the secrets in, which so never leave it.

_COMPUTED: Final = frozenset({b"content-length", b"transfer-encoding", b"expect"})
"""Header fields that are not copied, as they depend on the body and the connection."""


class _SentRequest(NamedTuple):
    """A request to a site of the mock."""

    method: str
    target: str
    fields: list[tuple[bytes, bytes]]
    body: bytes


_EMPTY: Final = _SentRequest("GET", "", [], b"")
"""The values for members of a body that neither the caller nor a model gives."""


async def send_request(
    admin: AdminContext, call: Call, *, body: Mapping[str, Any]
) -> HandlerResponse:
    """Responds to ``POST /send``.

    Raises:
        BadRequest: The request cannot be sent, or is for the admin API.
        NotFound: The journal does not remember the request that is the model.
    """
    model = _model(call, body.get("like"))
    request = _request(call, body, model)
    site: SiteName = body.get("site") or _site_of(model)
    urls = {"resource": call.site_url, "authorization": call.authorization_url}
    await admin.worlds.let_go()
    context, status = await _exchanged(admin.sites[site], request, urls[site], call)
    return HandlerResponse({"request": context.number or None, "status": status})


def _model(call: Call, number: int | None) -> RequestContext | None:
    if number is None:
        return None
    context: RequestContext | None = call.world.journal.get(number)
    if context is None:
        msg = f"like: the journal of this world does not remember a request {number}."
        raise NotFound(msg)
    if context.client == SENDER:
        msg = f"like: request {number} was sent by the mock; POST /webhooks/NAME sends it again."
        raise BadRequest(msg)
    return context


def _site_of(model: RequestContext | None) -> SiteName:
    """Returns the site that a request was sent to; the resource API without a request."""
    is_authorization = model is not None and model.site_url != model.resource_url
    return "authorization" if is_authorization else "resource"


def _request(call: Call, body: Mapping[str, Any], model: RequestContext | None) -> _SentRequest:
    """Returns the request that a body describes; parts that it lacks are taken from the model."""
    if model is None and not {"method", "url"} <= body.keys():
        msg = "method, url: name both, or a request of the journal that is to be sent again (like)."
        raise BadRequest(msg)
    old = _EMPTY
    if model is not None:
        query = f"?{model.query.decode('latin-1')}" if model.query else ""
        fields = list(model.sent_headers)
        old = _SentRequest(model.method, model.path + query, fields, model.body)
    method = body.get("method") or old.method
    target = _target(body["url"], old) if "url" in body else old.target
    if urlsplit(target).path.startswith(PRIVATE_PATHS):
        msg = f"url: {target!r} is a path of the mock's own user; call it as it is."
        raise BadRequest(msg)
    fields = _fields(body["headers"], old) if "headers" in body else old.fields
    host = urlsplit(call.site_url).netloc.encode("latin-1")
    kept = [field for field in fields if field[0] not in {*_COMPUTED, b"host"}]
    content = _content(body, old)
    length = [(b"content-length", b"%d" % len(content))] if content or method == "POST" else []
    return _SentRequest(method, target, [(b"host", host), *kept, *length], content)


def _target(url: str, old: _SentRequest) -> str:
    """Returns path and query of a URL, with the original values in place of masks."""
    if not url.isascii() or not url.isprintable() or " " in url:
        msg = f"url: {url!r} has characters that a URL must encode (RFC 3986, 2.1)."
        raise BadRequest(msg)
    path, mark, query = url.partition("#")[0].partition("?")
    return f"{path}{mark}{_unmasked_form(query, old.target.partition('?')[2])}"


def _fields(headers: Mapping[str, str], old: _SentRequest) -> list[tuple[bytes, bytes]]:
    """Returns header fields; one that equals the masked original gets the original value."""
    fields = []
    for name, text in headers.items():
        key = name.lower().encode("ascii", "replace")
        same = [value for field, value in old.fields if field == key]
        hidden = (it for it in same if text in {MASK, masked_header(name, it.decode("latin-1"))})
        fields.append((key, next(hidden, text.encode("latin-1", "replace"))))
    return fields


def _content(body: Mapping[str, Any], old: _SentRequest) -> bytes:
    if "base64" in body:
        try:
            return base64.b64decode(body["base64"], validate=True)
        except (binascii.Error, ValueError) as error:
            msg = f"base64: {error}."
            raise BadRequest(msg) from error
    if "body" not in body:
        return old.body
    text: str = body["body"]
    if MASK in text:
        text = _unmasked_form(text, old.body.decode("latin-1"))
    return text.encode("utf-8", "replace")


def _unmasked_form(text: str, original: str) -> str:
    """Returns a form or a query in which masked values are replaced by the original ones."""
    values: dict[str, list[str]] = {}
    for pair in filter(None, original.split("&")):
        name, _, value = pair.partition("=")
        values.setdefault(name, []).append(value)
    pairs = []
    for pair in text.split("&"):
        name, _, value = pair.partition("=")
        earlier = values.get(name, [])
        before = earlier.pop(0) if earlier else None
        pairs.append(f"{name}={before}" if value == MASK and before is not None else pair)
    return "&".join(pairs)


async def _exchanged(
    site: ASGIApp, request: _SentRequest, url: str, call: Call
) -> tuple[RequestContext, int]:
    """Sends a request to a site, and returns its context and the status of its response."""
    address = urlsplit(url)
    server = (address.scheme, address.hostname or "127.0.0.1", address.port)
    target = (call.world.prefix + request.target).encode("latin-1")
    scope = http_scope(request.method, server, target, request.fields, (call.client, 0))
    response = await exchanged(site, scope, request.body)
    return context_of(scope), response.status


ADMIN_HANDLERS: AdminHandlers = {
    ("POST", "/send"): send_request,
    ("GET", "/edge-cases"): list_cases,
    ("POST", "/edge-cases/send"): send_case,
    ("GET", "/edge-cases/export"): export_cases,
}


def list_webhooks(callbacks: Callbacks, _call: Call) -> HandlerResponse:
    """Responds to ``GET /webhooks``."""
    listed = [
        {
            "name": it.name,
            "kind": it.declared.kind,
            "method": it.declared.operation.method,
            "address": it.declared.address or None,
        }
        for it in callbacks.sendables
    ]
    return HandlerResponse(listed)


async def send_webhook(
    callbacks: Callbacks, call: Call, name: str, *, body: Mapping[str, Any]
) -> HandlerResponse:
    """Responds to ``POST /webhooks/{name}``: sends a webhook or a callback at once.

    Raises:
        NotFound: The document declares no webhook or callback of this name.
        BadRequest: The receiver is not permitted.
    """
    has_body = "body" in body
    try:
        sent = await callbacks.trigger(
            name, body["url"], call.world, body.get("body"), has_body=has_body
        )
    except LookupError as error:
        known = [it.name for it in callbacks.sendables]
        msg = f"The document has no webhook and no callback {name!r}{nearest(name, known) or '.'}"
        raise NotFound(msg) from error
    return HandlerResponse(
        {"request": sent.number or None, "status": sent.status, "notes": sent.notes}
    )


OF_CALLBACKS: Handlers = {
    ("GET", "/webhooks"): list_webhooks,
    ("POST", "/webhooks/{name}"): send_webhook,
}
"""Handlers by method and path, which take the sender of callbacks before a handler's arguments."""
