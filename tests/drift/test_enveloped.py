"""A deployment whose document puts all bodies into an object is judged and compared by what is in it."""

from contextlib import closing
from pathlib import Path

from msgspec.structs import replace
from tests.mock.service.test_third_newer_service import DOCUMENT

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import mock_deployment
from understudy.drift.mock_beside import drift, mock_beside
from understudy.interface.recognition import envelopes
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import load
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out

JUDGED = ("profile-hash-is-primary", "avatar-delete-no-content", "associated-email", "document")
COMPARED = ("select-avatar", "interest-members", "optional-fields-omitted")
ENVELOPED = replace(TARGET, document=str(DOCUMENT), is_mock=False)
STRANGERS = replace(ENVELOPED, known=replace(TARGET.known, emails=(), hashes=()))
"""What a customer knows who gives no addresses, so that the list alone says what is selected."""


def test_the_interface_needs_no_envelope():
    assert not envelopes(load(openapi_directory() / "service.yaml"))
    assert set(envelopes(load(Path(DOCUMENT))).values()) == {"data"}


def test_rules_of_prose_are_checked_within_the_envelope_and_the_document_around_it():
    with closing(mock_deployment(ENVELOPED)) as deployment:
        outcome = carry_out(deployment, RunOptions(rules=JUDGED))
    assert not outcome.findings
    assert {it.rule.id for it in outcome.rules if it.status == "passed"} == set(JUDGED)
    assert not outcome.differences  # of the two document validators


def test_a_deployment_with_envelopes_does_not_differ_from_its_mirror():
    deployment = mock_deployment(STRANGERS)
    options = RunOptions(rules=COMPARED)
    result = drift(deployment, mock_beside(deployment), options, is_minimised=False)
    assert [it.rule for it in result.causes] == []
