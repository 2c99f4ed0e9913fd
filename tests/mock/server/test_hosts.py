"""A request says once, and plainly, which host it means; whatever else it says is refused."""

import pytest

from understudy.mock.server.hosts import host_name, is_host, is_local, origin_host

AGENT = (b"accept", b"*/*")


@pytest.mark.parametrize(
    "text", ["localhost", "127.0.0.1:8080", "[::1]", "[::1]:8080", "a-b.example:0", "x_y:65535"]
)
def test_a_name_or_address_with_or_without_a_port_is_a_host(text: str) -> None:
    assert is_host(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "[::1",
        "[]",
        "[:::]",
        "127.0.0.1:abc",
        "a:65536",
        "a b",
        "é",
        "a/b",
        "a@b",
        "a\n",
        "%zz",
    ],
)
def test_whatever_else_is_none(text: str) -> None:
    assert not is_host(text)


@pytest.mark.parametrize("host", [b"[::1", b"127.0.0.1:abc", b"\xc3\xa9", b"", b" "])
@pytest.mark.parametrize("name", [b"host", b"x-forwarded-host"])
def test_a_request_to_what_is_no_host_is_refused(notes, name: bytes, host: bytes) -> None:
    named = () if name == b"host" else ((b"host", b"mock.test"),)
    refused = notes.bare("GET", "/v1/shelf", headers=(*named, (name, host)))
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_host")


def test_a_request_to_two_hosts_or_to_none_is_refused(notes) -> None:
    for headers in (((b"host", b"a"), (b"host", b"b")), (AGENT,)):
        refused = notes.bare("GET", "/v1/shelf", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_host")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_known_by_each_of_its_names(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize("text", ["LOCALHOST", "LocalHost:8080"])
def test_the_case_of_a_host_name_is_free(text: str) -> None:
    assert host_name(text) == "localhost"


@pytest.mark.parametrize("host", ["", "192.0.2.7", "::ffff:192.0.2.7", "localhost.example", "[::1"])
def test_another_machine_is_not_taken_for_this_one(host: str) -> None:
    assert not is_local(host)


def test_an_origin_that_is_none_has_no_host() -> None:
    assert origin_host("http://A.example:8080") == "a.example:8080"
    assert [origin_host(text) for text in ("http://[", "null", "")] == [None, None, None]
