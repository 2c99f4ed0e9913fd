"""The mock keeps what is inferred from the documents of the tests: there is no finding and no note."""

from pathlib import Path

import pytest

from understudy.api.judging import judge
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.collections.rules import CREATE_READABLE, INFERRED
from understudy.verify.run import RunOptions

TESTS = Path(__file__).parents[2]
LABELLED = [
    path
    for path in sorted((TESTS / "collections" / "inference" / "labelled").glob("*.yaml"))
    if path.stem != "labels"
]
STATEFUL = ("12-directions", "34-envelopes", "38-shared-parts", "50-everyday")
UNJUDGED = ("account", "catalogue", "exports", "files", "uploads")
CORPUS = [TESTS / "proofs" / "corpus" / "documents" / f"{name}.yaml" for name in STATEFUL]
CORPUS.append(TESTS / "proofs" / "corpus" / "lives" / "12-orders.yaml")  # changed by JSON patches


@pytest.mark.parametrize("path", [*LABELLED, *CORPUS], ids=lambda path: path.stem)
def test_the_mock_keeps_what_is_inferred_from_a_document(path):
    deployment = open_deployment(DeploymentOptions(document=path), {})
    outcome = judge(deployment, RunOptions())
    assert [it.summary for it in (*outcome.findings, *outcome.notes)] == []
    assert (outcome.not_restored, outcome.internal_errors) == ((), ())
    passed = {it.rule.id for it in outcome.rules if it.status == "passed"}
    # some of these create nothing that is read, or only files and jobs, which are not judged
    assert CREATE_READABLE in passed or path in CORPUS or path.stem in UNJUDGED
    assert INFERRED.keys() & passed or path.stem in UNJUDGED
