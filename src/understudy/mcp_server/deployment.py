"""The tool that compares a deployment with the mock.

It is the only tool that sends requests to a deployment. It is therefore offered only if a person has
named a target file, whose permissions and budgets apply.
"""

import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from understudy.mcp_server.messages import ChangedReading, ComparedDeployment, DeploymentDifference
from understudy.testing.world import JsonObject

Rules = Annotated[
    list[str] | None, Field(description="Ids of understudy://rules; null for all of them.")
]

SHOWN_REQUESTS = 3
"""Most requests in a result for each cause of a difference."""


def deployment_tools(target: Path | None, facts: Sequence[Path]) -> tuple[Callable[..., Any], ...]:
    """Returns the tools that send requests to a deployment; none without a target file.

    Args:
        target: The target file of the deployment, with its credentials and permissions.
        facts: Facts files that were learnt of the deployment.
    """
    if target is None:
        return ()

    def compare_deployment(rules: Rules = None) -> ComparedDeployment:
        """Tells whether the deployment of the target file is still as it was learnt, and how it differs from the mock.

        Sends what the target file permits, and undoes it. Takes up to a minute; fewer rules are faster.
        """
        words = ["drift", "--target", str(target)]
        words += [word for file in facts for word in ("--facts", str(file))]
        words += ["--rules", ",".join(rules)] if rules else []
        # a separate process undoes its changes even if this server is killed
        ran = subprocess.run(
            [sys.executable, "-m", "understudy", *words, "--json", "--quiet"],
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            report = orjson.loads(ran.stdout)
        except orjson.JSONDecodeError:
            raise ToolError(ran.stderr.strip()) from None
        return _compared(report, shlex.join(["understudy", *words]), has_facts=bool(facts))

    return (compare_deployment,)


def _compared(report: JsonObject, command: str, *, has_facts: bool) -> ComparedDeployment:
    changed = [
        ChangedReading(**{name: fact[name] for name in ChangedReading.model_fields})
        for fact in report["changed_facts"]
    ]
    unchecked = [*report["not_compared"], *report["not_checked"], *report["stopped"]]
    unchecked += [] if has_facts else ["what was learnt: this server was started without --facts"]
    return ComparedDeployment(
        is_as_learnt=has_facts and not changed and not report["stopped"],
        changed=changed,
        differences=[_difference(cause) for cause in report["causes"]],
        not_checked=unchecked,
        not_restored=report["not_restored"],
        requests=report["requests"],
        command=command,
    )


def _difference(cause: JsonObject) -> DeploymentDifference:
    lines = [
        f"{it['request']}: {it['aspect']} {it['deployment']}; the mock {it['other']}"
        for it in cause["differences"][:SHOWN_REQUESTS]
    ]
    return DeploymentDifference(
        fault=cause["fault"], rule=cause["rule"], statement=cause["statement"], requests=lines
    )
