"""``make fuzz``: compares the two entrances of the mock at length, by one seed after another."""

import argparse
import asyncio
import itertools
import sys

from rich.console import Console
from tests.quality.entrances.comparison import PET_STORE, SERVICE, compare


def main() -> None:
    """Compares, prints what was compared, and fails where anything differs."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--connections", type=int, default=20_000, help="of each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    options = parser.parse_args()
    console = Console(soft_wrap=True)
    differences = 0
    for seed, settings in itertools.product(options.seeds, (SERVICE, PET_STORE)):
        # the document of another service has fewer operations
        connections = options.connections // (1 if settings is SERVICE else 5)
        result = asyncio.run(compare(connections, seed, settings))
        differences += len(result.differences)
        console.print(
            f"seed {seed}: {result.connections:,} connections, {result.responses:,} responses, "
            f"{len(result.differences)} differences"
        )
        for difference in result.differences[:10]:
            console.print(difference, markup=False)
    sys.exit(differences > 0)


if __name__ == "__main__":
    main()
