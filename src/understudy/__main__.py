"""Runs the ``understudy`` command, also by ``python -m understudy`` for a shell that does not find it."""

import signal
from importlib import import_module


def main() -> None:
    """Imports the commands and runs the one that the command line names.

    Ctrl-C while modules load ends the process with the signal's default action: status 130 in a shell
    and no traceback. Once loaded, commands handle Ctrl-C themselves.
    """
    handler = signal.getsignal(signal.SIGINT)
    is_usual = handler is signal.default_int_handler  # background jobs of a script ignore SIGINT
    if is_usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    command = import_module("understudy.cli").main
    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command(prog_name="understudy")


if __name__ == "__main__":
    main()
