"""``drift`` is silent about a pair that behaves alike, and says what a deviation breaks."""

from contextlib import closing
from dataclasses import replace

import httpx
import pytest
from msgspec import structs
from tests.proofs.drifting import Unsettled, caught, deployment, drift
from tests.proofs.learning import learnt, reference
from tests.proofs.reference.faults.every import EVERY
from tests.proofs.reference.in_process import InProcess
from tests.proofs.reference.serving import DEFAULTS

from understudy.drift.comparing import Drift
from understudy.drift.mock_beside import drift as compared
from understudy.drift.mock_beside import mock_beside
from understudy.drift.observing import LIMITS_SPARED
from understudy.verify.run import RunOptions


def summary(result: Drift) -> list[tuple[str, str]]:
    return [(cause.fault, cause.rule) for cause in result.causes]


def test_order_identifiers_and_dates_are_no_difference():
    assert summary(drift(deployment(Unsettled(3), seed=3))) == []


@pytest.mark.parametrize(
    ("mutant", "rules", "cause"),
    [
        ("qr_codes_of_100_pixels_by_default", ("qr-default-size",), "qr-default-size"),
        ("deletions_answer_with_json", ("avatar-delete-no-content",), "avatar-delete-no-content"),
        ("preflights_of_the_token_endpoint_are_allowed", ("token-no-cors",), "token-no-cors"),
        (
            "spaces_in_the_fragment_are_plus_signs",
            ("fragment-percent-encoded",),
            "fragment-percent-encoded",
        ),
    ],
)
def test_a_deviation_is_found_by_the_rule_that_it_breaks(mutant, rules, cause):
    assert cause in caught(mutant, *rules)


def test_what_the_contract_leaves_open_is_nobodys_fault():
    rules = ("avatar-delete-status", "qr-unknown-hash")
    choices = {"avatar-delete-status": "200", "qr-unknown-hash": "404"}
    result = drift(deployment(choices=choices), *rules)
    assert sorted(summary(result)) == [("silent", rule) for rule in sorted(rules)]


def test_a_header_that_the_interface_does_not_name_is_where_it_is_silent():
    def with_header(request, send):
        response = send(request)
        response.headers["x-frame-options"] = "deny"
        return response

    result = drift(deployment(with_header), "qr-default-size")
    assert summary(result) == [("silent", "open-headers")]
    assert result.causes[0].readings == (
        "header x-frame-options deny",
        "header x-frame-options absent",
    )


def test_a_mock_that_follows_the_facts_of_a_deployment_no_longer_differs_there():
    rules = ("avatar-upload-status", "avatar-email-status", "profile-private", "qr-size-bounds")
    choices = {
        "avatar-upload-status": "201",
        "avatar-email-status": "200",
        "private-profile-lookup": "404",
        "qr-largest-size": "655",
    }

    def open_questions(*facts):
        ours = reference(choices)
        result = compared(ours, mock_beside(ours, facts), RunOptions(rules=rules), facts=facts)
        assert result.changed_facts == ()
        return {cause.rule for cause in result.causes} & set(rules)

    assert open_questions() == set(rules)
    assert open_questions(learnt(choices, *rules)) == set()


def test_limits_are_not_used_up_where_the_second_run_would_be_refused():
    ours = deployment()
    permitted = structs.replace(
        ours.target, permit=structs.replace(ours.target.permit, exhaust_rate_limit=True)
    )
    ours = replace(ours, target=permitted, time=replace(ours.time, advance=None))
    result = drift(ours, "rate-limit-anonymous")
    assert result.not_compared == (LIMITS_SPARED,)
    assert {it.status for run in (result.first, result.second) for it in run.exchanges} == {200}


def test_a_size_that_one_draws_and_the_other_refuses_is_open():
    def larger(request, send):
        url = str(request.url).replace("size=2049", "size=2048")
        return send(httpx.Request(request.method, url, headers=request.headers))

    assert summary(drift(deployment(larger), "qr-size-bounds")) == [("silent", "open-qr-bounds")]


def test_the_commands_of_a_difference_begin_with_what_it_needs():
    choices = {"avatar-delete-status": "200"}
    result = drift(deployment(choices=choices), "avatar-delete-status")
    (difference, *_) = result.causes[0].differences
    assert [step.operation for step in result.steps(difference)] == [
        "POST /me/avatars",
        "DELETE /me/avatars/{}",
    ]


@pytest.mark.parametrize(
    ("fault", "rules", "root"),
    [
        (
            "EveryTokenHasAllScopes",
            ("scope-indexed-array", "consent-by-person", "scope-per-operation"),
            "consent-by-person",
        ),
        (
            "IdsAreCounted",
            ("avatar-upload-returns-avatar", "avatar-delete-no-content", "avatar-patch-partial"),
            "avatar-upload-returns-avatar",
        ),
    ],
)
def test_one_fault_of_the_state_has_one_root(fault, rules, root):
    ours = reference({}, wire=InProcess(DEFAULTS, EVERY[fault].parts))
    options = RunOptions(rules=rules)
    result = compared(ours, mock_beside(ours), options, is_minimised=False)
    assert [it.rule for it in result.causes if it.fault == "deployment"] == [root]


def test_a_fault_that_several_rules_see_stands_under_the_one_that_most_differences_are_about():
    def denying_otherwise(request, send):
        response = send(request)
        location = response.headers.get("location", "")
        if location:
            response.headers["location"] = location.replace("access_denied", "denied")
        return response

    rules = ("scope-indexed-array", "authorize-error-form", "denial-access-denied")
    causes = summary(drift(deployment(denying_otherwise), *rules))
    assert [rule for fault, rule in causes if fault == "deployment"] == ["authorize-error-form"]


@pytest.mark.parametrize(
    ("key", "root"),
    [
        (lambda request: request.url.path, "repeated-for-path"),
        (
            lambda request: f"{request.url}{request.headers.get('authorization')}",
            "repeated-after-change",
        ),
    ],
)
def test_a_cache_keyed_by_too_little_is_one_root_beside_a_fault_of_its_own(key, root):
    kept: dict[str, httpx.Response] = {}

    def cached(request, send):
        if request.method == "DELETE":
            return httpx.Response(200, json={}) if send(request).is_success else send(request)
        if request.method != "GET":
            return send(request)
        response = kept.get(key(request)) or send(request)
        if response.is_success:
            kept[key(request)] = response
        return httpx.Response(
            response.status_code, headers=response.headers, content=response.content
        )

    rules = (
        *("own-profile-is-full", "qr-default-size", "qr-size-exact"),
        *("me-needs-oauth-token", "profile-patch-seven-fields", "profile-patch-empty-unsets"),
        *("avatar-list-of-caller", "avatar-delete-no-content", "avatar-upload-returns-avatar"),
    )
    # the people are read past the cache, so that it is empty when the comparison begins
    with closing(deployment()) as plain:
        beside = mock_beside(plain)
    options = RunOptions(rules=rules)
    causes = summary(compared(deployment(cached), beside, options, is_minimised=False))
    assert {rule for fault, rule in causes if fault == "deployment"} == {
        "avatar-delete-no-content",
        root,
    }
