"""Sends generated cases to a deployment, as verify sends requests: permitted, counted and undone."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from understudy.api.bundled_target import AUTHORIZATION
from understudy.api.case_source import CaseSource
from understudy.cases import selection
from understudy.cases.plans import Planner
from understudy.verify.case_sender import CaseSender
from understudy.verify.deployment import Deployment, locked
from understudy.verify.findings import Listener, ignore
from understudy.verify.run import Run, RunOptions, start
from understudy.verify.target import data_for_target


@contextmanager
def sending(
    deployment: Deployment, report: Callable[[str], None], listen: Listener = ignore
) -> Iterator[CaseSource]:
    """Prepares a deployment for cases; at the end undoes all changes and closes it.

    Args:
        deployment: The deployment to which cases are sent.
        report: Gets a line for each thing that could not be undone.
        listen: Called with every event of the run.

    Yields:
        The source of cases, by the document in force there.

    Raises:
        StartupError: The ledger or the published document cannot be used, or another run uses the
            journal or the ledger.
    """
    with closing(deployment), locked(deployment):
        run = start(deployment, RunOptions(needs_interface=False, listen=listen))
        try:
            yield _source(run)
        finally:
            for line in run.undo.restore():
                report(line)
            run.gateway.ledger.close()


def _source(run: Run) -> CaseSource:
    target = run.deployment.target
    sender = CaseSender(run, data_for_target(target))
    test_data = sender.prepare()
    if target.document is None:
        planners = selection.planners(None, test_data)
    else:
        planners = (Planner(run.document, "resource", test_data),)
    auth_url = target.auth_url or AUTHORIZATION
    wording = run.deployment.wording
    return CaseSource(planners, test_data, target.base_url, auth_url, sender.send, wording)
