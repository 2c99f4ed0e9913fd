"""Runs the ``understudy`` command by ``python -m understudy``, for a shell that does not find it."""

from understudy.cli import main

main(prog_name="understudy")
