"""``understudy infer``: shows which state the mock infers from a document."""

import shlex
from pathlib import Path
from typing import Any

import click

from understudy.cli.command_options import Overlays
from understudy.cli.exit_codes import last_lines
from understudy.cli.options import FILE, takes
from understudy.terminal import counted, echo, printable, printable_line

WIDTH = 78
"""Columns of the reasons."""


@click.command(context_settings={"show_default": True})
@click.argument("document", type=FILE, metavar="FILE")
@takes(Overlays)
@click.option(
    "--state-model",
    type=FILE,
    metavar="YAML",
    help="State-model file that corrects what is inferred.",
)
@click.option(
    "--write",
    type=FILE,
    metavar="YAML",
    help="Write what is inferred as a state-model file, to edit and pass to --state-model, and its"
    " JSON Schema beside it.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the model as JSON.")
def infer(
    changes: Overlays,
    document: Path,
    state_model: Path | None,
    write: Path | None,
    *,
    is_json: bool,
) -> None:
    """Show which state the mock infers from a document.

    Operations of a collection share their state: what is created is read, listed, changed, and gone
    after deletion. What is not sure stays stateless.
    """
    # Documents take 0.1 s to import, which other commands need not wait for.
    from understudy.cli.writing import expect_writable
    from understudy.collections.inference import infer_resources
    from understudy.collections.state_models import (
        SCHEMA_NAME,
        state_model_schema,
        state_model_text,
    )
    from understudy.openapi.loader import load

    if write is not None:
        expect_writable(write, "--write")
    model = infer_resources(load(document, changes.overlays), state_model)
    if write is not None:
        write.write_text(state_model_text(model), encoding="utf-8")
        write.with_name(SCHEMA_NAME).write_text(state_model_schema(), encoding="utf-8")
    if is_json:
        _print(model)
        return
    for line in _lines(model):
        click.echo(line)
    file = write or state_model
    if write is not None:
        echo(f"The state model was written to {write}.", err=True)
    given = f" --state-model {shlex.quote(str(file))}" if file is not None else ""
    last_lines(following=f"understudy serve --document {shlex.quote(str(document))}{given}")


def _print(model: Any) -> None:
    from understudy.cli.output_records import PrintedModel, print_record

    kinds = (model.collections, model.singletons, model.uncertain)
    print_record(PrintedModel(*([_printed(it) for it in kind] for kind in kinds)))


def _printed(resource: Any) -> Any:
    """Returns the record of a collection or a single resource."""
    from understudy.cli import output_records as records

    operations = [
        records.PrintedOperation(
            role=it.role,
            method=it.operation.method,
            path=it.operation.path,
            request=list(it.request_path),
            response=None if it.response_path is None else list(it.response_path),
            changes=dict(it.changes or {}),
            named_by=it.named_by,
        )
        for it in (*resource.operations, *resource.others)
    ]
    return records.PrintedResource(
        path=resource.path,
        item=resource.item_path,
        identifier=resource.identifier,
        confidence=resource.confidence,
        reasons=list(resource.reasons),
        operations=operations,
        parents=[records.PrintedParent(it.parameter, it.collection) for it in resource.parents],
        references=dict(resource.references),
        unique=list(resource.unique),
    )


def _lines(model: Any) -> list[str]:
    """Returns the model as a table: the resources with state, their confidence and the reasons."""
    collections = counted(len(model.collections), "collection")
    singletons = counted(len(model.singletons), "single resource")
    operations = counted(sum(1 for _ in model.roles()), "operation")
    lines = [f"{collections} and {singletons}, with {operations}, have state."]
    for resource in model.resources:
        lines += _resource(resource)
    if model.uncertain:
        lines += ["", "Stateless, as too little speaks for a state (--state-model FILE states it):"]
    for resource in model.uncertain:
        lines += _resource(resource)
    return lines


def _resource(resource: Any) -> list[str]:
    import textwrap

    title = click.style(printable_line(resource.path), bold=True)
    by = f", by {printable_line(resource.identifier)}" if resource.identifier else ""
    lines = []
    for it in (*resource.operations, *resource.others):
        changes = ", ".join(f"{name}: {value}" for name, value in it.changes.items())
        suffix = f"  ({changes})" if changes else "  (a list of items)" if it.takes_list else ""
        suffix = f"  (by {printable_line(it.named_by)})" if it.named_by else suffix
        lines.append(f"      {it.role:<8} {it.operation.method:<6} {it.operation.path}{suffix}")
    for parent in resource.parents:
        target = f"items of {parent.collection}" if parent.collection else "separate items"
        lines.append(f"      {'parent':<8} {{{parent.parameter}}}  {target}")
    for member, path in resource.references.items():
        lines.append(f"      {'refers':<8} {member}  to items of {path}")
    lines += [f"      {'unique':<8} {member}" for member in resource.unique]
    why = textwrap.wrap("; ".join(resource.reasons), WIDTH - 6)
    return [
        "",
        f"{resource.confidence:>4.0%}  {title}{by}",
        *map(printable, lines),
        *(click.style(f"      {printable(line)}", dim=True) for line in why),
    ]
