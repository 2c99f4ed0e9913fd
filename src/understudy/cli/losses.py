"""Prints warnings about the documents and facts files of a command before it runs."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from understudy.interface.facts import Facts, contradictory, load_facts
from understudy.interface.rules import Rule
from understudy.openapi.diagnostics import Diagnostic
from understudy.openapi.loader import Document
from understudy.terminal import echo, printable_line

MOST = 5
"""Most losses that are printed; ``understudy lint`` shows all."""

MOST_CHECKED: Final = 1_000_000
"""Bytes of the largest document whose examples are validated at start, which takes 0.2 s."""


def print_losses(path: Path, losses: Sequence[Diagnostic]) -> None:
    """Prints the first losses of a document on standard error, errors first, one line each."""
    for loss in sorted(losses, key=lambda loss: loss.severity)[:MOST]:
        echo(printable_line(f"{path}: {loss.severity}: {loss}"), fg="yellow", err=True)
    if len(losses) > MOST:
        echo(
            f"and {len(losses) - MOST:,} more; `understudy lint {path}` shows all {len(losses):,}.",
            fg="yellow",
            err=True,
        )


def print_missing_base(document: Document, url: str) -> None:
    """Prints a note if a base URL has no path although the document's servers have one."""
    if document.base_path and not urlsplit(url).path.strip("/"):
        line = (
            f"note: {url} has no path, and the document's server has {document.base_path}; if every "
            f"response is a 404, name --base-url {url.rstrip('/')}{document.base_path}"
        )
        echo(printable_line(line), fg="yellow", err=True)


def print_wrong_examples(document: Document) -> None:
    """Prints one line with the number of examples that break their schema, if there are any."""
    # The linter takes a while to import, and the bundled document needs no such check.
    from understudy.openapi.linting import lint

    if sum(file.stat().st_size for file in document.files) > MOST_CHECKED:
        return
    number = sum(it.rule == "invalid-example" for it in lint(document))
    if number:
        examples = "1 example breaks its schema and is"
        if number > 1:
            examples = f"{number:,} examples break their schemas and are"
        echo(
            f"{document.path}: warning: {examples} not used; "
            f"`understudy lint {document.path}` shows where.",
            fg="yellow",
            err=True,
        )


def followed_facts(paths: Iterable[Path], rules: Sequence[Rule]) -> tuple[Facts, ...]:
    """Loads facts files, and prints a line on standard error for each contradiction.

    Args:
        paths: The files; the last one wins for each rule.
        rules: The catalogue.

    Raises:
        StartupError: A file cannot be read, or names an unknown rule or option.
    """
    files = tuple(load_facts(path, rules) for path in paths)
    for line in contradictory(files):
        echo(f"The facts differ, and the last file counts: {line}", err=True)
    return files
