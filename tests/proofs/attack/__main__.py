"""Attacks the mock: ``python -m tests.proofs.attack --requests 100000 --seed 1``."""

import argparse
import asyncio
import math
import sys
from time import perf_counter

import click
from tests.proofs.attack.by_socket import GENERATED, attack_by_socket
from tests.proofs.attack.files.attempts import run_apart
from tests.proofs.attack.files.every_list import LISTS
from tests.proofs.attack.in_process import attack
from tests.proofs.attack.oauth.every_check import CHECKS, attack_oauth


def main() -> int:
    """Runs the attacks; returns 1 where anything came of one that should not have."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.attack", description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000, help="requests in this process")
    parser.add_argument("--connections", type=int, default=300, help="hostile connections")
    parser.add_argument("--seed", type=int, default=1, help="seed of what is sent")
    parser.add_argument("--seconds", type=float, default=math.inf, help="end of the first attack")
    options = parser.parse_args()
    started = perf_counter()
    result = asyncio.run(attack(options.requests, options.seed, options.seconds))
    seconds = perf_counter() - started
    click.echo(f"{result.sent:,} requests in {seconds:.0f} s, slowest {result.slowest:.3f} s")
    click.echo(f"the slowest: {result.slowest_request:.200}")
    click.echo(f"resident megabytes: {', '.join(str(size >> 20) for size in result.memory)}")
    click.echo(
        ", ".join(f"{count} x {status}" for status, count in sorted(result.statuses.items()))
    )
    waits, problems = asyncio.run(attack_by_socket(options.connections, options.seed))
    click.echo(
        f"{options.connections * (1 + GENERATED):,} connections; another client waited "
        f"{max(waits):.3f} s at most"
    )
    broken = attack_oauth()
    click.echo(f"{len(CHECKS) - len(broken)} of {len(CHECKS)} checks of the OAuth list hold")
    failures = [*result.failures, *problems, *broken, *attack_by_files(options.seed)]
    for failure in failures[:20]:
        click.echo(failure)
    click.echo(f"{len(failures)} failures")
    return bool(failures)


def attack_by_files(seed: int) -> list[str]:
    """Runs every list of hostile files; returns what should not have come of them."""
    failures = []
    for name, load in LISTS.items():
        outcome = run_apart(name, load().count, seed)
        click.echo(
            f"{outcome.attempts} {name}: {len(outcome.failures)} failures; the costliest "
            f"{outcome.slowest:.2f} s of processor time ({outcome.slowest_name}); "
            f"{outcome.peak - outcome.rest} MB over rest at the peak, {outcome.child} MB in a child"
        )
        failures += [f"{name}: {failure}" for failure in outcome.failures]
    return failures


if __name__ == "__main__":
    sys.exit(main())
