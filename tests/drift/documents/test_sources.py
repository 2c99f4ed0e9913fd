"""The document that a deployment publishes is compared, and one that publishes none is told."""

from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.proofs.drifting import ELSEWHERE, deployment

from understudy.api import in_process
from understudy.drift.documents.sources import documents_of_run, keep_document
from understudy.verify.deployment import Deployment


def responding(response: httpx.Response) -> Deployment:
    """Returns a deployment that gives one response to every request."""
    wire = httpx.MockTransport(lambda _request: response)
    return Deployment(ELSEWHERE, wire, in_process.time_of(in_process.mock()))


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (httpx.Response(404, json={}), "responds 404 with application/json"),
        (httpx.Response(200, json={"swagger": "1.2"}), "reads OpenAPI 3.0.x"),
        (httpx.Response(200, html="<p>"), "responds 200 with text/html"),
    ],
)
def test_a_deployment_without_a_document_is_compared_by_behaviour_alone(response, reason):
    documents = documents_of_run(responding(response), None, None)
    assert documents.pairs == ()
    (line,) = documents.missing
    assert line.startswith("Documents are not compared:")
    assert reason in line
    assert "name a file" not in line  # the target names none


def test_a_mock_publishes_what_it_serves(tmp_path: Path):
    path = tmp_path / "staging.openapi.json"
    with closing(deployment()) as ours, closing(deployment()) as theirs:
        first = documents_of_run(ours, None, path)
        assert first.published is not None
        keep_document(first.published, path)
        second = documents_of_run(ours, theirs, path)
    assert [pair.changes for pair in (*first.pairs, *second.pairs)] == [(), (), ()]
