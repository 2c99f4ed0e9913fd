"""Secrets are masked wherever people read, and masking takes no longer than the text is long."""

import pytest

from understudy.errors import Breach
from understudy.exchange.masking import (
    SECRET_NAMES,
    masked_body,
    masked_breach,
    masked_headers,
    masked_query,
)

FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("name", sorted(SECRET_NAMES))
def test_the_value_of_a_secret_is_masked_in_forms_addresses_and_json(name: str) -> None:
    assert masked_query(f"https://a.example/?x=1&{name}=s3cret#{name}=s3cret") == (
        f"https://a.example/?x=1&{name}=***#{name}=***"
    )
    assert masked_body(f"{name}=s3cret&x=1".encode(), FORM) == f"{name}=***&x=1".encode()
    assert b"s3cret" not in masked_body(f'{{"{name}": "s3cret"}}'.encode(), "application/json")


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"username=ada&password=s3cret", ""),
        (b"username=ada&password=s3cret", "text/plain; charset=utf-8"),
        (b'{"username": "ada", "password": "s3cret"}', ""),
        (
            b'--x\r\nContent-Disposition: form-data; name="password"\r\n\r\ns3cret\r\n'
            b"--x\r\nContent-Disposition: form-data; name=username\r\n\r\nada\r\n--x--\r\n",
            "multipart/form-data; boundary=x",
        ),
        (b'{"username": "ada", "password": "s3cret"}}', "application/json"),
        (b'{"username": "ada", "password": "s3cret', "application/json"),
        (b"username=ada&password=s3cret", "application/json"),
        (b'{"username": "ada", "password": "s3 \\" s3cret"}', FORM),
        (b"username=ada&password[]=s3cret", FORM),
        (b"username=ada&password=s3cret", "application/octet-stream"),
        (b"username: ada\npassword: s3cret\n", "application/yaml"),
        (b"<a><username>ada</username><password>s3cret</password></a>", "application/xml"),
        (b"username=ada;password=s3cret", "garbage"),
        (b'{"username": "ada", "password": {"old": "s3cret"}}', "application/json"),
        (b'{"username": "ada", "clientSecret": "s3cret"}', "application/json"),
        (b"username=ada&query=client_secret%3Ds3cret%26x%3D1", FORM),
        (
            b'--x\nContent-Disposition: form-data; name="password"\n\ns3cret\r\n--x\r\n\r\nada',
            "multipart/form-data; boundary=x",
        ),
    ],
)
def test_a_secret_is_masked_where_the_client_sent_another_type(content, media_type) -> None:
    masked = masked_body(content, media_type)
    assert b"s3cret" not in masked
    assert b"ada" in masked


@pytest.mark.parametrize(
    ("query", "masked"),
    [
        ("redirect_uri=http://x/?code=s3cret&a=1", "redirect_uri=http://x/?code=***&a=1"),
        (
            "u=http%3A%2F%2Fx%2F%3Faccess_token%3Ds3cret%26b%3D2",
            "u=http://x/?access_token=***&b=2",
        ),
        ("Authorization=Bearer%20s3cret", "Authorization=***"),
        ("token%00=s3cret", "token%00=***"),
        ("u=a%3Db%26c&d=%C3%A9", "u=a%3Db%26c&d=%C3%A9"),
    ],
)
def test_a_secret_in_an_address_within_an_address_is_masked(query: str, masked: str) -> None:
    assert masked_query(query) == masked


@pytest.mark.parametrize("name", ["X-Api-Key", "api_key", "Private-Token", "Subscription-Key"])
def test_a_key_in_a_header_is_masked(name: str) -> None:
    assert masked_headers([(name.encode(), b"s3cret")]) == [(name, "***")]
    assert masked_headers([(b"Idempotency-Key", b"a-1")]) == [("Idempotency-Key", "a-1")]


@pytest.mark.parametrize(
    "breach",
    [
        Breach("/password", "string", 7, "#"),
        Breach("query token", "string", "s3cret", "#"),
        Breach("", False, {"token": "s3cret"}, "#"),
    ],
)
def test_what_breaks_the_document_is_shown_without_secrets(breach: Breach) -> None:
    shown = masked_breach(breach, SECRET_NAMES)
    assert shown["actual"] in ("***", {"token": "***"})
    assert shown["where"] == breach.where


def test_a_long_text_that_is_no_form_is_left_as_it_is() -> None:
    text = "a" * 2_000_000  # looked at from each character on, it would take hours
    assert masked_query(text) == text
    assert masked_body(text.encode(), "text/csv") == text.encode()
    quoted = b'password="' + b"\\" * 100_000
    assert masked_body(quoted, "text/csv") == b"password=***"


@pytest.mark.parametrize("media_type", ["image/png", "application/zip"])
def test_what_is_not_text_is_left_as_it_is(media_type) -> None:
    content = b"\x89PNG\0token=a"
    assert masked_body(content, media_type) == content
