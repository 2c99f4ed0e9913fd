"""Shell completion of values: switches, rules, operations and people of the bundled files.

``eval "$(_UNDERSTUDY_COMPLETE=bash_source understudy)"`` turns it on, in zsh and fish likewise.
"""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

Items = list[CompletionItem]


def _matching(incomplete: str, values: Iterable[tuple[str, str]]) -> Items:
    """Returns the values that begin with the typed text, each with its help."""
    return [
        CompletionItem(value, help=" ".join(text.split()))
        for value, text in values
        if value.startswith(incomplete)
    ]


def choices(_ctx: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Completes ``--choose``: every switch with each of its options."""
    from understudy.interface.rules import bundled_switches

    values = (
        (f"{name}={option}", f"default: {switch.default}")
        for name, switch in bundled_switches().items()
        for option in switch.options
    )
    return _matching(incomplete, values)


def rules(_ctx: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Completes the last id in the list of ``--rules``."""
    from understudy.collections.rules import INFERRED
    from understudy.interface.rules import bundled_rules

    before, comma, last = incomplete.rpartition(",")
    catalogue = (*bundled_rules(), *INFERRED.values())
    values = ((f"{before}{comma}{rule.id}", rule.statement) for rule in catalogue)
    return _matching(f"{before}{comma}{last}", values)


def operations(ctx: click.Context, _argument: click.Parameter, incomplete: str) -> Items:
    """Completes the operationIds of the running mock, or else of the document in use."""
    return _matching(incomplete, _of_mock(ctx.params.get("url")) or _of_documents(ctx))


def _of_mock(url: str | None) -> list[tuple[str, str]]:
    """Returns the operations of a running mock; none if there is no mock, or none that responds."""
    import json
    from urllib.request import urlopen

    try:
        with urlopen(f"{url}/__admin/exercised", timeout=5) as response:
            listed = json.load(response)["operations"]
        return [(it["operation"], "") for it in listed]
    except (OSError, ValueError, LookupError, TypeError):
        return []  # a completion shows no errors


def _of_documents(ctx: click.Context) -> list[tuple[str, str]]:
    """Returns the operations of the document that the command names, or of the bundled ones."""
    from understudy.errors import StartupError
    from understudy.openapi import operations as reader
    from understudy.openapi.loader import bundled_document, load

    named = ctx.params.get("document")
    bundled = ("service.yaml", "authorization.yaml")
    try:
        documents = [load(named)] if named else [bundled_document(name) for name in bundled]
    except StartupError:
        return []
    return [
        (operation.operation_id, f"{operation.method} {operation.path}")
        for document in documents
        for operation in reader.operations(document)
    ]


def people(ctx: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Completes the slugs of the fixtures in use."""
    from understudy.openapi.bundled import fixtures_directory

    directory = ctx.params.get("fixtures") or fixtures_directory()
    values = ((path.stem, "") for path in sorted((directory / "people").glob("*.yaml")))
    return _matching(incomplete, values)
