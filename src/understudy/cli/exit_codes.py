"""Exit codes of the commands; the reference page is generated from these tables."""

from enum import IntEnum
from typing import Final

from understudy.terminal import echo


class ExitCode(IntEnum):
    """The exit codes, by which a script can tell a finding from a usage error."""

    DONE = 0
    FINDINGS = 1
    UNUSABLE = 2
    INCOMPLETE = 3
    INTERNAL = 4
    INTERRUPTED = 130


def last_lines(reason: str = "", following: str = "") -> ExitCode:
    """Prints the reason for exit code 1 and the next command, for a command without a report.

    Both go to standard error, as programs may read standard output.

    Args:
        reason: The findings; empty for none.
        following: The next command; empty for none.
    """
    if reason:
        echo(f"Exit code {ExitCode.FINDINGS:d}: {reason}.", bold=True, err=True)
    if following:
        echo(f"Next: {following}", err=True)
    return ExitCode.FINDINGS if reason else ExitCode.DONE


MEANINGS: Final = {
    ExitCode.DONE: "The command did its work, and found nothing that it was to fail on.",
    ExitCode.FINDINGS: "It found what it was to fail on.",
    ExitCode.UNUSABLE: "An option, a file or the installation must be mended first; one line says how.",
    ExitCode.INCOMPLETE: "It stopped early, or left unchecked what could have been checked.",
    ExitCode.INTERNAL: "A part of understudy itself failed; no deployment is blamed for it.",
    ExitCode.INTERRUPTED: "Ctrl-C ended it; another signal is 128 and its number, as a shell says.",
}

USES: Final = {
    "cleanup": {ExitCode.FINDINGS: "a change was not undone"},
    "drift": {
        ExitCode.FINDINGS: "there are differences that `--fail-on` names, in behaviour or in documents"
        " (by default those that the contract does not leave open, and changes that break clients),"
        " or a change was not undone",
        ExitCode.UNUSABLE: "the run could not begin, or compared no request at all",
        ExitCode.INCOMPLETE: "a run was stopped; or, with `--fail-on not-checked`, rules were not checked"
        " that could have been",
    },
    "exec": {ExitCode.INTERRUPTED: "else the exit code of the command that it runs"},
    "exercised": {ExitCode.FINDINGS: "less than `--threshold` was used"},
    "generate": {
        ExitCode.FINDINGS: "with `--send`, cases failed",
        ExitCode.UNUSABLE: "with `--send`, no case could be sent and judged",
        ExitCode.INCOMPLETE: "Ctrl-C or SIGTERM came first",
    },
    "learn": {
        ExitCode.FINDINGS: "a change was not undone",
        ExitCode.INCOMPLETE: "the run was stopped; what it settled until then is written",
        ExitCode.INTERNAL: "a part of the run failed",
    },
    "lint": {ExitCode.FINDINGS: "the document has what `--fail-on` names"},
    "record": {
        ExitCode.FINDINGS: "there are findings",
        ExitCode.INCOMPLETE: "exchanges passed that were too large to judge",
        ExitCode.INTERNAL: "a part of the proxy or of the judge failed",
    },
    "verify": {
        ExitCode.FINDINGS: "there are findings that `--fail-on` names, or a change was not undone",
        ExitCode.UNUSABLE: "the run could not begin, or checked no rule at all",
        ExitCode.INCOMPLETE: "the run was stopped; or rules were not checked that could have been"
        " (`--fail-on not-checked`), or that the report of `--baseline` has as checked",
        ExitCode.INTERNAL: "a part of verify failed; the report says which",
    },
}
"""Further reasons for an exit code, by command; 0 and 2 are used by every command as above."""
