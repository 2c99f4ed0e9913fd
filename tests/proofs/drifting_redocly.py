"""Gives the traffic of mutants to Redocly's ``drift``, which compares it with the document.

``python -m tests.proofs.drifting_redocly`` prints how many mutants it tells from a sound deployment.
What it reports of the sound one too, such as requests that lack a token on purpose, is left out.
"""

import argparse
import json
import subprocess
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.needs import MODULES
from tests.proofs.drifting import ELSEWHERE, deployment
from tests.proofs.mutants.edge import Change
from tests.proofs.mutants.runner import chosen

from understudy.openapi.bundled import openapi_directory
from understudy.verify.reports import traffic_archive
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out

Reported = set[tuple[str, ...]]
"""Findings of Redocly: rule, operation, status, the part that it is about, and the message."""

CLI = MODULES / "@redocly" / "cli" / "bin" / "cli.js"


def reported(change: Change | None = None) -> Reported:
    """Returns what Redocly reports of the traffic of a run of verify."""
    with closing(deployment(change)) as opened:
        outcome = carry_out(opened, RunOptions())
    with TemporaryDirectory() as place:
        traffic, report = Path(place) / "traffic.har", Path(place) / "report.json"
        traffic.write_text(traffic_archive(outcome, ELSEWHERE.secrets()), encoding="utf-8")
        document = str(openapi_directory() / "service.yaml")
        command = ["node", str(CLI), "drift", str(traffic), "--api", document]
        command += ["--server", ELSEWHERE.base_url, "--format", "json", "--output", str(report)]
        subprocess.run(command, capture_output=True, check=False)  # 1 where it finds something
        problems = json.loads(report.read_text(encoding="utf-8"))["problems"]
    names = ("ruleId", "operationId", "status", "target", "message")
    return {tuple(str(problem.get(name)) for name in names) for problem in problems}


def main() -> int:
    """Prints how many mutants are told from a sound deployment."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.drifting_redocly")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth mutant")
    mutants = chosen("", parser.parse_args().every)
    sound = reported()
    found = 0
    for mutant in mutants:
        more = reported(mutant.make()) - sound
        found += bool(more)
        print(f"{mutant.name}: {sorted(more) or 'not found'}", flush=True)  # noqa: T201 - a command
    print(f"{found} of {len(mutants)} mutants, and {len(sound)} findings of a sound deployment")  # noqa: T201 - a command
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
