"""Every exchange is judged as it passes, and findings are announced once."""

import json

import httpx
import pytest
from tests.record.proxied import ADA, AUTH_PROXY, PROXY, MockedDeployment, proxied

from understudy.cli.record import line_of
from understudy.limits import PENDING_EXCHANGES
from understudy.record import traffic_judge
from understudy.record.messages import Overlaps


def renamed(request: httpx.Request, response: httpx.Response) -> httpx.Response:
    """Leaves a required member of a profile out."""
    if "/profiles/" not in request.url.path:
        return response
    members = response.json()
    members.pop("hash")
    return httpx.Response(200, json=members)


def test_a_sound_session_has_no_finding():
    with proxied() as session:
        profile = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA).json()
        session.request("GET", f"{PROXY}/v3/profiles/{profile['hash']}")
        session.request("GET", f"{PROXY}/v3/qr-code/{profile['hash']}?size=120")
        session.request("PATCH", f"{PROXY}/v3/me/profile", headers=ADA, json={"location": "Here"})
        session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
        session.request("GET", f"{AUTH_PROXY}/oauth2/token-info?client_id=browser-app&token=none")
    assert [line_of(finding) for finding in session.findings] == []
    assert session.recording.judge.counts.judged == 6
    assert session.recording.judge.evaluator.internal_errors == []


def test_a_finding_is_announced_once_and_counted():
    with proxied(MockedDeployment(renamed)) as session:
        for _ in range(3):
            assert session.request("GET", f"{PROXY}/v3/profiles/ada").status_code == 200
    assert len({line_of(each) for each in session.findings}) == len(session.findings)
    counts = {each.count for each in session.recording.judge.evaluator.findings}
    assert 3 in counts


def test_a_finding_s_line_has_no_value_of_the_exchange():
    with proxied(MockedDeployment(renamed)) as session:
        session.request("GET", f"{PROXY}/v3/profiles/ada?utm=canary", headers={"X-C": "canary"})
    lines = " ".join(line_of(finding) for finding in session.findings)
    assert "GET /profiles/{profileIdentifier} as anonymous: 200  document:" in lines
    assert "ada" not in lines
    assert "canary" not in lines


def test_a_response_that_breaks_a_rule_is_withheld_each_time_with_block():
    with proxied(MockedDeployment(renamed), is_blocking=True) as session:
        first, again = (session.request("GET", f"{PROXY}/v3/profiles/ada") for _ in range(2))
        sound = session.request("GET", f"{PROXY}/v3/me/profile", headers=ADA)
    assert (first.status_code, first.json()["code"]) == (502, "contract_broken")
    assert again.status_code == 502
    assert sound.status_code == 200
    assert session.recording.judge.counts.blocked == 2


def test_what_overlaps_a_change_is_judged_alone():
    overlaps = Overlaps()
    with overlaps.span(is_change=False) as before, overlaps.span(is_change=True) as change:
        assert before.overlaps_change
        assert change.overlaps_change
    with overlaps.span(is_change=False) as after:
        assert not after.overlaps_change


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_non_utf_8_bytes_are_judged_and_not_fatal(method):
    def scramble(_request, _response):
        return httpx.Response(200, headers={"content-type": "application/json"}, content=b'{"\xff')

    with proxied(MockedDeployment(scramble)) as session:
        options = {"content": b"\xff\xfe", "headers": {**ADA, "Content-Type": "application/json"}}
        response = session.request(method, f"{PROXY}/v3/me/profile", **options)
    assert response.content == b'{"\xff'
    assert "document" in {finding.rule.id for finding in session.findings}
    assert json.dumps([line_of(finding) for finding in session.findings])


def test_responses_wait_where_too_many_exchanges_are_to_be_judged(monkeypatch):
    monkeypatch.setattr(traffic_judge, "PENDING_EXCHANGES", PENDING_EXCHANGES._replace(most=0))
    with proxied(MockedDeployment(renamed)) as session:
        response = session.request("GET", f"{PROXY}/v3/profiles/ada")
        assert session.recording.judge.counts.judged == 1
    assert response.status_code == 200
