"""Reads the facts files that the mock follows, and says where they contradict one another."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from understudy.interface.facts import Facts, contradictory, load_facts
from understudy.interface.rules import Rule
from understudy.terminal import echo


def followed_facts(paths: Iterable[Path], rules: Sequence[Rule]) -> tuple[Facts, ...]:
    """Returns the facts of some files; a line on standard error for each contradiction.

    Args:
        paths: The files; of two for one question the last counts.
        rules: The catalogue.

    Raises:
        StartupError: A file cannot be read, or names a rule or an option that there is not.
    """
    files = tuple(load_facts(path, rules) for path in paths)
    for line in contradictory(files):
        echo(f"The facts differ, and the last file counts: {line}", err=True)
    return files
