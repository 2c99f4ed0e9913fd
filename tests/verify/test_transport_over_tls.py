"""Over TLS: what the transport to a deployment trusts, keeps and cuts."""

import ssl
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from threading import Event

import httpx
import pytest
import trustme
from tests.verify.byte_server import OK, Behaviour, Server

from understudy.errors import StartupError
from understudy.exchange.messages import Request
from understudy.verify.transport import DeploymentTransport, received


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """An authority that this process trusts."""
    made = trustme.CA()
    made.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return made


def secured(authority: trustme.CA, behave: Behaviour) -> Server:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return Server(behave, context)


def test_a_connection_over_tls_is_used_again(authority):
    with closing(secured(authority, lambda _: OK)) as server, DeploymentTransport() as transport:
        request = Request("GET", f"{server.address}/")
        assert [received(transport, request).status for _ in range(2)] == [200, 200]
        assert len(server.connections) == 1


@pytest.mark.usefixtures("authority")
def test_a_certificate_that_nobody_vouches_for_is_refused():
    with (
        closing(secured(trustme.CA(), lambda _: OK)) as server,
        DeploymentTransport() as transport,
        pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        received(transport, Request("GET", f"{server.address}/"))


@pytest.mark.parametrize("content", [None, "not a certificate"])
def test_authorities_that_cannot_be_read_are_named(tmp_path, monkeypatch, content):
    named = tmp_path / "authority.pem"
    if content is not None:
        named.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(named))
    with (
        DeploymentTransport() as transport,
        pytest.raises(StartupError, match=r"SSL_CERT_FILE=.*authority\.pem"),
    ):
        received(transport, Request("GET", "https://127.0.0.1:1/"))


def test_a_response_over_tls_that_takes_too_long_is_cut(authority):
    is_over = Event()

    def wait(_number: int) -> bytes:
        is_over.wait(timeout=30)
        return OK

    patience = timedelta(seconds=0.2)
    with (
        closing(secured(authority, wait)) as server,
        DeploymentTransport(patience) as transport,
    ):
        with pytest.raises(httpx.ReadTimeout, match=r"longer than 0\.2 s and was cut"):
            received(transport, Request("GET", f"{server.address}/"))
        is_over.set()
