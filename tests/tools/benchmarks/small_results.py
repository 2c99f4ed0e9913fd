"""Results that are made up, as small as they can be, for tests of tables and of the page."""

from tests.tools.benchmarks.figures import Figures, Growth, Results
from tests.tools.benchmarks.loads import Load
from tests.tools.benchmarks.peers import BARE, OURS, PRISM
from tests.tools.benchmarks.workloads import LOOKUP, UPLOAD

GROWTH = Growth("Speed & size", "people", "ms", {"a": {1: 5.0, 100: 9.0}, "b<": {100: 2.0}})


def small_results() -> Results:
    """Returns two servers that were measured, one that could not be installed, and one growth."""
    loads = {LOOKUP: [Load(900.0, 1.0, 2.0), Load(950.0, 1.1, 2.5)], UPLOAD: [Load(40.0, 1.0, 2.0)]}
    servers = {
        OURS: Figures(loads, [0.4], [0.3], [80.0]),
        BARE: Figures({LOOKUP: [Load(1000.0, 1.0, 2.0)]}, [0.1], [0.1], [30.0]),
        PRISM: Figures(notes={"start": "no <npm>"}),
    }
    return Results(servers, growths=[GROWTH])
