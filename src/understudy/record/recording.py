"""Puts a recording proxy before a deployment: what ``understudy record`` runs."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass

from understudy.exchange.messages import Exchange
from understudy.openapi.loader import Document
from understudy.record.fallback import Fallback
from understudy.record.proxy import Proxy, ProxyParts
from understudy.record.recorder import Recorder, recorder_of
from understudy.record.servers import ProxiedAddresses, ProxiedServer
from understudy.record.traffic_judge import TrafficJudge
from understudy.record.upstream import Upstream
from understudy.verify.deployment import Deployment, ledger_of
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import Finding
from understudy.verify.run import gateway_of, read_published, routes_of
from understudy.verify.shapes import bundled


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
