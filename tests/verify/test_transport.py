"""Over real sockets: what the transport to a deployment sends, and what it makes of the responses."""

import gzip
import socket
from contextlib import closing
from threading import Barrier, Thread

import httpx
import pytest
from tests.verify.byte_server import LAST, OK, Server, served

from understudy.exchange.messages import Request
from understudy.verify.transport import DeploymentTransport, received


def test_a_connection_is_used_again():
    with served(OK, OK, OK) as (server, send):
        assert [send().body for _ in range(3)] == [b"{}"] * 3
        assert len(server.connections) == 1


def test_a_connection_that_the_deployment_closes_is_not_used_again():
    with served(LAST, OK) as (server, send):
        assert send().status == send().status == 200
        assert len(server.connections) == 2


def test_a_connection_that_ends_while_it_is_idle_is_not_used_again():
    with served(OK, OK) as (server, send):
        send()
        server.connections[0].shutdown(socket.SHUT_RDWR)
        assert send().status == 200
        assert len(server.connections) == 2


def test_requests_at_the_same_moment_have_a_connection_each():
    both = Barrier(2)  # neither gets its response before both have been received

    def behave(_number: int) -> bytes:
        both.wait(timeout=30)
        return OK

    with closing(Server(behave)) as server, DeploymentTransport() as transport:
        request = Request("GET", server.address)
        other = Thread(target=received, args=(transport, request))
        other.start()
        assert received(transport, request).status == 200
        other.join()
        assert len(server.connections) == 2


def test_a_request_is_sent_with_its_headers_in_their_order():
    with served(OK) as (server, send):
        send("/me?a=%2F", "POST", b"{}", b="2", a="1", content_length="2")
        host = server.address.removeprefix("http://").encode()
    assert server.requests == [
        b"POST /me?a=%2F HTTP/1.1\r\nHost: "
        + host
        + b"\r\nb: 2\r\na: 1\r\ncontent-length: 2\r\n\r\n{}"
    ]


@pytest.mark.parametrize(
    ("method", "body", "line"),
    [
        ("GET", b"", b""),
        ("DELETE", b"", b""),
        ("POST", b"", b"Content-Length: 0\r\n"),
        ("GET", b"abc", b"Content-Length: 3\r\n"),
    ],
)
def test_the_length_of_a_body_is_said_where_the_request_does_not(method, body, line):
    with served(OK) as (server, send):
        send("/", method, body)
    head, _, rest = server.requests[0].partition(b"\r\n\r\n")
    assert rest == body
    assert line in head + b"\r\n"
    assert (b"Content-Length" in head) is bool(line)


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("/a b", b"/a%20b"),
        ("/ä/%e4/%zz", b"/%C3%A4/%e4/%zz"),
        ("/a/../b/./c//d", b"/b/c//d"),
        ("/?q=[]{}|'\"&&", b"/?q=[]{}|'%22&&"),
        ("", b"/"),
    ],
)
def test_a_target_is_encoded_only_where_it_has_to_be(target, sent):
    with served(OK) as (server, send):
        send(target)
    assert server.requests[0].split(b" ")[1] == sent


def test_a_compressed_body_is_decoded():
    body = gzip.compress(b'{"a": 1}')
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    with served(head + body, OK) as (server, send):
        response = send()
        assert response.json == {"a": 1}
        assert response.header("content-encoding") == "gzip"
        assert send().status == 200
        assert len(server.connections) == 1


def test_informational_responses_are_passed_over():
    with served(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK) as (_, send):
        assert send().status == 200


@pytest.mark.parametrize(
    ("sent", "text"), [(b"plain", "plain"), ("ä".encode(), "ä"), (b"\xe4", "ä")]
)
def test_headers_are_read_as_utf_8_or_else_as_latin_1(sent, text):
    with served(OK.replace(b"\r\n", b"\r\nX-Name: " + sent + b"\r\n", 1)) as (_, send):
        assert send().header("x-name") == text


def test_a_body_without_an_end_breaks_off_with_its_connection():
    short = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{}"
    with served(short, OK) as (_, send):
        with pytest.raises(httpx.RemoteProtocolError):
            send()
        assert send().status == 200


def test_what_is_not_http_is_an_error_of_the_deployment():
    with (
        served(b"nonsense\r\n\r\nConnection: close") as (_, send),
        pytest.raises(httpx.RemoteProtocolError),
    ):
        send()


@pytest.mark.parametrize(
    ("request_parts", "error"),
    [
        ({"body": b"{}", "content_length": "3"}, httpx.LocalProtocolError),
        ({"method": "G T"}, httpx.LocalProtocolError),
        ({"a": "x\ny"}, httpx.LocalProtocolError),
        ({"a": "ä"}, UnicodeEncodeError),
        ({"target": "/\x00"}, httpx.InvalidURL),
    ],
)
def test_a_request_that_cannot_be_sent_sends_nothing(request_parts, error):
    with served(OK) as (server, send):
        with pytest.raises(error):
            send(**request_parts)
        send("/next")
    assert [request.split(b" ")[1] for request in server.requests] == [b"/next"]


def test_another_scheme_is_refused():
    with (
        DeploymentTransport() as transport,
        pytest.raises(httpx.UnsupportedProtocol, match="ftp://"),
    ):
        received(transport, Request("GET", "ftp://127.0.0.1/a"))


def test_where_nothing_listens_no_connection_is_made():
    with socket.socket() as holder, DeploymentTransport() as transport:
        holder.bind(("127.0.0.1", 0))  # so that nothing else listens there
        url = f"http://127.0.0.1:{holder.getsockname()[1]}/"
        with pytest.raises(httpx.ConnectError, match="refused"):
            received(transport, Request("GET", url))


def test_a_client_of_httpx_can_use_the_transport():
    with served(OK) as (server, _), httpx.Client(transport=DeploymentTransport()) as client:
        response = client.post(server.address, json={})
    assert (response.status_code, response.json()) == (200, {})
    assert server.requests[0].endswith(b"\r\n\r\n{}")
