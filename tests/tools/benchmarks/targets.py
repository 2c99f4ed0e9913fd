"""What is to be reached, and whether it was."""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.tools.benchmarks.figures import Figures, Results
from tests.tools.benchmarks.loads import Spread, ratios, spread
from tests.tools.benchmarks.peers import (
    BARE,
    OUR_GRANTS,
    OUR_SAMPLES,
    OUR_WORLDS,
    OURS,
    OURS_CROWDED,
    PRISM,
    PRISM_SAMPLES,
    SCALAR,
    THEIR_GRANTS,
)
from tests.tools.benchmarks.workloads import (
    EDIT,
    EXCHANGE,
    IN_WORLD,
    LOOKUP,
    MIX,
    PLAIN,
    QR_CODE,
    RANDOM_LOOKUP,
    SAMPLE,
    TOKEN_INFO,
    TOKEN_LOOKUP,
    UPLOAD,
)

ABSENT = "-"
"""Stands where nothing was measured."""

HELP = "understudy --help, s of processor"
CURL_CASES = "10,080 cases to curl, s of processor"
COUNTED = "--state, for a counted lookup, 10,000 people, µs of processor"
RECORDED = "record, for a lookup that passes and is judged, µs of processor"
LISTING = "first page of 10,000 worlds, ms"
STUBBED = "a stubbed lookup to an ordinary one, processor time"
WHOLE_RUN = "verify, default run on the mock, s of processor"
BY_SOCKET = "verify by a socket to schemathesis run, requests a second"


@dataclass(frozen=True)
class Target:
    """Something to reach.

    Attributes:
        what: The row of the table.
        aim: What is to be reached.
        actual: What was measured.
        is_reached: None: it was not measured.
    """

    what: str
    aim: str
    actual: str
    is_reached: bool | None

    @property
    def verdict(self) -> str:
        """Returns reached, not reached or not measured."""
        return {True: "reached", False: "not reached", None: "not measured"}[self.is_reached]


_RATIOS = (
    ("lookup to bare ASGI", OURS, LOOKUP, BARE, LOOKUP, 0.75),
    ("lookup to Prism", OURS, LOOKUP, PRISM, LOOKUP, 7),
    ("lookup with a token, to bare ASGI", OURS, TOKEN_LOOKUP, BARE, TOKEN_LOOKUP, 0.7),
    ("mix to bare ASGI", OURS, MIX, BARE, MIX, 0.6),
    (
        "lookup of random people of 100,000, to bare",
        OURS_CROWDED,
        RANDOM_LOOKUP,
        BARE,
        RANDOM_LOOKUP,
        0.45,
    ),
    ("PATCH own profile to Prism", OURS, EDIT, PRISM, EDIT, 4),
    ("QR code, new parameters, to Prism's", OURS, QR_CODE, PRISM, QR_CODE, 4),
    # 2.5 times the 1.2 times Prism's that were measured on 2026-11-21
    ("upload of 5 kB to Prism", OURS, UPLOAD, PRISM, UPLOAD, 3),
    (
        "authorize, exchange to oauth2-mock-server",
        OUR_GRANTS,
        EXCHANGE,
        THEIR_GRANTS,
        EXCHANGE,
        2.5,
    ),
    ("token-info to bare ASGI", OUR_GRANTS, TOKEN_INFO, BARE, LOOKUP, 0.6),
    ("another document's sample to Prism", OUR_SAMPLES, SAMPLE, PRISM_SAMPLES, SAMPLE, 4),
    ("lookup to Scalar, which validates nothing", OURS, LOOKUP, SCALAR, LOOKUP, 1),
    ("a world's address to the plain one", OUR_WORLDS, IN_WORLD, OUR_WORLDS, PLAIN, 0.95),
)
"""What, our server and its work, the other's, and how many times its rate is to be reached."""

_COSTS = (
    *((HELP, 0.09), (WHOLE_RUN, 8), (CURL_CASES, 2), (COUNTED, 20), (LISTING, 5)),
    *((RECORDED, 5000), (STUBBED, 1.2)),
)


def targets(results: Results) -> list[Target]:
    """Compares what was measured with what is to be reached (issue 17)."""
    ours, crowded = (results.servers.get(name, Figures()) for name in (OURS, OURS_CROWDED))
    latencies = ours.latencies(LOOKUP)
    return [
        *(
            at_least(what, results.rates(server, work), results.rates(other, its_work), aim)
            for what, server, work, other, its_work, aim in _RATIOS
        ),
        _at_most("p99 of a lookup, 16 connections, ms", latencies and latencies[1], 1.2),
        _at_most("start to first response, s of processor", spread(ours.start_costs), 0.35),
        _at_most("memory after the bench, MB", spread(ours.memory), 90),
        _at_most("100,000 people: start, s", spread(crowded.starts), 1.5),
        _at_most("100,000 people: memory, MB", spread(crowded.memory), 300),
        *(_at_most(what, spread(results.costs.get(what, ())), aim) for what, aim in _COSTS),
        _judged(BY_SOCKET, spread(results.costs.get(BY_SOCKET, ())), 1.8, is_least=True),
    ]


def at_least(what: str, ours: Iterable[float], theirs: Iterable[float], aim: float) -> Target:
    """Returns whether we reach so many times what another does, in the median of the rounds."""
    return _judged(what, ratios(ours, theirs), aim, is_least=True)


def _at_most(what: str, actual: Spread | None, aim: float) -> Target:
    return _judged(what, actual, aim, is_least=False)


def _judged(what: str, actual: Spread | None, aim: float, *, is_least: bool) -> Target:
    sign = "≥" if is_least else "≤"
    if actual is None:
        return Target(what, f"{sign} {aim:g}", ABSENT, None)
    is_reached = actual.median >= aim if is_least else actual.median <= aim
    return Target(what, f"{sign} {aim:g}", actual.text(".3g"), is_reached)
