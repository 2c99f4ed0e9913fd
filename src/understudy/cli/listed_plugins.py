"""``understudy plugins``: lists the plugins of other packages."""

import click

from understudy import plugins as registry
from understudy.terminal import echo


@click.command()
@click.option("--json", "is_json", is_flag=True, help="Print them as JSON.")
def plugins(*, is_json: bool) -> None:
    """List what installed packages add to understudy.

    A package adds commands, formats, reports, stores, handlers and rules by its entry points; two of
    one name are listed, and refused when they are used.
    """
    brought = registry.brought()
    if is_json:
        from understudy.cli.output_records import PrintedPlugin, print_record

        print_record([PrintedPlugin(*each) for each in brought])
        return
    for kind, name, package, version, place in brought:
        echo(f"{kind:10} {name:20} {package} {version}  {place}")
    if not brought:
        echo("No installed package adds anything; docs/how-to/extend.md shows how one does.")
