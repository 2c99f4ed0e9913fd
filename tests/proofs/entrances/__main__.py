"""``make fuzz``: compares the two entrances of the mock at length, by one seed after another."""

import argparse
import asyncio
import itertools
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from tests.proofs.entrances.comparison import PET_STORE, SERVICE, compare
from tests.store_server import store_server


def main() -> None:
    """Compares, prints what was compared, and fails where anything differs."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--connections", type=int, default=20_000, help="of each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, store_server(Path(directory)) as server:
        sys.exit(_differences(options, server.url()) > 0)


def _differences(options: argparse.Namespace, store: str) -> int:
    """Compares without a store, and with one; returns the number of differences."""
    console = Console(soft_wrap=True)
    differences = 0
    ways = itertools.product(options.seeds, (SERVICE, PET_STORE), (None, store))
    for seed, settings, state in ways:
        # the document of another service has fewer operations, and a store takes its time
        connections = options.connections // (1 if settings is SERVICE else 5)
        connections //= 1 if state is None else 10
        result = asyncio.run(compare(connections, seed, settings, state=state))
        differences += len(result.differences)
        console.print(
            f"seed {seed}, {'no store' if state is None else 'a store'}: {result.connections:,} "
            f"connections, {result.responses:,} responses, {len(result.differences)} differences"
        )
        for difference in result.differences[:10]:
            console.print(difference, markup=False)
    return differences


if __name__ == "__main__":
    main()
