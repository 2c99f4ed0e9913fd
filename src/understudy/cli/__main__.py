"""``python -m understudy.cli``, where the command is not on the path."""

from understudy.cli import main

main()
