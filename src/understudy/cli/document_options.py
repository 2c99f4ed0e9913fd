"""The options of commands that read a document."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def overlay_option(command: Command) -> Command:
    """Adds ``--overlay`` to a command, which gets ``overlays``."""
    return click.option(
        "--overlay",
        "overlays",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Overlay file (1.0 or 1.1) that changes the document first; repeatable.",
    )(command)
