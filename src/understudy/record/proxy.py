"""Passes requests on to a deployment as ASGI applications, and hands every exchange to the judge.

``Recording`` puts these before a deployment: it is what ``understudy record`` runs.
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
from understudy.record.recorder import Recorder, recorder_of
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
    """Holds what the ports of a proxy share.

    Attributes:
        addresses: Translates addresses of all servers.
        upstream: Sends to the deployment.
        judge: Takes what passes.
        fallback: Responds where the deployment does not; None if nothing does.
        overlaps: Knows what is under way.
    """

    addresses: ProxiedAddresses
    upstream: Upstream
    judge: TrafficJudge
    fallback: Fallback | None = None
    overlaps: Overlaps = field(default_factory=Overlaps)


REWRITTEN: Final = frozenset({"application/json", "text/html"})
"""Media types of bodies in which addresses are rewritten, so that links and forms stay here."""

CHANGES: Final = frozenset({"POST", "PATCH", "PUT", "DELETE"})
BODILESS: Final = frozenset({204, 304})
"""Statuses of responses that never have a body (RFC 9110, 6.4.1)."""

UNAVAILABLE: Final = frozenset({502, 503, 504})
"""Statuses of a deployment that does not respond itself (RFC 9110, 15.6)."""

FINAL_STATUSES: Final = range(200, 600)
"""Statuses that a client can be sent as a response (RFC 9110, 15)."""

NOT_LOOPBACK: Final = "The Host is not a loopback host name; call 127.0.0.1 or localhost."

REFUSED_METHODS: Final = frozenset({"CONNECT", "TRACE"})


class Proxy:
    """Passes on what a client sends to one port.

    Args:
        servers: The servers behind the port, of which the path decides.
        parts: What it shares with other ports.

    Attributes:
        websocket_protocol: Makes what a connection that asks for a WebSocket is handed over to.
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
        """Responds to a request.

        An error is noted by its place alone: its text could have a token in it.
        """
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
        """Returns a request for a WebSocket as the deployment gets it, and says that it passes."""
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
        """Returns the server that a path belongs to; one port may stand for both."""
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
        """Lets the fallback respond, and returns whether it did."""
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
        """Sends a request on, and its response back.

        Raises:
            NoUpstreamResponse: The deployment did not respond, or not to the end.
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
                if str(response.captured.size) == length:  # the client sees the end in this part
                    await self._judge.passed(request, response, span)
                    await client.end(part)
                    return
                await client.send(part)
            await self._judge.passed(request, response, span)
            await client.end()

    def _response(self, request: ProxiedRequest, received: httpx.Response) -> ProxiedResponse:
        """Returns the header of a response, as far as it can pass.

        Raises:
            NoUpstreamResponse: It cannot pass, or is from before the deployment.
        """
        status = received.status_code
        if self._fallback is not None and status in UNAVAILABLE:
            raise NoUpstreamResponse.of_status(status)
        if status not in FINAL_STATUSES:
            raise NoUpstreamResponse.of_unknown_status(status)
        fields, names = sendable(lowered(received.headers.raw))
        if names:
            self._judge.changed(request, names)
        return ProxiedResponse(status, fields)

    def _is_held(self, request: ProxiedRequest, response: ProxiedResponse) -> bool:
        """Tells whether a response is sent once it is whole: to judge or to rewrite it first."""
        if self._judge.is_blocking:
            return True
        if request.method == "HEAD" or response.status in BODILESS:
            return False
        media_type = field_value(response.fields, b"content-type").partition(";")[0].strip().lower()
        return media_type in REWRITTEN and not field_value(response.fields, b"content-encoding")

    async def _send_held(
        self,
        request: ProxiedRequest,
        response: ProxiedResponse,
        client: ClientConnection,
        span: ExchangeSpan,
    ) -> None:
        """Sends a whole response, or the finding that withholds it."""
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
        if response.status in BODILESS:  # their length is that of another response
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
    """Returns the host name that a client calls the proxy by."""
    name = urlsplit(f"//{field_value(fields, b'host')}").hostname or ""
    return f"[{name}]" if ":" in name else name


async def _held(parts: AsyncIterator[bytes], response: ProxiedResponse) -> bytes:
    """Returns a body, up to the part with which it is too large to be held."""
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
        auth_port: The proxy's port for the authorization server; the same for a single port.
        is_blocking: True to withhold responses that break a rule.
        key: The project's key, under which exchanges are kept; None keeps none.
        fallback: Called with a line where a mock responds, as the deployment did not; None for no mock.
    """

    port: int
    auth_port: int
    is_blocking: bool = False
    key: bytes | None = None
    fallback: Callable[[str], object] | None = None


class Recording:
    """A proxy before a deployment, from its start to its report.

    Args:
        deployment: The deployment.
        options: What the caller says.
        announce: Called with every finding when it is first made.
        upstream: Sends to the deployment; over sockets by default.

    Attributes:
        applications: The ASGI application of each port.
        judge: Judges what passes.
        recorder: Keeps what passes; None where nothing is to be kept.
        fallback: The mock that responds where the deployment does not; None if none does.
        proxied_urls: The base URLs that an app is given: ``base_url`` and ``auth_url``.

    Raises:
        StartupError: A document cannot be read, or the target is not as it must be.
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
            self.recorder = recorder_of(options.key, deployment.target, routes, documents, started)
        self.fallback: Fallback | None = None
        if options.fallback is not None:
            self.fallback = Fallback(deployment, routes, options.fallback)
        self.judge = TrafficJudge(
            deployment,
            document,
            routes,
            is_blocking=options.is_blocking,
            announce=announce,
            record=self._take,
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
        """Judges what has passed, and ends the connections to the deployment."""
        await self.judge.settled()
        await self._upstream.aclose()

    def _take(self, exchange: Exchange, evaluator: Evaluator) -> None:
        """Hands an exchange to those that read it."""
        if self.fallback is not None:
            self.fallback.observe(exchange)
        if self.recorder is not None:
            self.recorder.take(exchange, evaluator)

    def finish(self) -> None:
        """Ends the thread of the judge."""
        self.judge.close()


def _servers(deployment: Deployment, options: RecordingOptions) -> list[ProxiedServer]:
    target = deployment.target
    servers = [ProxiedServer("resource", target.base_url.rstrip("/"), options.port)]
    if target.auth_url is not None:
        url = target.auth_url.rstrip("/")
        servers.append(ProxiedServer("authorization", url, options.auth_port))
    return servers


def _document(deployment: Deployment) -> Document:
    """Returns the document in force; sends GET /openapi where it is the published one.

    Raises:
        StartupError: It cannot be read.
    """
    document = deployment.document or bundled("service.yaml")
    if not deployment.is_published:
        return document
    with closing(ledger_of(deployment)) as ledger:
        return read_published(gateway_of(deployment, document, ledger))
