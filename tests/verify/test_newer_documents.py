"""Under a newer document of the interface its document decides, and prose judges what it leaves as it was."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import msgspec
import pytest
from tests.verify.test_implied import Rewriting, deletable_avatars

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import mock_deployment
from understudy.api.judging import judge
from understudy.verify.findings import Outcome
from understudy.verify.run import RunOptions
from understudy.verify.scenarios import scenarios

DOCUMENTS = Path(__file__).parents[1] / "mock" / "service"


def verified(name: str, rules=(), rewrite=lambda *_: None, **options) -> Outcome:
    """Returns what a mock of a document is found to be, with some responses rewritten."""
    target = msgspec.structs.replace(TARGET, document=str(DOCUMENTS / f"{name}.yaml"))
    mock = mock_deployment(target)
    deployment = replace(mock, transport=Rewriting(mock.transport, rewrite))
    with closing(mock.transport):
        return judge(deployment, RunOptions(rules, **options))


def broken(outcome: Outcome) -> set[str]:
    return {each.rule.id for each in outcome.rules if each.status == "failed"}


@pytest.mark.parametrize("name", ["newer_service", "another_newer_service"])
def test_what_the_document_has_otherwise_is_no_finding(name):
    outcome = verified(name)
    assert broken(outcome) == set()
    assert outcome.not_restored == ()


def test_a_mock_of_a_document_with_other_bodies_errors_and_statuses_is_clean():
    outcome = verified("third_newer_service")
    assert broken(outcome) == set()
    assert len([each for each in outcome.rules if each.status == "passed"]) > 100
    (excuse,) = {each.reason for each in outcome.rules if each.rule.id == "error-members"}
    assert excuse.startswith("the document in force has it otherwise than the interface")


def test_a_scenario_that_cannot_be_played_is_noted_and_ends_nothing():
    outcome = verified(
        "third_newer_service", ("profile-patch-partial",), phases=[("scenarios", scenarios(1))]
    )
    assert outcome.internal_errors == ()
    assert any(
        "the scenario profile-edits: the current value of" in line for line in outcome.not_run
    )


def forbidden_profiles(request, response):
    """Refuses callers without a token with 403 instead of 401."""
    if request.url.path.endswith("/me/profile") and response.status_code == 401:
        return httpx.Response(403, headers=response.headers, content=response.content)
    return None


def pages_of_errors(_request, response):
    """Refuses with a page, which no document declares."""
    if response.status_code == 404:
        return httpx.Response(404, html="<p>Nothing is here.</p>")
    return None


@pytest.mark.parametrize(
    ("name", "rewrite", "rule"),
    [
        ("third_newer_service", pages_of_errors, "error-shape"),
        ("newer_service", pages_of_errors, "error-shape"),
        ("third_newer_service", forbidden_profiles, "error-no-token"),
        ("newer_service", deletable_avatars, "avatar-unknown-404"),
    ],
)
def test_what_the_document_leaves_as_it_was_is_found(name, rewrite, rule):
    assert rule in broken(verified(name, (rule,), rewrite))
