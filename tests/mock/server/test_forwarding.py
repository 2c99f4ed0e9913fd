"""Links follow the address that a proxy on this machine forwards, by either kind of header."""

import pytest

from understudy.errors import BadRequest
from understudy.mock.server.hosts import forwarded_address, forwarded_site

HOST = (b"host", b"127.0.0.1:8080")


def site(*headers: tuple[bytes, bytes]) -> str:
    return forwarded_site(dict([HOST, *headers]), [HOST, *headers])


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("host=app.example", ("app.example", "")),
        ("for=192.0.2.60;proto=https;host=app.example", ("app.example", "https")),
        (
            'For="[2001:db8::1]:4711" ; HOST="app.example:8443"; Proto=HTTPS',
            ("app.example:8443", "https"),
        ),
        (r'host="app\.example"', ("app.example", "")),
        ("for=_hidden, for=unknown;host=b.example, host=c.example", ("b.example", "")),
        ("proto=http;host=a.example, proto=https;host=b.example", ("a.example", "http")),
        ("host=a.example:8080", ("a.example:8080", "")),
        ('host="[::1]:8080";extension="a;b, c=d"', ("[::1]:8080", "")),
        (", ;for=192.0.2.60,", ("", "")),
        ("", ("", "")),
    ],
)
def test_the_first_hop_that_says_it_names_host_and_scheme(value, address):
    assert forwarded_address([(b"forwarded", value.encode())]) == address


def test_headers_of_several_proxies_are_read_in_their_order():
    lines = [(b"forwarded", b"for=192.0.2.1"), (b"forwarded", b"host=a.example;proto=https")]
    assert forwarded_address(lines) == ("a.example", "https")


@pytest.mark.parametrize(
    "value",
    [
        "app.example",
        "host=",
        'host="app',
        "host=a b",
        "host=a.example@b",
        "=a",
        'host="a"b',
        "a=\x00",
    ],
)
def test_what_has_another_form_is_refused(value):
    with pytest.raises(BadRequest) as refusal:
        forwarded_address([(b"forwarded", value.encode("latin-1"))])
    assert refusal.value.code == "invalid_forwarded"


@pytest.mark.parametrize("host", ["[::1", "a:70000", "a/b", "javascript:alert(1)", "a b"])
def test_a_value_that_is_no_host_is_refused(host):
    with pytest.raises(BadRequest) as refusal:
        forwarded_address([(b"forwarded", f'host="{host}"'.encode())])
    assert refusal.value.code == "invalid_host"


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ([(b"forwarded", b"host=a.example;proto=https")], "https://a.example"),
        ([(b"forwarded", b"proto=https")], "https://127.0.0.1:8080"),
        ([(b"forwarded", b"host=a.example;proto=javascript")], "http://a.example"),
        (
            [(b"x-forwarded-host", b"x.example"), (b"forwarded", b"host=a.example")],
            "http://x.example",
        ),
        (
            [(b"x-forwarded-host", b"x.example"), (b"x-forwarded-proto", b"https, http")],
            "https://x.example",
        ),
        (
            [(b"x-forwarded-host", b"x.example"), (b"x-forwarded-proto", b"javascript")],
            "http://x.example",
        ),
        (
            [(b"forwarded", b"host=a.example"), (b"x-forwarded-prefix", b"/mock/")],
            "http://a.example/mock",
        ),
        (
            [(b"forwarded", b"host=a.example"), (b"x-forwarded-prefix", b'/"><x')],
            "http://a.example",
        ),
        ([(b"forwarded", b"host")], ""),
    ],
)
def test_only_an_address_that_a_link_may_have_is_followed(headers, address):
    assert site(*headers) == address


def test_a_request_with_a_header_that_cannot_be_read_is_refused(notes):
    refusal = notes.bare("GET", "/v1/shelf", headers=(HOST, (b"forwarded", b"host=a b")))
    assert (refusal.status_code, refusal.json()["code"]) == (400, "invalid_forwarded")
    assert "RFC 7239" in refusal.json()["error"]
