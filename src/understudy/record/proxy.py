"""ASGI applications that forward requests to a deployment, and hand every exchange to the judge.

``understudy record`` runs a ``Recording``, which has one such application per port.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from understudy.exchange.messages import Exchange
from understudy.openapi.loader import Document
from understudy.openapi.media_types import is_json, without_options
from understudy.record.fallback import Fallback
from understudy.record.messages import (
    ClientConnection,
    ClientGone,
    ExchangeSpan,
    Overlaps,
    ProxiedRequest,
    ProxiedResponse,
    Receive,
    Send,
    error_response,
    place_of,
)
from understudy.record.recorder import Recorder
from understudy.record.servers import (
    Fields,
    ProxiedAddresses,
    ProxiedServer,
    field_value,
    lowered,
    opened_to,
    preflight_fields,
    request_fields,
    response_fields,
    sendable,
)
from understudy.record.traffic_judge import TrafficJudge
from understudy.record.upstream import NoUpstreamResponse, Tunnel, TunnelHead, Upstream, parts_of
from understudy.verify.deployment import Deployment, ledger_of
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import Finding
from understudy.verify.run import gateway_of, read_published, routes_of
from understudy.verify.shapes import bundled
from understudy.verify.target import is_loopback


@dataclass(frozen=True, slots=True)
class ProxyParts:
    """The parts that all ports of a proxy share."""

    addresses: ProxiedAddresses
    upstream: Upstream
    judge: TrafficJudge
    fallback: Fallback | None = None
    overlaps: Overlaps = field(default_factory=Overlaps)


CHANGES: Final = frozenset({"POST", "PATCH", "PUT", "DELETE"})
BODILESS: Final = frozenset({204, 304})
"""Statuses of responses that never have a body (RFC 9110, 6.4.1)."""

UNAVAILABLE: Final = frozenset({502, 503, 504})
"""Statuses that gateways send for a deployment that is down (RFC 9110, 15.6)."""

FINAL_STATUSES: Final = range(200, 600)
"""Valid statuses of a final response (RFC 9110, 15)."""

NOT_LOOPBACK: Final = "The Host is not a loopback host name; call 127.0.0.1 or localhost."

REFUSED_METHODS: Final = frozenset({"CONNECT", "TRACE"})


class Proxy:
    """Forwards the requests to one port.

    Args:
        servers: The servers behind the port; the path selects one.
        parts: The parts shared with other ports.

    Attributes:
        websocket_protocol: Makes the protocol that uvicorn hands WebSocket connections over to.
    """

    def __init__(self, servers: Sequence[ProxiedServer], parts: ProxyParts) -> None:
        self._servers = servers
        self._addresses = parts.addresses
        self._upstream = parts.upstream
        self._overlaps = parts.overlaps
        self._judge = parts.judge
        self._fallback = parts.fallback
        self.websocket_protocol = partial(Tunnel, self._tunnelled)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Responds to a request; an error is noted by its place, as its text may contain a token."""
        if scope["type"] != "http":
            return
        request, client = self._request(scope, receive), ClientConnection(send)
        try:
            await self._respond(request, client)
        except ClientGone:
            return
        except Exception as error:  # its text must not reach the server's log
            self._judge.failed(place_of(error))
            if not client.is_started:
                message = "The proxy itself failed; its terminal says where."
                await self._refuse(request, client, 502, "proxy_failed", message)

    def _tunnelled(self, target: bytes, fields: Fields) -> TunnelHead:
        """Returns the translated head of a WebSocket request, and reports that it is not judged."""
        server, host = self._server_of(target.decode("latin-1")), _host_of(fields)
        if not is_loopback(f"http://{host}"):
            return TunnelHead(server, target, [], NOT_LOOPBACK)
        self._judge.passes_unjudged(server)
        return TunnelHead(server, target, request_fields(fields, self._addresses, server, host))

    def _request(self, scope: Mapping[str, Any], receive: Receive) -> ProxiedRequest:
        path: bytes = scope["raw_path"]
        query: bytes = scope["query_string"]
        host = _host_of(scope["headers"])
        server = self._server_of(path.decode("latin-1"))
        if server.site == "authorization":
            query = self._addresses.pairs_for_deployment(query, host)
        target = path + b"?" + query if query else path
        return ProxiedRequest(
            server, scope["method"], target, list(scope["headers"]), host, receive
        )

    def _server_of(self, path: str) -> ProxiedServer:
        """Returns the server that a path belongs to, as one port may serve both."""
        below = (each for each in self._servers if each.path and path.startswith(f"{each.path}/"))
        return next(below, self._servers[-1])

    async def _respond(self, request: ProxiedRequest, client: ClientConnection) -> None:
        if not is_loopback(f"http://{request.host}"):
            await self._refuse(request, client, 403, "host_not_allowed", NOT_LOOPBACK)
            return
        if request.method in REFUSED_METHODS:
            message = f"The proxy passes no {request.method}."
            await self._refuse(request, client, 405, "method_not_allowed", message)
            return
        preflight = preflight_fields(request.fields) if request.method == "OPTIONS" else None
        if preflight is not None and request.server.site == "resource":
            await client.send_whole(204, preflight, b"")
            return
        is_change = request.method in CHANGES and request.server.site == "resource"
        with self._overlaps.span(is_change=is_change) as span:
            try:
                await self._pass_on(request, client, span)
            except NoUpstreamResponse as error:
                if not client.is_started and await self._respond_instead(request, client, error):
                    return
                self._judge.lost(request, error)
                if not client.is_started:  # else the server ends the connection
                    await self._refuse(request, client, error.status, error.code, f"{error}.")

    async def _respond_instead(
        self, request: ProxiedRequest, client: ClientConnection, failure: NoUpstreamResponse
    ) -> bool:
        """Sends the fallback's response, and returns whether there was one."""
        if self._fallback is None:
            return False
        await request.receive_rest()
        response = await self._fallback.respond(request, failure)
        if response is None:
            return False
        fields = response.fields
        if request.origin:
            fields = opened_to(request.origin, fields)
        await client.send_whole(response.status, fields, response.captured.content)
        return True

    async def _pass_on(
        self, request: ProxiedRequest, client: ClientConnection, span: ExchangeSpan
    ) -> None:
        """Forwards a request, and sends the response back.

        Raises:
            NoUpstreamResponse: The deployment did not respond, or its response broke off.
            ClientGone: The client ended the connection.
        """
        if request.server.site == "authorization":
            await request.rewrite_form(
                lambda form: self._addresses.pairs_for_deployment(form, request.host)
            )
        fields = request_fields(request.fields, self._addresses, request.server, request.host)
        received = await self._upstream.send(
            request.server,
            request.method,
            request.target,
            fields,
            request.remaining_body() if request.has_body else None,
        )
        async with aclosing(received), request.watched() as expect_client:
            response = self._response(request, received)
            parts = parts_of(received)
            begun = b""
            if self._is_held(request, response):
                begun = await _held(parts, response)
                if response.captured.is_whole:
                    await self._send_held(request, response, client, span)
                    return
            fields = self._fields_for_client(request, response)
            await client.start(response.status, fields)
            await client.send(begun)
            length = field_value(response.fields, b"content-length")
            async for part in parts:
                expect_client()
                response.captured.add(part)
                # by Content-Length this is the last part: judge before the client sees the end
                if str(response.captured.size) == length:
                    await self._judge.passed(request, response, span)
                    await client.end(part)
                    return
                await client.send(part)
            await self._judge.passed(request, response, span)
            await client.end()

    def _response(self, request: ProxiedRequest, received: httpx.Response) -> ProxiedResponse:
        """Returns the head of a response that can be forwarded.

        Raises:
            NoUpstreamResponse: The status is invalid, or with a fallback, that of a gateway.
        """
        status = received.status_code
        if self._fallback is not None and status in UNAVAILABLE:
            msg = f"the deployment is not available (status {status})"
            raise NoUpstreamResponse(msg)
        if status not in FINAL_STATUSES:
            msg = f"the deployment sent the status {status}, which HTTP does not know"
            raise NoUpstreamResponse(msg)
        fields, names = sendable(lowered(received.headers.raw))
        if names:
            self._judge.changed(request, names)
        return ProxiedResponse(status, fields)

    def _is_held(self, request: ProxiedRequest, response: ProxiedResponse) -> bool:
        """Tells whether a response is sent only when it is complete, to judge or rewrite it first."""
        if self._judge.is_blocking:
            return True
        if request.method == "HEAD" or response.status in BODILESS:
            return False
        media_type = without_options(field_value(response.fields, b"content-type"))
        # links and forms are to lead to the proxy
        is_rewritten = is_json(media_type) or media_type == "text/html"
        return is_rewritten and not field_value(response.fields, b"content-encoding")

    async def _send_held(
        self,
        request: ProxiedRequest,
        response: ProxiedResponse,
        client: ClientConnection,
        span: ExchangeSpan,
    ) -> None:
        """Judges a complete response, and sends it, or the finding if responses are withheld."""
        finding = await self._judge.passed(request, response, span)
        if finding is not None:
            await self._refuse(request, client, 502, "contract_broken", finding)
            return
        fields = self._fields_for_client(request, response)
        body = response.captured.content
        if body and not field_value(response.fields, b"content-encoding"):
            body = self._addresses.body_for_client(body, request.host)
            fields = [(name, value) for name, value in fields if name != b"content-length"]
            fields.append((b"content-length", str(len(body)).encode()))
        await client.send_whole(response.status, fields, body)

    def _fields_for_client(self, request: ProxiedRequest, response: ProxiedResponse) -> Fields:
        fields = response_fields(response.fields, self._addresses, request.host)
        if response.status in BODILESS:  # a length would be that of the corresponding 200
            fields = [(name, value) for name, value in fields if name != b"content-length"]
        if request.server.site == "resource" and request.origin:
            return opened_to(request.origin, fields)
        return fields

    async def _refuse(
        self,
        request: ProxiedRequest,
        client: ClientConnection,
        status: int,
        code: str,
        message: str,
    ) -> None:
        fields, body = error_response(request.server.site, code, message)
        if request.server.site == "resource" and request.origin:
            fields = opened_to(request.origin, fields)
        await client.send_whole(status, fields, body)


def _host_of(fields: Fields) -> str:
    """Returns the host name by which a client calls the proxy."""
    name = urlsplit(f"//{field_value(fields, b'host')}").hostname or ""
    return f"[{name}]" if ":" in name else name


async def _held(parts: AsyncIterator[bytes], response: ProxiedResponse) -> bytes:
    """Receives a body, up to the part with which it becomes too large to be kept."""
    held = bytearray()
    async for part in parts:
        held += part
        response.captured.add(part)
        if not response.captured.is_whole:
            break
    return bytes(held)


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """The options of a recording.

    Attributes:
        port: The proxy's port for the resource API.
        auth_port: The proxy's port for the authorization server; may be the same.
        is_blocking: True to withhold responses that break a rule.
        key: The project's key for pseudonyms; None: exchanges are not kept.
        fallback: Called with a line for each response of the fallback mock; None: no fallback.
    """

    port: int
    auth_port: int
    is_blocking: bool = False
    key: bytes | None = None
    fallback: Callable[[str], object] | None = None


class Recording:
    """A proxy before a deployment, with its judge and recorder.

    Args:
        deployment: The deployment.
        options: The options of the recording.
        announce: Called with every finding when it is first made.
        upstream: Sends to the deployment; over sockets by default.

    Attributes:
        applications: Port to ASGI application.
        judge: Judges the exchanges.
        recorder: Keeps the exchanges; None if they are not kept.
        fallback: The mock that responds if the deployment does not; None without.
        proxied_urls: The URLs of the proxy for an app, as ``base_url`` and ``auth_url``.

    Raises:
        StartupError: A document cannot be read, or the target is invalid.
    """

    def __init__(
        self,
        deployment: Deployment,
        options: RecordingOptions,
        announce: Callable[[Finding], None],
        upstream: Upstream | None = None,
    ) -> None:
        self._upstream = upstream or Upstream()
        document = _document(deployment)
        servers = _servers(deployment, options)
        routes = routes_of(deployment.target, document)
        documents = {"resource": document, "authorization": bundled("authorization.yaml")}
        self.recorder: Recorder | None = None
        if options.key is not None:
            started = deployment.time.now()
            self.recorder = Recorder(options.key, deployment.target, routes, documents, started)
        self.fallback: Fallback | None = None
        if options.fallback is not None:
            self.fallback = Fallback(deployment, routes, options.fallback)
        self.judge = TrafficJudge(
            deployment,
            document,
            routes,
            is_blocking=options.is_blocking,
            announce=announce,
            record=self._hand_over,
        )
        if self.fallback is not None:
            self.fallback.settled = self.judge.settled
        names = {"resource": "base_url", "authorization": "auth_url"}
        self.proxied_urls = {
            names[server.site]: server.proxied_origin("127.0.0.1") + server.path
            for server in servers
        }
        parts = ProxyParts(ProxiedAddresses(servers), self._upstream, self.judge, self.fallback)
        self.applications: Mapping[int, Proxy] = {
            port: Proxy([server for server in servers if server.port == port], parts)
            for port in dict.fromkeys(server.port for server in servers)
        }

    async def aclose(self) -> None:
        """Waits for the judge, and closes the connections to the deployment."""
        await self.judge.settled()
        await self._upstream.aclose()

    def _hand_over(self, exchange: Exchange, evaluator: Evaluator) -> None:
        """Hands an exchange to the fallback and to the recorder."""
        if self.fallback is not None:
            self.fallback.observe(exchange)
        if self.recorder is not None:
            self.recorder.take(exchange, evaluator)


def _servers(deployment: Deployment, options: RecordingOptions) -> list[ProxiedServer]:
    target = deployment.target
    servers = [ProxiedServer("resource", target.base_url.rstrip("/"), options.port)]
    if target.auth_url is not None:
        url = target.auth_url.rstrip("/")
        servers.append(ProxiedServer("authorization", url, options.auth_port))
    return servers


def _document(deployment: Deployment) -> Document:
    """Returns the document to judge by; fetches it with GET /openapi if it is the published one.

    Raises:
        StartupError: The document cannot be read.
    """
    document = deployment.document or bundled("service.yaml")
    if not deployment.is_published:
        return document
    with closing(ledger_of(deployment)) as ledger:
        return read_published(gateway_of(deployment, document, ledger))
