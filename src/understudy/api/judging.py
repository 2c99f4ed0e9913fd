"""Judges a deployment, or learns from it, for the commands and for ``understudy.verify``."""

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from understudy import plugins
from understudy.api.opening import logged_in, open_deployment
from understudy.api.options import DeploymentOptions
from understudy.interface.recognition import interface_operations
from understudy.openapi.loader import Document
from understudy.verify.case_sender import catalogue_cases
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Outcome
from understudy.verify.learner import Learnt, learn
from understudy.verify.run import Phase, RunOptions
from understudy.verify.runner import carry_out

MOCK_CASES: Final = 10
"""Generated cases of each operation for the mock in this process, where requests cost nothing."""

TELLING_CASES: Final = 2
"""Cases of the catalogue for each generated case, since they find more with each request."""


def verify(
    target: Path | str | None = None,
    *,
    document: Path | str | None = None,
    rules: Sequence[str] = (),
    cases: int | None = None,
    seed: int = 0,
    max_requests: int | None = None,
) -> Outcome:
    """Judges a deployment by the contract and undoes what it changed.

    Args:
        target: A target file, or the base URL of a resource API; None for the mock in this process.
        document: OpenAPI document to judge by; None for the target's, or else the bundled one.
        rules: Ids of the rules to judge; every rule if none is named.
        cases: Generated cases of each operation; None for 10 on the mock and for another service,
            and for 0 elsewhere.
        seed: Seed for the mock and for generated cases.
        max_requests: The most requests to send; None for no limit but the hour's.

    Returns:
        The outcome of every rule, with the findings and all exchanges. Values on people's profiles
        are replaced by pseudonyms, as in every report, unless the deployment is a mock.

    Raises:
        StartupError: The target or the document cannot be used, or nothing responds there.

    Examples:
        >>> import understudy
        >>> outcome = understudy.verify(rules=["qr-default-size"], cases=0)
        >>> [rule.status for rule in outcome.rules]
        ['passed']
    """
    is_url = isinstance(target, str) and target.startswith(("http://", "https://"))
    options = DeploymentOptions(
        target_file=Path(target) if target is not None and not is_url else None,
        base_url=str(target) if is_url else None,
        document=Path(document) if document is not None else None,
        max_requests=max_requests,
        seed=seed,
    )
    deployment = logged_in(open_deployment(options, os.environ))
    phases = phases_of(cases, deployment.document, is_mock=options.is_mock)
    people = plugins.find("people", "record")(deployment, options.target_file)
    outcome = judge(
        deployment,
        RunOptions(tuple(rules), seed, phases=phases, is_preflighted=not options.is_mock),
    )
    return outcome if people is None else people.hidden_outcome(outcome)


def judge(deployment: Deployment, options: RunOptions) -> Outcome:
    """Judges an open deployment, undoes all changes, and closes it.

    Raises:
        StartupError: The run cannot begin: a file is not valid, or nothing responds.
    """
    with closing(deployment):
        return carry_out(deployment, options)


def cases_of(cases: int | None, document: Document | None, *, is_mock: bool) -> int:
    """Returns the number of generated cases of each operation.

    Args:
        cases: The option of the caller; None for the default.
        document: The document in force, if it is the user's. The rules of this interface have probes;
            another service has none, so that without cases most of its operations would not be tried.
        is_mock: Whether the mock in this process is judged.
    """
    is_foreign = document is not None and not interface_operations(document)
    return cases if cases is not None else MOCK_CASES * (is_mock or is_foreign)


def phases_of(
    cases: int | None, document: Document | None = None, *, is_mock: bool
) -> tuple[tuple[str, Phase], ...]:
    """Returns the phases after the probes, with their names.

    Args:
        cases: Generated cases of each operation; None for the default.
        document: The document in force, if it is the user's.
        is_mock: Whether the mock in this process is judged.
    """
    count = cases_of(cases, document, is_mock=is_mock)
    if not count:
        return ()
    # Schemathesis and Hypothesis take half a second to import, and a run of probes alone needs none.
    from understudy.verify.generated_cases import generated  # noqa: PLC0415 - see above
    from understudy.verify.scenarios import scenarios  # noqa: PLC0415 - see above

    return (
        ("catalogue's cases", catalogue_cases(TELLING_CASES * count)),
        ("generated cases", generated(count)),
        ("scenarios", scenarios(count)),
    )


def learn_from(deployment: Deployment, options: RunOptions) -> Learnt:
    """Learns from an open deployment, undoes all changes, and closes it.

    Raises:
        StartupError: A rule leaves nothing open, or the run cannot begin.
    """
    with closing(deployment):
        return learn(deployment, options)
