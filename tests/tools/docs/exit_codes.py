"""What the exit codes mean: the reference page is made from these tables."""

from typing import Final

from understudy.cli.exit_codes import ExitCode

MEANINGS: Final = {
    ExitCode.DONE: "The command succeeded and has no findings.",
    ExitCode.FINDINGS: "There are findings, as listed below for each command.",
    ExitCode.UNUSABLE: "An option, a file or the installation must be corrected; the message says how.",
    ExitCode.INCOMPLETE: "The run stopped early, or did not check everything that it could.",
    ExitCode.INTERNAL: "A part of understudy failed; this says nothing about the deployment.",
    ExitCode.INTERRUPTED: "Ctrl-C stopped the command; other signals give 128 plus their number.",
}

USES: Final = {
    "cleanup": {ExitCode.FINDINGS: "a change was not undone"},
    "drift": {
        ExitCode.FINDINGS: "there are differences that `--fail-on` names, in behaviour or in documents"
        " (by default those that the contract does not leave open, and changes that break clients),"
        " or a change was not undone",
        ExitCode.UNUSABLE: "the run could not start, or compared no request",
        ExitCode.INCOMPLETE: "a run was stopped; or, with `--fail-on not-checked`, rules were not checked"
        " that could have been",
    },
    "exec": {ExitCode.INTERRUPTED: "Ctrl-C stopped it"},
    "exercised": {ExitCode.FINDINGS: "less than `--threshold` percent was used"},
    "generate": {
        ExitCode.FINDINGS: "with `--send`, cases failed",
        ExitCode.UNUSABLE: "with `--send`, no case could be sent and judged",
        ExitCode.INCOMPLETE: "Ctrl-C or SIGTERM stopped it",
    },
    "learn": {
        ExitCode.FINDINGS: "a change was not undone",
        ExitCode.INCOMPLETE: "the run was stopped; the file has what was settled before",
        ExitCode.INTERNAL: "a part of the run failed",
    },
    "lint": {ExitCode.FINDINGS: "the document has mistakes that `--fail-on` names"},
    "record": {
        ExitCode.FINDINGS: "there are findings",
        ExitCode.INCOMPLETE: "some exchanges were too large to judge",
        ExitCode.INTERNAL: "a part of the proxy or of the judge failed",
    },
    "verify": {
        ExitCode.FINDINGS: "there are findings that `--fail-on` names, or a change was not undone",
        ExitCode.UNUSABLE: "the run could not start, or checked no rule",
        ExitCode.INCOMPLETE: "the run was stopped; or rules were not checked that could have been"
        " (`--fail-on not-checked`), or were checked in the report of `--baseline`",
        ExitCode.INTERNAL: "a part of verify failed; the report says which",
    },
}
"""Further reasons for an exit code, by command; 0 and 2 are used by every command as above."""
