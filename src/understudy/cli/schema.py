"""``understudy schema``: prints the JSON Schema of a command's output with ``--json``."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import click
import orjson

from understudy.errors import nearest

JsonSchema = dict[str, Any]

_REFERENCE: Final = re.compile('"#/components/schemas/([^"/]+)')

COMMANDS = tuple(
    (
        "cleanup drift exercised explain export fixtures generate infer journal learn lint plugins"
        " rules verify worlds"
    ).split()
)
"""The commands with ``--json``, listed here so that ``--help`` need not build schemas."""


def _known(_ctx: click.Context, _argument: click.Parameter, name: str) -> str:
    """Checks that a name is of a command with ``--json``.

    Raises:
        BadParameter: There is no such command.
    """
    if name not in COMMANDS:
        hint = nearest(name, COMMANDS) or "; see `understudy schema --help`"
        msg = f"there is no command {name!r} with --json{hint}"
        raise click.BadParameter(msg)
    return name


@click.command()
@click.argument("command", callback=_known)
def schema(command: str) -> None:
    """Print the JSON Schema of what a command prints with --json.

    Commands are cleanup, drift, exercised, explain, export, fixtures, generate, infer, journal, learn,
    lint, plugins, rules, verify and worlds.

    `journal` and `generate` print a JSON value on each line, which the schema is of.
    """
    from understudy.record_schemas import schema_text

    click.echo(schema_text(output_schemas()[command]()), nl=False)


def output_schemas() -> Mapping[str, Callable[[], JsonSchema]]:
    """Returns functions that build the schema of a command's output, by command.

    The schemas for journal and generate are of each line, as these print one JSON value per line.
    """
    from understudy.cli import output_records as records
    from understudy.drift.drift_report import DriftReport
    from understudy.interface.facts import Facts
    from understudy.openapi.linting import report_schema
    from understudy.record_schemas import record_schema

    return {
        "cleanup": lambda: record_schema(records.PrintedUndo, "The output of understudy cleanup"),
        "drift": lambda: record_schema(DriftReport, "The output of understudy drift"),
        "exercised": lambda: _of_admin_api("exercised", "ExercisedReport"),
        "explain": lambda: _of_admin_api("explain", "ExplainedRequest"),
        "export": lambda: record_schema(records.PrintedExport, "The output of understudy export"),
        "fixtures": lambda: _of_admin_api("fixtures", "Inhabitants"),
        "generate": lambda: _file("understudy.generate.formats", "case.schema.json"),
        "infer": lambda: record_schema(records.PrintedModel, "The output of understudy infer"),
        "journal": lambda: _of_admin_api("journal", "Request"),
        "learn": lambda: record_schema(Facts, "The output of understudy learn"),
        "lint": report_schema,
        "plugins": lambda: record_schema(
            list[records.PrintedPlugin], "The output of understudy plugins"
        ),
        "rules": lambda: record_schema(list[records.PrintedRule], "The output of understudy rules"),
        "verify": lambda: _file("understudy.verify", "report.schema.json"),
        "worlds": lambda: record_schema(
            list[records.PrintedWorld], "The output of understudy worlds"
        ),
    }


def _file(package: str, name: str) -> JsonSchema:
    from importlib.resources import files

    schema: JsonSchema = orjson.loads(files(package).joinpath(name).read_bytes())
    return schema


def _of_admin_api(command: str, component: str) -> JsonSchema:
    """Returns the schema of a response of the admin API, with all schemas that it refers to."""
    from understudy.openapi.loader import bundled_document
    from understudy.openapi.validators import in_draft_7

    known = in_draft_7(bundled_document("admin.yaml").raw)["components"]["schemas"]
    needed = [component]
    for name in needed:  # grows during the loop by the references of each schema
        text = orjson.dumps(known[name]).decode()
        needed += dict.fromkeys(it for it in _REFERENCE.findall(text) if it not in needed)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"The output of understudy {command}",
        "allOf": [{"$ref": f"#/components/schemas/{component}"}],
        "components": {"schemas": {name: known[name] for name in needed}},
    }
