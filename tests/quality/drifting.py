"""Compares deployments with the mock: a sound one that is never the same, and every mutant.

``python -m tests.quality.drifting`` prints how many mutants differ, and how many of them by a rule
that they break; and how often the sound one differs, which is never.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import count
from typing import Any

import httpx
import msgspec
import orjson
from tests.quality.mutants.edge import Edge, Mutant, Send
from tests.quality.mutants.runner import chosen

from understudy.api import drifting, in_process
from understudy.api.bundled_target import TARGET
from understudy.deployments.deployment import Deployment
from understudy.drift.comparing import Drift
from understudy.mock.settings import Settings
from understudy.verify.run import RunOptions

ELSEWHERE = msgspec.structs.replace(
    TARGET, is_mock=False, permit=msgspec.structs.replace(TARGET.permit, exhaust_rate_limit=False)
)


class Unsettled:
    """Sends members, headers and items of JSON objects in an order that changes each time.

    Args:
        seed: Of what is random.
    """

    def __init__(self, seed: int) -> None:
        self._seeds = (f"{seed} {number}" for number in count())

    def __call__(self, request: httpx.Request, send: Send) -> httpx.Response:
        """Returns a response that means the same."""
        response = send(request)
        headers = response.headers.multi_items()
        headers = self._ordered(headers)
        headers.append(("x-request-id", next(self._seeds)))
        content = response.content
        if response.headers.get("content-type", "").startswith("application/json"):
            content = orjson.dumps(self._shuffled(orjson.loads(content)))
        kept = [(name, text) for name, text in headers if name != "content-length"]
        return httpx.Response(response.status_code, headers=kept, content=content, request=request)

    def _shuffled(self, value: object) -> object:
        if isinstance(value, list):
            return [self._shuffled(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        return {name: self._shuffled(member) for name, member in self._ordered(value.items())}

    def _ordered(self, pairs: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Returns pairs in an order that is another each time."""
        seed = next(self._seeds)
        return sorted(pairs, key=lambda pair: sha256(f"{seed} {pair}".encode()).digest())


def deployment(
    change: object = None, *, seed: int = 0, choices: Mapping[str, str] | None = None
) -> Deployment:
    """Returns a new mock as another's deployment, with a deviation before it if there is one."""
    mock = in_process.mock(Settings(seed=seed, choices=choices or {}))
    wire: httpx.BaseTransport = in_process.InProcess(mock)
    if change is not None:
        wire = Edge(wire, change)  # type: ignore[arg-type]  # a deviation, of whatever kind
    return Deployment(ELSEWHERE, wire, in_process.time_of(mock))


def drift(ours: Deployment, *rules: str) -> Drift:
    """Returns the differences between a deployment and the mock."""
    return drifting.drift(ours, drifting.mock_beside(ours), RunOptions(rules=rules))


def caught(name: str, *rules: str) -> set[str]:
    """Returns the causes of what differs at a mutant; empty if nothing does."""
    mutant = next(each for each in chosen(name, 1) if each.name == name)
    return _causes(mutant, *rules)


def _causes(mutant: Mutant, *rules: str) -> set[str]:
    return {cause.rule for cause in drift(deployment(mutant.make()), *rules).causes}


def _scores(mutants: Iterable[Mutant]) -> Iterator[tuple[bool, bool]]:
    for mutant in mutants:
        causes = _causes(mutant)
        yield bool(causes), bool(causes & set(mutant.rules))


def main() -> int:
    """Prints the scores, and returns 1 where a sound deployment differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.drifting", description=__doc__)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth mutant")
    parser.add_argument("--sound", type=int, default=50, metavar="N", help="runs of a sound one")
    wanted = parser.parse_args()
    false = sum(
        bool(drift(deployment(Unsettled(seed), seed=seed)).causes) for seed in range(wanted.sound)
    )
    scores = list(_scores(chosen("", wanted.every)))
    found, named = (sum(score[place] for score in scores) for place in (0, 1))
    print(  # noqa: T201 - a command's output
        f"{false} of {wanted.sound} sound deployments differ; {found} of {len(scores)} mutants differ, "
        f"{named} of them by a rule that they break"
    )
    return int(false > 0)


if __name__ == "__main__":
    raise SystemExit(main())
