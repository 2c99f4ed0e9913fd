"""``understudy schema``: the JSON Schema of what a command prints with ``--json``."""

from collections.abc import Callable, Mapping
from typing import Any

import click
import orjson

from understudy.errors import nearest

JsonSchema = dict[str, Any]

COMMANDS = (
    *("cleanup", "drift", "exercised", "explain", "export", "fixtures", "generate"),
    *("infer", "journal", "learn", "lint", "plugins", "rules", "verify", "worlds"),
)
"""Commands with ``--json``; the schemas themselves are made when one is printed."""


def _known(_ctx: click.Context, _argument: click.Parameter, name: str) -> str:
    """Accepts the name of a command with ``--json``.

    Raises:
        BadParameter: There is none of this name.
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
    """Returns what makes the schema of each command's output; journal and generate print one value a line."""
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
        "fixtures": _fixtures,
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
    """Returns the schema of a response of the admin API, with the schemas that it refers to."""
    from understudy.openapi.bundled import openapi_directory
    from understudy.openapi.loader import load
    from understudy.openapi.validators import in_draft_7

    document = load(openapi_directory() / "admin.yaml")
    known = in_draft_7(document.raw)["components"]["schemas"]
    needed: dict[str, Any] = {}
    _collect(component, known, needed)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"The output of understudy {command}",
        "allOf": [{"$ref": f"#/components/schemas/{component}"}],
        "components": {"schemas": needed},
    }


def _collect(name: str, known: Mapping[str, Any], needed: dict[str, Any]) -> None:
    if name in needed:
        return
    needed[name] = known[name]
    for reference in _references(known[name]):
        _collect(reference.rpartition("/")[2], known, needed)


def _references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [reference for item in value for reference in _references(item)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + _references(list(value.values()))


def _fixtures() -> JsonSchema:
    text = {"type": "string"}
    texts = {"type": "array", "items": text}

    def records(optional: tuple[str, ...] = (), **members: Any) -> JsonSchema:
        required = [name for name in members if name not in optional]
        item = {
            "type": "object",
            "required": required,
            "properties": members,
            "additionalProperties": False,
        }
        return {"type": "array", "items": item}

    people = records(
        ("application_password",),
        slug=text,
        display_name=text,
        emails=records(email=text, hash=text, primary={"type": "boolean"}),
        about=text,
        username=text,
        password=text,
        application_password=text,
    )
    tokens = records(
        ("expires",),
        token=text,
        person=text,
        kind={"enum": ["oauth", "api_key"]},
        scopes=texts,
        state={"enum": ["valid", "expired"]},
        expires=text,
    )
    applications = records(
        client_id=text, client_secret=text, redirect_uris=texts, owner=text, about=text
    )
    members = {"people": people, "tokens": tokens, "applications": applications}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The output of understudy fixtures",
        "type": "object",
        "required": list(members),
        "properties": members,
        "additionalProperties": False,
    }
