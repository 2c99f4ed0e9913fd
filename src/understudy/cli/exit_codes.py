"""Exit codes of the commands; `tests/tools/docs` says what each command means by them."""

from enum import IntEnum

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
