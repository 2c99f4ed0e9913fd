"""Requests and responses in the words of a deployment, and back."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from understudy.exchange.messages import ANONYMOUS_IDENTITY, Exchange, Request, Response
from understudy.interface.vocabulary import QrTypeWords, ScopeWords, Vocabulary
from understudy.verify.wording import Wording, as_on_the_wire

WORDS = Vocabulary(
    ScopeWords("login", "gallery:read", "gallery:edit"),
    QrTypeWords(service="logo"),
    rate_limit_headers="X-Gallery-Quota",
    upload_field="image",
)
WORDING = Wording(WORDS)
AUTH = "http://auth.test/oauth2"
API = "http://api.test/v3"
FORM = (("content-type", "application/x-www-form-urlencoded"),)
PARTS = (("content-type", "multipart/form-data; boundary=b"), ("content-length", "9"))
UPLOAD = b'--b\r\ncontent-disposition: form-data; name="%s"; filename="a"\r\n\r\nx\r\n--b--\r\n'


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (
            Request(
                "GET", f"{AUTH}/authorize?scope[0]=auth&scope%5B1%5D=avatar-profile%3Aread&x=auth"
            ),
            Request("GET", f"{AUTH}/authorize?scope[0]=login&scope%5B1%5D=gallery%3Aread&x=auth"),
        ),
        (
            Request(
                "POST",
                f"{AUTH}/token",
                FORM,
                b"grant_type=password&scope=auth+avatar-profile%3Amanage",
            ),
            Request(
                "POST", f"{AUTH}/token", FORM, b"grant_type=password&scope=login+gallery%3Aedit"
            ),
        ),
        (
            Request("GET", f"{API}/qr-code/ada?type=service&size=80"),
            Request("GET", f"{API}/qr-code/ada?type=logo&size=80"),
        ),
        (
            Request("POST", f"{API}/me/avatars", (PARTS[0],), UPLOAD % b"data"),
            Request("POST", f"{API}/me/avatars", (PARTS[0],), UPLOAD % b"image"),
        ),
    ],
    ids=["authorize", "token", "qr", "upload"],
)
def test_a_request_is_translated_and_back(own, other):
    assert WORDING.request(own) == other
    assert WORDING.original_request(other) == own


@pytest.mark.parametrize(
    "request_",
    [
        Request("GET", f"{AUTH}/authorize?scope[0]=AUTH&scope=nothing%20else&flag&=&a=%zz"),
        Request("GET", f"{API}/profiles/auth?type=service"),
        Request("PATCH", f"{API}/me/profile", FORM, b"scope=auth"),
        Request("GET", f"{API}/qr-code/ada?type=user&type="),
    ],
)
def test_a_request_without_such_words_stays_as_it_is_byte_for_byte(request_):
    assert WORDING.request(request_) == request_


def test_the_length_of_a_translated_body_is_told():
    request = Request("POST", f"{API}/me/avatars", PARTS, UPLOAD % b"data")
    sent = WORDING.request(request)
    assert sent.header("content-length") == str(len(sent.body))


def test_with_a_document_of_its_own_the_document_names_types_and_fields():
    wording = Wording(WORDS, has_document=True)
    upload = Request("POST", f"{API}/me/avatars", (PARTS[0],), UPLOAD % b"data")
    assert wording.request(upload) == upload
    assert "login" in wording.request(Request("GET", f"{AUTH}/authorize?scope=auth")).url


def test_a_response_is_translated_back():
    json = (("content-type", "application/json"), ("x-gallery-quota-limit", "100"))
    challenge = ("www-authenticate", 'Bearer realm="r", scope="gallery:edit login"')
    own = WORDING.response(Response(200, (*json, challenge), b'{"scope":"login gallery:read"}'))
    assert own.json == {"scope": "auth avatar-profile:read"}
    assert own.header("x-ratelimit-limit") == "100"
    assert own.header("www-authenticate").endswith('scope="avatar-profile:manage auth"')


def test_a_page_is_translated_where_it_names_a_scope_and_nowhere_else():
    page = b'<form action="/login"><code>gallery:read</code> login </form>'
    response = Response(200, (("content-type", "text/html; charset=utf-8"),), page)
    assert WORDING.response(response).body == (
        b'<form action="/login"><code>avatar-profile:read</code> auth </form>'
    )


def test_an_exchange_is_reported_as_it_was_on_the_wire():
    request = Request("GET", f"{API}/qr-code/ada?type=logo")
    response = Response(200, (("x-gallery-quota-limit", "100"),))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    exchange = Exchange(1, "recorded", ANONYMOUS_IDENTITY, request, response, at)
    judged = WORDING.recorded(exchange)
    assert judged.request.query == {"type": "service"}
    assert replace(as_on_the_wire(judged), wire=None) == exchange
    assert as_on_the_wire(exchange) is exchange
