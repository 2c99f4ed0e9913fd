"""The pages on exit codes and on ``--json``, from the modules that hold them."""

import json

from tests.tools.docs.markdown import code, page, table

from understudy.cli.exit_codes import MEANINGS, USES
from understudy.cli.schema import output_schemas

ONE_A_LINE = ("generate", "journal")


def page_of_exit_codes() -> str:
    """Returns the page: every code, and what each command means by it."""
    rows = (
        (code(command), code(int(exit_code)), use)
        for command, codes in sorted(USES.items())
        for exit_code, use in codes.items()
    )
    return page(
        "Exit codes",
        "A script can tell a finding from a mistake of its own: the same codes hold for every command.",
        table(
            ("code", "means"),
            ((code(int(exit_code)), meaning) for exit_code, meaning in MEANINGS.items()),
        ),
        "## By command",
        "What is not listed here ends with 0 or 2. `exec` ends with the exit code of the command that it runs.",
        table(("command", "code", "because"), rows),
    )


def page_of_json_output() -> str:
    """Returns the page: the JSON Schema of each command's output."""
    parts = []
    for command, make in output_schemas().items():
        lines = " The schema is that of each line." if command in ONE_A_LINE else ""
        schema = json.dumps(make(), indent=2, ensure_ascii=False)
        parts += [
            f"## understudy {command} --json",
            f"`understudy schema {command}` prints this.{lines}",
            f"```json\n{schema}\n```",
        ]
    return page(
        "JSON output",
        "Each command that prints data prints it as JSON with `--json`, and nothing else on standard output."
        " `understudy schema COMMAND` prints its JSON Schema. A member is never removed or renamed within a major"
        " version; new ones may come.",
        *parts,
    )
