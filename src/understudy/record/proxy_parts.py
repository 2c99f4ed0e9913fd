"""Defines the parts of a proxy: who takes what passes, and who responds in place of the deployment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from understudy.record.messages import ProxiedRequest, ProxiedResponse
from understudy.record.overlaps import ExchangeSpan, Overlaps
from understudy.record.servers import ProxiedAddresses, ProxiedServer
from understudy.record.upstream import NoUpstreamResponse, Upstream


class ExchangeListener(Protocol):
    """Takes what passes the proxy."""

    is_blocking: bool
    """True if a response that breaks a rule is to be withheld."""

    async def passed(
        self, request: ProxiedRequest, response: ProxiedResponse, span: ExchangeSpan
    ) -> str | None:
        """Takes a whole exchange before its response ends; returns what is wrong, where it waits."""

    def lost(self, request: ProxiedRequest, error: NoUpstreamResponse) -> None:
        """Takes a request that got no response."""

    def changed(self, request: ProxiedRequest, names: Sequence[bytes]) -> None:
        """Takes the names of header fields of a response that could not pass as they were."""

    def passes_unjudged(self, server: ProxiedServer) -> None:
        """Takes that a WebSocket connection passes."""

    def failed(self, place: str) -> None:
        """Takes the place of an error of the proxy itself."""


class Substitute(Protocol):
    """Responds where the deployment does not."""

    async def responds_to(self, request: ProxiedRequest) -> bool:
        """Tells whether it responds to a request, and the deployment does not get it."""

    async def respond(
        self, request: ProxiedRequest, failure: NoUpstreamResponse | None = None
    ) -> ProxiedResponse | None:
        """Returns the response; None where it cannot respond either.

        Args:
            request: The request.
            failure: Why the deployment did not respond; None where it was not asked.
        """


@dataclass(frozen=True, slots=True)
class ProxyParts:
    """Holds what the ports of a proxy share.

    Attributes:
        addresses: Translates addresses of all servers.
        upstream: Sends to the deployment.
        listener: Takes what passes.
        substitute: Responds in place of the deployment; None if nothing does.
        overlaps: Knows what is under way.
    """

    addresses: ProxiedAddresses
    upstream: Upstream
    listener: ExchangeListener
    substitute: Substitute | None = None
    overlaps: Overlaps = field(default_factory=Overlaps)
