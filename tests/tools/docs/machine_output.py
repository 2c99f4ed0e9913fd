"""The pages on exit codes and on ``--json``, from the modules that hold them."""

import json

from tests.tools.docs.exit_codes import MEANINGS, USES
from tests.tools.docs.markdown import code, page, table

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
        "The exit codes are the same for every command, so a script can distinguish findings from mistakes.",
        table(
            ("code", "means"),
            ((code(int(exit_code)), meaning) for exit_code, meaning in MEANINGS.items()),
        ),
        "## By command",
        "All other commands end with 0 or 2. `exec` ends with the exit code of the command that it runs.",
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
        "Commands that print data print it as JSON with `--json`, and nothing else on standard output."
        " `understudy schema COMMAND` prints the JSON Schema. Within a major version members may be added, but"
        " are never removed or renamed.",
        *parts,
    )
