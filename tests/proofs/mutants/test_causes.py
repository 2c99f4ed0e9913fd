"""One fault is one cause: what follows from it vanishes where it is repaired, and what does not stays."""

from collections.abc import Sequence
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from tests.proofs.mutants import verifying
from tests.proofs.mutants.edge import MUTANTS, Edge
from tests.proofs.mutants.verifying import verified

from understudy.verify.reports import by_cause

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}


def causes(*names: str) -> Sequence[tuple[str, set[str]]]:
    """Returns the causes that verify finds where some mutants stand one behind the other."""

    @contextmanager
    def deployed(_mutant, seed, served):
        served.mock.world.become(served.beginning._replace(seed=seed))
        wire = served.wire
        for name in names:
            wire = Edge(wire, BY_NAME[name].make())
        yield wire

    with patch.object(verifying, "deployed", deployed):
        outcome = verified(BY_NAME[names[0]], is_hour=True, is_mock=False)
    found = by_cause(outcome.findings, outcome.roots)
    return [(it.findings[0].rule.id, {each.rule.id for each in it.consequences}) for it in found]


@pytest.mark.parametrize(
    ("mutant", "rule", "following"),
    [
        ("QR code as plain text", "qr-png", {"document", "error-shape", "head-like-get"}),
        ("a patched avatar without image_url", "avatar-members", {"avatar-urls-resolve"}),
        ("an uploaded avatar with image_id as 7", "avatar-members", {"avatar-delete-no-content"}),
        ("profile with description as 7", "profile-required-members", {"own-profile-is-full"}),
        (
            "contact_info is kept from the own profile",
            "own-profile-is-full",
            {"profile-patch-seven-fields"},
        ),
    ],
)
def test_what_vanishes_where_the_cause_is_repaired_follows_from_it(mutant, rule, following):
    ((head, consequences),) = causes(mutant)
    assert head == rule
    assert following <= consequences


def test_two_faults_of_one_run_stay_two_causes():
    found = dict(causes("a patched avatar without image_url", "deletions_answer_with_json"))
    assert found.keys() == {"avatar-members", "avatar-delete-no-content"}


def test_two_faults_of_the_same_responses_stay_two_causes():
    found = dict(causes("profile with description as 7", "profile with registration_date as 7"))
    assert found.keys() >= {"profile-required-members", "profile-optional-types"}
