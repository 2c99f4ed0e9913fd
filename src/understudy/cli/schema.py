"""``understudy schema``: the JSON Schema of what a command prints with ``--json``."""

import click

COMMANDS = (
    *("cleanup", "drift", "exercised", "explain", "export", "fixtures", "generate"),
    *("infer", "journal", "learn", "lint", "rules", "verify", "worlds"),
)
"""Commands with ``--json``; the schemas themselves are made when one is printed."""


@click.command()
@click.argument("command", type=click.Choice(COMMANDS))
def schema(command: str) -> None:
    """Print the JSON Schema of what a command prints with --json.

    `journal` and `generate` print a JSON value on each line, which the schema is of.
    """
    from understudy.cli.output_schemas import output_schemas
    from understudy.record_schemas import schema_text

    click.echo(schema_text(output_schemas()[command]()), nl=False)
