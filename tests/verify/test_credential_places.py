"""A credential is written where the document takes it, found there again, and taken away."""

from dataclasses import replace
from pathlib import Path

import pytest

from understudy.exchange.messages import Request
from understudy.openapi.loader import document_of
from understudy.openapi.operations import operations, security_schemes
from understudy.verify.credential_places import CredentialPlaces

TOKEN = "mia:tea"
SENT = {
    "bearer": ({"type": "http", "scheme": "bearer"}, "authorization", "Bearer mia:tea"),
    "header": ({"type": "apiKey", "in": "header", "name": "X-Api-Key"}, "x-api-key", TOKEN),
    "cookie": ({"type": "apiKey", "in": "cookie", "name": "sid"}, "cookie", "a=b; sid=mia:tea"),
    "basic": ({"type": "http", "scheme": "basic"}, "authorization", "Basic bWlhOnRlYQ=="),
    "key": ({"type": "apiKey", "in": "header", "name": "Authorization"}, "authorization", TOKEN),
    "said": (
        {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "A Bearer token",
        },
        "authorization",
        "Bearer mia:tea",
    ),
    "query": ({"type": "apiKey", "in": "query", "name": "key"}, "", ""),
}


@pytest.mark.parametrize("kind", SENT)
def test_a_credential_is_where_the_document_takes_it(kind):
    scheme, header, text = SENT[kind]
    document = document_of(
        {
            "openapi": "3.0.3",
            "info": {"title": "Beds", "version": "1"},
            "paths": {"/beds": {"get": {"security": [{"it": []}], "responses": {"200": {}}}}},
            "components": {"securitySchemes": {"it": scheme}},
        },
        Path("beds.yaml"),
    )
    (operation,) = operations(document)
    places = CredentialPlaces(security_schemes(document))
    plain = Request("GET", "http://127.0.0.1:9000/beds?page=2", (("cookie", "a=b"),))
    request = places.written(plain, operation, TOKEN)
    assert request.header(header) == text
    assert (request.query.get("key") == TOKEN) is (kind == "query")
    assert places.token(request, operation) == TOKEN
    assert places.without(request, operation) == plain
    assert places.token(plain, operation) is None


def test_a_credential_is_found_and_taken_away_in_every_alternative_of_an_operation():
    kinds = ("basic", "header", "cookie", "query")
    document = document_of(
        {
            "openapi": "3.0.3",
            "info": {"title": "Beds", "version": "1"},
            "paths": {
                "/beds": {"get": {"security": [{it: []} for it in kinds], "responses": {"200": {}}}}
            },
            "components": {"securitySchemes": {it: SENT[it][0] for it in kinds}},
        },
        Path("beds.yaml"),
    )
    (operation,) = operations(document)
    places = CredentialPlaces(security_schemes(document))
    plain = Request("GET", "http://127.0.0.1:9000/beds?page=2", (("cookie", "a=b"),))
    for it in kinds:
        alone = CredentialPlaces({it: SENT[it][0]}).written(plain, operation, TOKEN)
        assert places.token(alone, operation) == TOKEN
        assert places.without(alone, operation) == plain
    every = tuple((name.lower(), text) for name, text in places.headers(TOKEN).items())
    assert len(every) == 2
    assert places.without(replace(plain, headers=(*plain.headers, *every)), operation) == plain


def test_a_token_that_is_no_pair_goes_where_the_document_takes_no_basic():
    document = document_of(
        {
            "openapi": "3.0.3",
            "info": {"title": "Beds", "version": "1"},
            "security": [{"basic": []}, {"header": []}],
            "paths": {"/beds": {"get": {"responses": {"200": {}}}}},
            "components": {"securitySchemes": {it: SENT[it][0] for it in ("basic", "header")}},
        },
        Path("beds.yaml"),
    )
    (operation,) = operations(document)
    places = CredentialPlaces(security_schemes(document))
    plain = Request("GET", "http://127.0.0.1:9000/beds")
    assert places.written(plain, operation, "a-key").headers == (("x-api-key", "a-key"),)
    assert places.written(plain, operation, TOKEN).headers == (("authorization", SENT["basic"][2]),)


@pytest.mark.parametrize(
    ("kinds", "header"),
    [((), "authorization"), (("header",), "x-api-key"), (("header", "bearer"), "authorization")],
)
def test_an_operation_without_security_gets_the_credential_as_others_take_it(kinds, header):
    places = CredentialPlaces({it: SENT[it][0] for it in kinds})
    request = places.written(Request("GET", "http://127.0.0.1:9000/beds"), None, TOKEN)
    assert request.headers == ((header, "mia:tea" if header == "x-api-key" else "Bearer mia:tea"),)
