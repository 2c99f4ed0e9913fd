"""Walks through scenarios send the same requests from the same seed, and judge nothing."""

from contextlib import closing

import pytest
from tests.proofs.drifting import deployment

from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.scenarios import walks


def walked(seed, begin, change=None):
    """Returns what walks from a seed send to a new mock, and the outcome."""
    options = RunOptions(rules=("qr-default-size",), phases=(("walks", walks(3, begin)),))
    with closing(deployment(change, seed=seed)) as opened:
        outcome = carry_out(opened, options)
    sent = [it for it in outcome.exchanges if it.source.startswith("scenario")]
    return [(it.source, it.operation, it.request.json) for it in sent], outcome


@pytest.fixture(scope="module")
def first():
    return walked(seed=0, begin=1)[0]


def test_identifiers_of_a_deployment_do_not_change_the_walks_of_a_seed(first):
    again, outcome = walked(seed=7, begin=1)
    assert [each[:2] for each in again] == [each[:2] for each in first]
    assert outcome.not_restored == ()
    assert {source.split()[1] for source, *_ in first} == {
        "avatar-life",
        "profile-edits",
        "token-life",
    }


def test_another_seed_walks_otherwise(first):
    assert walked(seed=0, begin=2)[0] != first


def test_a_broken_rule_does_not_end_a_walk(first):
    def without_location(request, send):
        response = send(request)
        if "/profiles/" in request.url.path:
            response._content = response.content.replace(b'"location"', b'"place"')
        return response

    broken, _ = walked(0, 1, without_location)
    assert [each[:2] for each in broken] == [each[:2] for each in first]
