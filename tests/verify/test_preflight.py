"""Preflight: a mistake of the target file is said as such, and is not a finding."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.errors import StartupError
from understudy.verify.deployment import Allowance
from understudy.verify.findings import Outcome
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import PROBES
from understudy.verify.runner import planned_requests, preflight
from understudy.verify.target import Permit, TargetApplication

HERE = replace(TARGET, mode="observe")
Verify = Callable[..., Outcome]


@pytest.mark.parametrize("key", ["access_token", "read_only_token", "other_access_token"])
def test_a_refused_token_is_named_by_its_key(verify: Verify, key: str) -> None:
    target = replace(HERE, credentials=replace(HERE.credentials, **{key: "misspelt"}))
    with pytest.raises(StartupError, match=rf"\[credentials\] {key} was refused with 401"):
        verify(target, is_preflighted=True)


@pytest.mark.parametrize("key", ["slug", "other_slug", "hidden_contact_slug"])
def test_a_slug_that_nobody_has_is_named_by_its_key(verify: Verify, key: str) -> None:
    target = replace(HERE, known=replace(HERE.known, **{key: "adda"}))
    with pytest.raises(StartupError, match=rf'\[known\] {key} = "adda": there is no such'):
        verify(target, is_preflighted=True)


def test_a_refused_client_secret_is_named(verify: Verify) -> None:
    target = replace(HERE, application=replace(HERE.application, client_secret="misspelt"))
    with pytest.raises(StartupError, match=r"\[application\] client_id and client_secret"):
        verify(target, is_preflighted=True)


@pytest.mark.parametrize("table", ["application", "other_application"])
def test_a_refused_password_is_named(verify: Verify, table: str) -> None:
    application = replace(getattr(HERE, table), password="misspelt")
    with pytest.raises(StartupError, match=rf"\[{table}\] username and password were refused"):
        verify(replace(HERE, **{table: application}), is_preflighted=True)


def test_a_refused_application_password_is_named(verify: Verify) -> None:
    two_step = replace(HERE.two_step, application_password="misspelt")
    with pytest.raises(StartupError, match=r"\[two_step\] username and application_password"):
        verify(replace(HERE, two_step=two_step), is_preflighted=True)


def test_a_password_that_signs_in_is_right_whatever_the_password_grant_says(
    verify: Verify, wire: Any
) -> None:
    inner = wire.inner

    def without_password_grant(request: httpx.Request) -> httpx.Response:
        if b"grant_type=password" in request.read():
            return httpx.Response(400, json={"error": "invalid_grant"})
        response: httpx.Response = inner.handle_request(request)
        return response

    wire.inner = httpx.MockTransport(without_password_grant)
    target = replace(HERE, two_step=TargetApplication())
    outcome = verify(target, rules=("password-grant-owner-only",), is_preflighted=True)
    assert [finding.rule.id for finding in outcome.findings] == ["password-grant-owner-only"]


def test_no_password_is_tried_where_no_token_may_be_issued(verify: Verify, wire: Any) -> None:
    target = replace(
        HERE, permit=Permit(), application=replace(HERE.application, password="misspelt")
    )
    verify(target, rules=("password-grant-owner-only",), is_preflighted=True)
    assert not [request for request in wire.seen if request.method == "POST"]


def test_a_base_url_that_is_a_web_page_is_said_to_be_one(verify: Verify, wire: Any) -> None:
    page = httpx.Response(200, html="<title>Welcome</title>")
    wire.inner = httpx.MockTransport(lambda _: page)
    with pytest.raises(StartupError, match=r'is a web page \("Welcome"\) and not the resource API'):
        verify(HERE, is_preflighted=True)


def test_a_base_url_without_its_path_is_refused_though_the_mock_publishes_its_document_there_too(
    verify: Verify,
) -> None:
    without_path = HERE.base_url.removesuffix("/v3")
    with pytest.raises(StartupError, match=rf"{without_path}/v3 responds; did you mean it"):
        verify(replace(HERE, base_url=without_path), is_preflighted=True)


def test_a_sound_target_is_judged(verify: Verify, wire: Any) -> None:
    outcome = verify(HERE, rules=("qr-default-size",), is_preflighted=True)
    assert [rule.status for rule in outcome.rules] == ["passed"]
    assert len(wire.seen) < 8  # only what the probes of this rule need is tried


def test_as_many_requests_are_sent_as_the_plan_counts(verify: Verify) -> None:
    outcome = verify(
        replace(TARGET, is_mock=False), is_preflighted=True, rules=("guessing-slowed",)
    )
    preflights = [each for each in outcome.exchanges if each.source == "preflight"]
    (probe,) = (each for each in PROBES if each.rules == ("guessing-slowed",))
    assert len(preflights) == planned_requests(TARGET, probe.needs)
    assert outcome.requests >= len(preflights) + probe.cost


def test_as_many_requests_are_sent_as_are_planned_where_everything_is_needed(
    gateway: Callable[..., Any],
) -> None:
    needs = {need for probe in PROBES for need in probe.needs}
    client = ProbeClient(gateway(HERE), "preflight")
    preflight(client, needs)
    assert client.gateway.sent == planned_requests(HERE, needs)


def test_the_preflight_keeps_to_the_most_requests(gateway: Callable[..., Any]) -> None:
    needs = {need for probe in PROBES for need in probe.needs}
    client = ProbeClient(gateway(HERE, allowance=Allowance(requests=5)), "preflight")
    preflight(client, needs)
    assert client.gateway.sent == 5
