"""What passes the proxy is what the deployment and the app mean, at the proxy's addresses."""

import gzip
import json
import ssl
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from tests.record.proxied import (
    ADA,
    AUTH_PROXY,
    AUTHORIZATION,
    PROXY,
    RESOURCE,
    AnsweringDeployment,
    MockedDeployment,
    Session,
    proxied,
)

from understudy.limits import BODY_BYTES

APP = "http://localhost:5173"


@pytest.fixture(scope="module")
def session():
    with proxied() as session:
        yield session


def sent(session: Session) -> httpx.Request:
    """Returns the latest request that the deployment got."""
    return session.deployment.requests[-1]


def test_a_request_reaches_the_deployment_with_its_own_host_and_no_field_of_the_connection(session):
    fields = {"Connection": "keep-alive, X-Hop", "X-Hop": "1", "Accept-Encoding": "br", **ADA}
    response = session.request("GET", f"{PROXY}/v3/me/profile", headers=fields)
    assert response.status_code == 200
    assert sent(session).url == f"{RESOURCE}/v3/me/profile"
    assert sent(session).headers["host"] == "api.staging.example"
    assert sent(session).headers["authorization"] == "Bearer ada-full"
    assert sent(session).headers["accept-encoding"] == "identity"
    assert "x-hop" not in sent(session).headers


def test_path_and_query_arrive_byte_by_byte(session):
    session.request("GET", f"{PROXY}/v3/profiles/%7eA%2Fb?x=%2b+&x=&y")
    assert sent(session).url.raw_path == b"/v3/profiles/%7eA%2Fb?x=%2b+&x=&y"


def test_links_of_a_response_lead_to_the_proxy_as_the_client_calls_it(session):
    body = session.request("GET", "http://localhost:8080/v3/profiles/ada").json()
    assert body["profile_url"] == "http://localhost:8080/ada"
    picture = session.request("GET", body["avatar_url"])
    assert picture.headers["content-type"] == "image/png"


def test_a_redirect_to_the_deployment_stays_at_the_proxy_and_one_to_the_app_goes_there():
    sign_in = f"{AUTHORIZATION}/sign-in?next=%2F"
    with proxied(AnsweringDeployment(302, location=sign_in)) as session:
        response = session.request("GET", f"{AUTH_PROXY}/oauth2/authorize")
        assert response.headers["location"] == f"{AUTH_PROXY}/sign-in?next=%2F"
    with proxied(AnsweringDeployment(302, location=f"{APP}/#access_token=t")) as session:
        response = session.request("GET", f"{AUTH_PROXY}/oauth2/authorize")
        assert response.headers["location"] == f"{APP}/#access_token=t"


def test_another_host_that_begins_like_the_deployment_is_left_alone():
    with proxied(AnsweringDeployment(302, location=f"{RESOURCE}.evil.example/")) as session:
        location = session.request("GET", f"{PROXY}/v3/me/profile").headers["location"]
    assert location == f"{RESOURCE}.evil.example/"


def test_an_address_that_a_page_sends_back_is_the_deployment_s_again(session):
    own, app = quote(f"{AUTH_PROXY}/consent?a=b"), quote(f"{APP}/", safe="")
    next_page = quote(f"{AUTHORIZATION}/consent?a=b", safe="")
    session.request("GET", f"{AUTH_PROXY}/sign-in?next={own}&redirect_uri={app}&x=%7e+")
    assert sent(session).url.query.decode() == f"next={next_page}&redirect_uri={app}&x=%7e+"
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    content = f"next={AUTH_PROXY}/consent&other={AUTH_PROXY}0/&x=%7e+"
    session.request("POST", f"{AUTH_PROXY}/sign-in", headers=form, content=content)
    consent = quote(f"{AUTHORIZATION}/consent", safe="")
    assert sent(session).content.decode() == f"next={consent}&other={AUTH_PROXY}0/&x=%7e+"


@pytest.mark.parametrize(
    ("cookie", "taken"),
    [
        (
            "session=s; Domain=.staging.example; Path=/; Secure; HttpOnly; SameSite=None",
            "session=s; Path=/; HttpOnly; SameSite=Lax",
        ),
        ("session=s;secure ;SameSite = none; Partitioned", "session=s; SameSite=Lax"),
        ("__Host-session=s; Path=/; Secure", "__Host-session=s; Path=/; Secure"),
        ("secure=domain; Path=/; SameSite=Strict", "secure=domain; Path=/; SameSite=Strict"),
    ],
)
def test_a_cookie_is_one_that_a_browser_takes_from_the_proxy(cookie, taken):
    with proxied(AnsweringDeployment(200, set_cookie=cookie)) as session:
        fields = session.request("GET", f"{AUTH_PROXY}/sign-in").headers
    assert fields["set-cookie"] == taken


def test_a_page_s_policy_names_the_proxy_and_does_not_demand_https():
    policy = f"default-src 'self' {RESOURCE}; upgrade-insecure-requests; frame-ancestors 'none'"
    with proxied(AnsweringDeployment(200, content_security_policy=policy)) as session:
        fields = session.request("GET", f"{AUTH_PROXY}/sign-in").headers
    assert fields["content-security-policy"] == (
        f"default-src 'self' {PROXY}; frame-ancestors 'none'"
    )


def test_a_certificate_that_is_not_trusted_is_said_with_what_to_do():
    def refuse(_request: httpx.Request, _response: httpx.Response) -> httpx.Response:
        msg = "canary"
        raise httpx.ConnectError(msg) from ssl.SSLCertVerificationError(msg)

    with proxied(MockedDeployment(refuse)) as session:
        response = session.request("GET", f"{PROXY}/v3/profiles/ada")
    assert response.status_code == 502
    assert "certificate is not trusted" in response.json()["error"]
    assert "SSL_CERT_FILE" in response.json()["error"]


def test_the_sign_in_form_is_posted_from_the_deployment_s_own_page(session):
    fields = {"Origin": AUTH_PROXY, "Referer": f"{AUTH_PROXY}/sign-in"}
    session.request("POST", f"{AUTH_PROXY}/sign-in", headers=fields, data={"username": "ada"})
    assert sent(session).headers["origin"] == AUTHORIZATION
    assert sent(session).headers["referer"] == f"{AUTHORIZATION}/sign-in"


def test_a_page_of_this_machine_may_read_the_resource_api_and_no_other_page_more_than_before():
    with proxied(AnsweringDeployment(200, b"{}", content_type="application/json")) as session:
        own = session.request("GET", f"{PROXY}/v3/me/profile", headers={"Origin": APP})
        other = session.request(
            "GET", f"{PROXY}/v3/me/profile", headers={"Origin": "https://o.example"}
        )
        token = session.request("POST", f"{AUTH_PROXY}/oauth2/token", headers={"Origin": APP})
    assert own.headers["access-control-allow-origin"] == APP
    assert "access-control-allow-origin" not in other.headers
    assert "access-control-allow-origin" not in token.headers


def test_a_preflight_of_a_page_of_this_machine_needs_no_deployment(session):
    fields = {
        "Origin": APP,
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    response = session.request("OPTIONS", f"{PROXY}/v3/me/profile", headers=fields)
    assert response.status_code == 204
    assert response.headers["access-control-allow-headers"] == "authorization,content-type"


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 304), ("DELETE", 204)])
def test_a_response_without_a_body_passes_as_it_is(method, status):
    length: dict[str, Any] = {"content_length": "7"} if method == "HEAD" else {}
    with proxied(AnsweringDeployment(status, etag='"e"', **length)) as session:
        response = session.request(method, f"{PROXY}/v3/profiles/ada")
    assert (response.status_code, response.content) == (status, b"")
    assert response.headers["etag"] == '"e"'
    assert response.headers.get("content-length") == length.get("content_length")


def test_a_compressed_response_passes_as_it_is_and_is_judged():
    packed = gzip.compress(json.dumps({"error": "No.", "code": "c"}).encode())
    fields: dict[str, Any] = {"content_type": "application/json", "content_encoding": "gzip"}
    with proxied(AnsweringDeployment(404, packed, **fields)) as session:
        assert session.request("GET", f"{PROXY}/v3/profiles/nobody").json()["code"] == "c"
    assert session.recording.judge.counts.judged == 1
    assert session.findings == []


def test_a_body_that_is_too_large_to_judge_passes_whole():
    large = b"[" + b" " * BODY_BYTES.most + b"]"
    with proxied(AnsweringDeployment(200, large, content_type="application/json")) as session:
        lines = skipped_in(session)
        assert session.request("GET", f"{PROXY}/v3/me/avatars").content == large
        session.request("POST", f"{PROXY}/v3/me/avatars", content=large)
        assert len(sent(session).content) == len(large)
    assert session.recording.judge.counts.too_large == 2
    assert lines == [
        "GET /me/avatars: 200, not judged, as a body is too large",
        "POST /me/avatars: 200, not judged, as a body is too large",
    ]


def test_a_body_of_an_unknown_encoding_passes_and_is_said_not_to_be_judged():
    fields: dict[str, Any] = {"content_type": "application/json", "content_encoding": "compress"}
    with proxied(AnsweringDeployment(200, b"{}", **fields)) as session:
        lines = skipped_in(session)
        session.request("GET", f"{PROXY}/v3/profiles/secret-name")
    reason = "its content encoding cannot be decoded"
    assert lines == [f"GET /profiles/{{profileIdentifier}}: 200, not judged, as {reason}"]


def skipped_in(session: Session) -> list[str]:
    """Returns the lines of exchanges that are not judged, as they come."""
    lines: list[str] = []
    session.recording.judge.skip = lines.append
    return lines


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (httpx.ConnectError("token=canary"), 502, "bad_gateway"),
        (httpx.ReadTimeout("token=canary"), 504, "gateway_timeout"),
    ],
)
def test_no_response_is_an_error_in_the_shape_of_the_api_without_the_error_s_text(
    error, status, code
):
    def fail(_request, _response):
        raise error

    with proxied(MockedDeployment(fail)) as session:
        resource = session.request("GET", f"{PROXY}/v3/me/profile")
        token = session.request("POST", f"{AUTH_PROXY}/oauth2/token", data={"code": "c"})
    assert (resource.status_code, resource.json()["code"]) == (status, code)
    assert (token.status_code, token.json()["error"]) == (status, code)
    assert "canary" not in resource.text + token.text
    assert [finding.rule.id for finding in session.findings] == ["answers", "answers"]


def test_a_name_that_an_attacker_could_choose_is_no_name_of_the_proxy(session):
    count = len(session.deployment.requests)
    fields = {"Host": "attacker.example:8080"}
    response = session.request("GET", f"{PROXY}/v3/profiles/ada", headers=fields)
    assert (response.status_code, response.json()["code"]) == (403, "host_not_allowed")
    assert len(session.deployment.requests) == count


def test_an_error_of_the_proxy_itself_is_kept_without_its_text():
    def fail(_request, _response):
        msg = "canary"
        raise RuntimeError(msg)

    with proxied(MockedDeployment(fail)) as session:
        response = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
    assert (response.status_code, response.json()["code"]) == (502, "proxy_failed")
    (place,) = session.recording.judge.proxy_failures
    assert place.startswith("RuntimeError in ")
    assert "canary" not in place


def test_one_port_stands_for_both_servers():
    with proxied(auth_port=8080) as session:
        session.request("GET", f"{PROXY}/v3/profiles/ada")
        assert sent(session).headers["host"] == "api.staging.example"
        session.request("GET", f"{PROXY}/oauth2/token-info?client_id=c&token=t")
        assert sent(session).headers["host"] == "auth.staging.example"
