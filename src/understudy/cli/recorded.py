"""Judges recorded traffic, a browser's export or a proxy's, by the same rules; nothing is sent."""

from collections.abc import Sequence
from pathlib import Path

from understudy.deployments.target import Target
from understudy.mock.engine.clock import machine_time
from understudy.openapi.loader import Document
from understudy.verify.document_checks import DocumentValidator
from understudy.verify.evaluator import Evaluator
from understudy.verify.history import History
from understudy.verify.outcome import Outcome
from understudy.verify.recordings import read_recording
from understudy.verify.run import catalogue, routes_of
from understudy.verify.shapes import bundled


def judge_recorded(
    path: Path, target: Target, named: Document | None, rules: Sequence[str]
) -> Outcome:
    """Judges recorded traffic.

    Args:
        path: The archive.
        target: Which addresses are the deployment's, and whose its tokens are.
        named: The resource API's document in force; ours where none is given.
        rules: Ids to judge; all where none is named.

    Raises:
        StartupError: The file cannot be read.
    """
    started = machine_time()
    document = named or bundled("service.yaml")
    routes = routes_of(target, document)
    judges = {"resource": DocumentValidator(document, target.base_url)}
    if target.auth_url is not None:
        judges["authorization"] = DocumentValidator(bundled("authorization.yaml"), target.auth_url)
    evaluator = Evaluator(catalogue(rules), History(target), routes, judges, target.ours)
    exchanges = tuple(read_recording(path, target, routes))
    for exchange in exchanges:
        evaluator.evaluate(exchange)
    return Outcome(
        target=target.base_url,
        seed=0,
        started=started,
        took=machine_time() - started,
        rules=tuple(evaluator.outcomes({}, ())),
        findings=tuple(finding for finding in evaluator.findings if not finding.is_note),
        notes=tuple(finding for finding in evaluator.findings if finding.is_note),
        internal_errors=tuple(evaluator.internal_errors),
        requests=0,
        counted={},
        coverage=evaluator.coverage,
        stopped="",
        not_restored=(),
        exchanges=exchanges,
    )
