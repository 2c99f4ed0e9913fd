"""Judges recorded traffic, a browser's export or a proxy's, by the same rules; nothing is sent."""

from collections.abc import Sequence
from pathlib import Path

from understudy.deployments.clock import machine_time
from understudy.deployments.deployment import Deployment
from understudy.verify.outcome import Outcome
from understudy.verify.recordings import read_recording
from understudy.verify.run import evaluator_of, judged, routes_of
from understudy.verify.shapes import bundled
from understudy.verify.token_accounts import TokenAccounts


def judge_recorded(archive: Path, deployment: Deployment, rules: Sequence[str]) -> Outcome:
    """Judges recorded traffic.

    Args:
        archive: The HTTP archive.
        deployment: Which addresses and credentials are the deployment's, and its document.
        rules: Ids of the rules to judge; every rule if none is named.

    Raises:
        StartupError: The archive cannot be read.
    """
    started = machine_time()
    target, document = deployment.target, deployment.document or bundled("service.yaml")
    evaluator = evaluator_of(target, document, rules)
    exchanges = tuple(read_recording(archive, target, routes_of(target, document)))
    wording = deployment.wording
    accounts = TokenAccounts(target)
    for each in exchanges:
        exchange = each if wording is None else wording.recorded(each)
        judged(evaluator, accounts.assigned(exchange, evaluator.history))
    return Outcome(
        target=target.base_url,
        seed=0,
        started=started,
        took=machine_time() - started,
        rules=tuple(evaluator.outcomes({}, ())),
        findings=tuple(it.on_the_wire() for it in evaluator.findings if not it.is_note),
        notes=tuple(it.on_the_wire() for it in evaluator.findings if it.is_note),
        internal_errors=tuple(evaluator.internal_errors),
        differences=tuple(evaluator.differences),
        document_file=deployment.document_file,
        target_file=deployment.target_file,
        requests=0,
        counted={},
        coverage=evaluator.coverage,
        stopped="",
        not_restored=(),
        exchanges=exchanges,
    )
