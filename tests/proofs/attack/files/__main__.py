"""Runs one list of hostile files: ``python -m tests.proofs.attack.files capsules [COUNT [SEED]]``."""

import logging
import sys

import click
from tests.proofs.attack.files.attempts import run, shown
from tests.proofs.attack.files.every_list import LISTS


def main() -> None:
    """Prints the outcome as a line of JSON."""
    name, *numbers = sys.argv[1:]
    files = LISTS[name]()
    count, seed = (*map(int, numbers), *(files.count, 1)[len(numbers) :])
    logging.getLogger("understudy").setLevel(logging.CRITICAL)
    click.echo(shown(run(files, count, seed)))


if __name__ == "__main__":
    main()
