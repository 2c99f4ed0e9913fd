"""A mock responds where the deployment does not, for the people that have passed."""

import httpx
import pytest
from tests.record.canaries import Flock
from tests.record.proxied import (
    ADA,
    AUTH_PROXY,
    PROXY,
    RESOURCE,
    TARGET,
    MockedDeployment,
    proxied,
)


class Outage:
    """Lets a deployment respond until it fails.

    Attributes:
        failure: What happens from then on: an error, or a status; None as long as it responds.
    """

    def __init__(self) -> None:
        self.failure: httpx.HTTPError | int | None = None

    def __call__(self, _request: httpx.Request, response: httpx.Response) -> httpx.Response:
        if isinstance(self.failure, httpx.HTTPError):
            raise self.failure
        return response if self.failure is None else httpx.Response(self.failure)


@pytest.mark.parametrize("failure", [httpx.ConnectError("canary"), 502, 503, 504])
def test_the_mock_responds_with_what_passed_before_where_the_deployment_does_not(failure):
    outage = Outage()
    lines: list[str] = []
    with proxied(MockedDeployment(outage), fallback=lines.append) as session:
        own = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA).json()
        outage.failure = failure
        again = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
        stranger = session.request("GET", f"{PROXY}/v3/profiles/nora")
    assert again.headers["x-mock-responder"] == "fallback"
    assert {name: again.json()[name] for name in ("hash", "display_name", "links")} == {
        name: own[name] for name in ("hash", "display_name", "links")
    }
    assert stranger.status_code == 404
    assert [line.partition(":")[0] for line in lines] == [
        "GET /me/profile",
        "GET /profiles/{profileIdentifier}",
    ]
    assert "canary" not in "".join(lines)
    assert session.findings == []


def test_without_fallback_an_outage_passes():
    outage = Outage()
    outage.failure = 503
    with proxied(MockedDeployment(outage)) as session:
        assert session.request("GET", f"{PROXY}/v3/profiles/ada").status_code == 503


def test_a_change_that_passes_is_seen_by_the_mock():
    outage = Outage()
    with proxied(MockedDeployment(outage), fallback=print) as session:
        changes = {"location": "Elsewhere"}
        session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
        session.request("PATCH", f"{PROXY}/v3/me/profile", headers=ADA, json=changes)
        outage.failure = 503
        again = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA).json()
    assert again["location"] == "Elsewhere"


def test_what_the_mock_responds_is_neither_judged_nor_recorded():
    outage = Outage()
    outage.failure = 503
    with proxied(MockedDeployment(outage), fallback=print, key=b"k" * 32) as session:
        session.request("GET", f"{PROXY}/v3/profiles/ada")
        assert session.recording.fallback is not None
        assert session.recording.fallback.count == 1
    assert session.recording.judge.counts.judged == 0


def test_an_avatar_that_was_uploaded_in_an_outage_is_listed_until_it_ends():
    outage = Outage()
    with proxied(MockedDeployment(outage), fallback=print) as session:
        listed = f"{PROXY}/v3/me/avatars"
        session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
        before = session.request("GET", listed, headers=ADA).json()
        outage.failure = 503
        files = {"data": ("me.png", Flock().picture())}
        created = session.request("POST", listed, headers=ADA, files=files)
        assert created.headers["x-mock-responder"] == "fallback"
        during = session.request("GET", listed, headers=ADA).json()
        assert len(during) == len(before) + 1
        picture = session.request("GET", created.json()["image_url"])
        assert picture.headers["content-type"] == "image/png"
        outage.failure = None
        after = session.request("GET", listed, headers=ADA)
    assert created.json()["image_id"] not in {each["image_id"] for each in after.json()}
    assert "x-mock-responder" not in after.headers


@pytest.mark.parametrize("path", ["/oauth2/authorize", "/sign-in", "/__admin/applications"])
def test_nobody_signs_in_at_the_mock_and_its_admin_api_is_not_reached(path):
    outage = Outage()
    outage.failure = 503
    with proxied(MockedDeployment(outage), fallback=print) as session:
        assert session.request("GET", f"{AUTH_PROXY}{path}").status_code == 502


def test_the_mock_of_another_service_takes_the_credential_of_the_app(monkeypatch, tmp_path):
    document = tmp_path / "berths.yaml"
    scheme = "components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}"
    paths = (
        "paths: {/berths: {get: {security: [{key: []}], responses: {'200': {description: All.}}}}}"
    )
    document.write_text(f"{{openapi: 3.0.3, info: {{title: A, version: '1'}}, {scheme}, {paths}}}")
    monkeypatch.setitem(TARGET, "document", str(document))
    monkeypatch.setitem(TARGET, "base_url", RESOURCE)
    outage = Outage()
    outage.failure = 503
    with proxied(MockedDeployment(outage), fallback=print) as session:
        berths = session.request("GET", f"{PROXY}/berths", headers={"X-Key": "of-the-app"})
    assert (berths.status_code, berths.headers["x-mock-responder"]) == (200, "fallback")
