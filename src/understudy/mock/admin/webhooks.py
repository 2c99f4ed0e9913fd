"""Lists and sends what the service of the document in force sends (``openapi/admin.yaml``)."""

from collections.abc import Mapping
from typing import Any

from understudy.errors import NotFound, nearest
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.callbacks import Callbacks
from understudy.mock.server.handlers import Handlers


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
    """Responds to ``POST /webhooks/{name}``: sends it at once.

    Raises:
        NotFound: The document declares none of this name.
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


HANDLERS: Handlers = {
    ("GET", "/webhooks"): list_webhooks,
    ("POST", "/webhooks/{name}"): send_webhook,
}
"""Method and path to what takes the sender of callbacks, and then what any handler takes."""
