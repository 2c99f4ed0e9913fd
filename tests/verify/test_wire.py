"""Over real sockets: a response that never ends is cut, whatever part of it does not."""

from contextlib import closing
from datetime import timedelta

import httpx
import pytest
from msgspec.structs import replace
from tests.proofs.reference import broken
from tests.verify.conftest import PATIENT

from understudy.api.bundled_target import TARGET
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.exchange.messages import Request
from understudy.verify import transport
from understudy.verify.clock import machine_clock
from understudy.verify.gateway import Gateway
from understudy.verify.ledger import Ledger
from understudy.verify.permits import NotPermitted, Unreachable
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import routes_of
from understudy.verify.shapes import bundled
from understudy.verify.transport import DeploymentTransport, received

SOON = timedelta(seconds=0.5)


def answered(deployment, patience: timedelta) -> None:
    """Asks a deployment for something by a gateway."""
    time = machine_clock()
    with deployment() as addresses, DeploymentTransport(patience) as wire:
        target = replace(TARGET, base_url=f"{addresses.site}/v3", auth_url=None)
        routes = routes_of(target, bundled("service.yaml"))
        gateway = Gateway(target, routes, wire, time, Ledger(None, time.now()), PATIENT)
        ProbeClient(gateway, "test").get("/openapi")


@pytest.mark.parametrize("deployment", [broken.dripping, broken.dripping_head])
def test_an_answer_that_comes_byte_by_byte_is_cut(deployment):
    with pytest.raises(Unreachable, match=r"the response took longer than 0\.5 s and was cut"):
        answered(deployment, SOON)


@pytest.mark.parametrize("deployment", [broken.dripping, broken.dripping_head])
def test_an_answer_that_comes_byte_by_byte_is_cut_where_the_time_of_the_run_ends(
    deployment, monkeypatch
):
    monkeypatch.setattr(transport, "AFTER_END", SOON)
    with deployment() as addresses:
        options = DeploymentOptions(base_url=addresses.site, max_time=timedelta(0))
        request = Request("GET", f"{addresses.site}/v3")
        with (
            closing(open_deployment(options, {})) as opened,
            pytest.raises(httpx.ReadTimeout, match=r"took longer than 0\.5 s and was cut"),
        ):
            received(opened.transport, request)


def test_an_answer_without_end_is_cut():
    with pytest.raises(Unreachable, match="the response is larger than 8 MiB and was cut"):
        answered(broken.endless, timedelta(minutes=5))


def test_one_that_breaks_by_itself_is_not_called_slow():
    with pytest.raises(Unreachable, match="RemoteProtocolError"):
        answered(broken.cut_short, timedelta(minutes=5))


def test_the_next_response_of_a_connection_has_the_whole_time_for_itself(monkeypatch):
    now = 0.0
    monkeypatch.setattr(transport, "monotonic", lambda: now)
    with broken.html() as addresses, DeploymentTransport(timedelta(seconds=5)) as wire:
        for now in (0.0, 4.0, 8.0):  # noqa: B007 - the clock that the transport reads
            assert received(wire, Request("GET", f"{addresses.site}/v3")).status == 200


def test_what_the_client_cannot_send_is_not_blamed_on_the_deployment():
    time = machine_clock()
    with broken.html() as addresses, DeploymentTransport() as wire:
        target = replace(TARGET, base_url=f"{addresses.site}/v3", auth_url=None)
        routes = routes_of(target, bundled("service.yaml"))
        gateway = Gateway(target, routes, wire, time, Ledger(None, time.now()))
        for value in ("Bearer ", "Bearer a\nb"):
            request = Request("GET", f"{target.base_url}/openapi", (("authorization", value),))
            with pytest.raises(NotPermitted, match="the client cannot send this request"):
                gateway.send(request, "test")
