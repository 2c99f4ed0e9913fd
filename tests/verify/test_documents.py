"""Two judges of an answer by its document: what they look at, and which document it is."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx
import orjson
import pytest
from msgspec.structs import replace
from tests.verify.conftest import Wire

from understudy.api.bundled_target import TARGET
from understudy.errors import StartupError
from understudy.exchange.messages import ANONYMOUS_IDENTITY, Exchange, Request, Response
from understudy.openapi.loader import document_of
from understudy.verify.document_checks import DocumentErrors, DocumentValidator
from understudy.verify.run import routes_of
from understudy.verify.shapes import bundled

PUBLISHING = replace(TARGET, document="published")
RULES = ("document", "own-profile-is-full")
TOKEN = b'{"access_token":"a","token_type":"bearer","blog_id":"1","blog_url":"https://a.example"}'


def document_errors(
    method: str, url: str, headers: dict[str, str], body: bytes, status: int = 200
) -> DocumentErrors:
    """Returns what both judges say of an answer."""
    routes = routes_of(TARGET, bundled("service.yaml"))
    place = routes.find(method, url)
    found = routes.operation(place.operation)
    assert found is not None
    is_resource = place.site == "resource"
    document = bundled("service.yaml" if is_resource else "authorization.yaml")
    judge = DocumentValidator(document, TARGET.base_url if is_resource else str(TARGET.auth_url))
    given = tuple({"content-type": "application/json", **headers}.items())
    exchange = Exchange(
        number=1,
        source="test",
        identity=ANONYMOUS_IDENTITY,
        request=Request(method, url),
        response=Response(status, given, body),
        at=datetime(2026, 3, 1, tzinfo=UTC),
        operation=place.operation,
        site=place.site,
    )
    return judge.judge(exchange, found)


@pytest.mark.parametrize(
    ("headers", "wrong"),
    [
        ({"x-ratelimit-limit": "100", "x-ratelimit-reset": "1792396800"}, ""),
        ({}, ""),
        ({"x-ratelimit-reset": "soon"}, "the header X-RateLimit-Reset: "),
        ({"x-ratelimit-remaining": "-1"}, "the header X-RateLimit-Remaining: "),
        ({"x-ratelimit-limit": ""}, "the header X-RateLimit-Limit: "),
        ({"x-ratelimit-limit": "1.5"}, "the header X-RateLimit-Limit: "),
    ],
)
def test_declared_headers_are_judged_by_both(headers, wrong):
    picture = {"content-type": "image/png", **headers}
    errors = document_errors("GET", f"{TARGET.base_url}/qr-code/ada", picture, b"\x89PNG")
    assert errors.validator.startswith(wrong)
    assert bool(errors.validator) == bool(wrong)
    assert errors.agrees, errors


def test_a_picture_of_no_bytes_is_none_to_both():
    picture = {"content-type": "image/png"}
    errors = document_errors("GET", f"{TARGET.base_url}/qr-code/ada", picture, b"")
    assert errors.validator == "the body is empty"
    assert errors.agrees, errors


@pytest.mark.parametrize(
    ("headers", "wrong"),
    [
        ({"cache-control": "no-store"}, ""),
        ({"cache-control": "public"}, "the header Cache-Control: "),
        ({}, "the header Cache-Control is missing"),
    ],
)
def test_a_required_header_is_missed_by_both(headers, wrong):
    errors = document_errors("POST", f"{TARGET.auth_url}/oauth2/token", headers, TOKEN)
    assert errors.validator.startswith(wrong), errors
    assert errors.agrees, errors


def test_a_document_that_breaks_openapi_elsewhere_is_still_judged_by_both(monkeypatch):
    monkeypatch.setitem(bundled("service.yaml").raw, "tags", "none")
    picture = {"content-type": "image/png"}
    errors = document_errors("GET", f"{TARGET.base_url}/qr-code/ada", picture, b"\x89PNG")
    assert errors.agrees, errors


def publishing(wire: Wire, change: Callable[[httpx.Response], httpx.Response]) -> None:
    """Makes a deployment that publishes another document."""
    inner = wire.inner

    def answer(request: httpx.Request) -> httpx.Response:
        response = inner.handle_request(request)
        return change(response) if request.url.path == "/v3/openapi" else response

    wire.inner = httpx.MockTransport(answer)


def with_shoe_size(response: httpx.Response) -> httpx.Response:
    document = response.json()
    document["components"]["schemas"]["Profile"]["required"].append("shoe_size")
    return httpx.Response(200, json=document)


def test_a_deployment_is_judged_by_the_document_that_it_publishes(verify, wire):
    assert verify(rules=RULES, target=PUBLISHING).findings == ()
    publishing(wire, with_shoe_size)
    (finding, *_) = verify(rules=RULES, target=PUBLISHING).findings
    assert "shoe_size" in finding.actual
    assert verify(rules=RULES).findings == ()


def test_yaml_is_a_document_too(verify, wire):
    body = orjson.dumps(bundled("service.yaml").raw).decode().replace('"openapi":', '"openapi" :')
    publishing(wire, lambda _: httpx.Response(200, text=f"# ours\n{body}"))
    assert verify(rules=RULES, target=PUBLISHING).findings == ()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            httpx.Response(200, html="<p>Welcome"),
            "responds 200 with text/html, not with an OpenAPI",
        ),
        (httpx.Response(404, json={}), "responds 404 with application/json, not with an OpenAPI"),
        (
            httpx.Response(200, json={"swagger": "2.0"}),
            "0 of its 0 operations are of this interface",
        ),
        (httpx.Response(200, text="a: ["), "the published document:2:1 is not readable"),
    ],
)
def test_where_none_is_published_the_run_does_not_begin(verify, wire, answer, message):
    publishing(wire, lambda _: answer)
    with pytest.raises(StartupError, match=message):
        verify(rules=RULES, target=PUBLISHING)
    assert len(wire.seen) == 1


def test_what_only_our_document_says_of_anothers_authorization_server_is_a_note(verify, wire):
    inner = wire.inner

    def cached(request: httpx.Request) -> httpx.Response:
        response: httpx.Response = inner.handle_request(request)
        if request.url.path == "/oauth2/token" and response.is_success:
            kept = {n: t for n, t in response.headers.items() if n != "cache-control"}
            return httpx.Response(200, headers=kept, content=response.content)
        return response

    wire.inner = httpx.MockTransport(cached)
    rules = ("document", "code-exchange")
    outcome = verify(replace(TARGET, is_mock=False), rules=rules)
    assert outcome.findings == ()
    assert [note.actual for note in outcome.notes] == ["the header Cache-Control is missing"]
    assert {found.status for found in outcome.rules} == {"passed"}
    ours = verify(rules=rules)
    assert [finding.actual for finding in ours.findings] == ["the header Cache-Control is missing"]


def test_a_document_of_another_service_is_said_to_be_one(wire, verify_on):
    content = bundled("service.yaml").raw
    shop = {"/orders": {"get": {"responses": {"200": {"description": "All orders."}}}}}
    other = document_of({**content, "paths": shop}, Path("shop.yaml"))
    with pytest.raises(StartupError, match=r"shop\.yaml: 0 of its 1 operations .* use --cases"):
        verify_on(wire, replace(TARGET, is_mock=False), document=other)
    assert wire.seen == []
