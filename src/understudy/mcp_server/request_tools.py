"""Tools that send a request, explain a response, and tell which parts of the contract were used."""

import base64
import binascii
from typing import Annotated, Final

import httpx
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from understudy.mcp_server.messages import (
    AgentRequest,
    ExercisedParts,
    Explanation,
    SentRequest,
    UnusedParts,
)
from understudy.mcp_server.session_worlds import ToolContext, world_of
from understudy.mcp_server.world_tools import World
from understudy.testing.world import JsonObject, MockWorld

SHOWN: Final = 4000
"""Characters of a body in a result: an agent pays for each."""

SECONDS: Final = 90
"""Patience with a response, beyond the longest delay that a fault can have."""

_SHOWN_HEADERS: Final = frozenset(
    {"allow", "content-length", "content-type", "location", "retry-after", "www-authenticate"}
)
_SHOWN_PREFIXES: Final = ("x-mock-", "x-ratelimit-", "ratelimit-", "x-rate-limit-")


def send_request(ctx: ToolContext, request: AgentRequest, world: World = None) -> SentRequest:
    """Sends a request to the mock and returns the response; redirects are not followed."""
    prepared = outgoing(request, world_of(ctx, world))
    transport = ctx.request_context.lifespan_context.transport
    # it is not closed with this request, as others use its connections
    client = httpx.Client(transport=transport, timeout=SECONDS, trust_env=False)
    try:
        response = client.send(prepared)
    except httpx.HTTPError as error:
        msg = f"No response: {str(error) or type(error).__name__}. A fault may have reset it; set_faults with an empty list lifts all."
        raise ToolError(msg) from error
    text = _text(response)
    headers = {
        name: value
        for name, value in response.headers.items()
        if name in _SHOWN_HEADERS or name.startswith(_SHOWN_PREFIXES)
    }
    return SentRequest(
        url=str(prepared.url),
        status=response.status_code,
        headers=headers,
        body=text[:SHOWN],
        is_cut=len(text) > SHOWN,
    )


def outgoing(request: AgentRequest, world: MockWorld) -> httpx.Request:
    """Returns a request as it is sent to a world.

    Raises:
        ToolError: It has more than one body, or something in it is not base64 or not a header.
    """
    bodies = (request.json_body, request.body, request.body_base64, request.files or None)
    if sum(body is not None for body in bodies) > 1:
        msg = "A request has one body: give json_body, body, body_base64 or files."
        raise ToolError(msg)
    base = world.base_url if request.site == "resource" else world.auth_url
    headers = dict(request.headers)
    if request.token is not None:
        headers["Authorization"] = f"Bearer {request.token}"
    files = [(name, ("upload", decoded(text))) for name, text in request.files.items()]
    try:
        return httpx.Request(
            request.method.upper(),
            base + request.path,
            headers=headers,
            json=request.json_body,
            content=content(request.body, request.body_base64),
            files=files or None,
        )
    except (httpx.InvalidURL, UnicodeEncodeError) as error:
        msg = f"The request cannot be sent: {error}. Percent-encode the path, and use ASCII in headers."
        raise ToolError(msg) from error


def content(text: str | None, encoded: str | None) -> bytes | None:
    """Returns the bytes of a body that is text or base64; None without one."""
    if text is not None:
        return text.encode()
    return None if encoded is None else decoded(encoded)


def decoded(text: str) -> bytes:
    """Decodes base64.

    Raises:
        ToolError: It is not base64.
    """
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        msg = f"{text[:40]!r} is not base64 ({error}); text goes into `body`."
        raise ToolError(msg) from error


def _text(response: httpx.Response) -> str:
    kind = response.headers.get("content-type", "")
    try:
        return response.content.decode()
    except UnicodeDecodeError:
        return f"({len(response.content)} bytes of {kind or 'no type'})"


def explain_request(
    ctx: ToolContext,
    request_id: Annotated[
        int | None, Field(description="Id in the journal; null for the latest that matches.")
    ] = None,
    operation: Annotated[str | None, Field(description="Only this operationId.")] = None,
    status: Annotated[
        str | None, Field(description="Only this status, or class such as 4XX.")
    ] = None,
    world: World = None,
) -> Explanation:
    """Explains why the mock responded as it did: to the latest request, or to the latest one that matches.

    Requests of the application under test count as well as those of send_request.
    """
    admin = world_of(ctx, world).admin
    if request_id is None:
        filters = {"limit": 1, "operation": operation, "status": status}
        wanted = {name: value for name, value in filters.items() if value is not None}
        latest = admin.call("GET", "/requests", params=wanted)["requests"]
        if not latest:
            msg = "No request of this world matches; send one with send_request, or drop a filter."
            raise ToolError(msg)
        request_id = latest[0]["id"]
    return _explanation(admin.call("GET", f"/requests/{request_id}"))


def _explanation(entry: JsonObject) -> Explanation:
    why, request = entry["explanation"], entry["request"]
    refusal = why.get("refusal") or {}
    breach = refusal.get("breach") or {}
    operation = why.get("operation") or {}
    return Explanation(
        id=entry["id"],
        request=f"{request['method']} {request['url']}",
        status=entry["response"]["status"],
        operation=operation.get("id"),
        identity=f"{why['person'] or 'anonymous'} ({why['identity']})",
        refusal=refusal.get("message"),
        where=breach.get("where"),
        expected=breach.get("expected"),
        document=breach.get("document") or operation.get("document"),
        rules=[f"{rule['id']}: {rule['statement']}" for rule in why["rules"]],
        fault=why["fault"],
        notes=why["notes"],
    )


def exercised(ctx: ToolContext, world: World = None) -> ExercisedParts:
    """Tells which statuses and identities of each operation the world's requests have not used yet."""
    report = world_of(ctx, world).admin.call("GET", "/exercised")
    parts = [
        UnusedParts(
            operation=operation["operation"],
            requests=operation["requests"],
            never=[part for part, is_used in operation["parts"].items() if not is_used],
        )
        for operation in report["operations"]
    ]
    return ExercisedParts(
        exercised=report["exercised"],
        declared=report["declared"],
        operations=[part for part in parts if part.never],
    )
