"""The pure parts of the benchmark."""

import pytest
from tests.quality.benchmarks.judging import SCHEMATHESIS, SERVED, VERIFY, Judging, Ran, target_file
from tests.quality.benchmarks.measuring import Load, NotServed, parsed
from tests.quality.benchmarks.peers import BARE, OURS, OURS_UNJUDGED, PRISM
from tests.quality.benchmarks.report import LOOKUP, Figures, markdown, rows, targets
from tests.quality.benchmarks.workloads import our_grants, workloads
from tests.quality.mutants.curve import Trial

from understudy.api.bundled_target import TARGET
from understudy.deployments.target_files import load_target

LINE = 'RESULT {"requests": %d, "microseconds": 2000000, "p50": 1500, "p99": 9000, "failed": %d}'


def figures(rate: float) -> Figures:
    loads = [Load(rate * factor, 1.0, 2.0) for factor in (0.5, 1, 9)]
    return Figures({LOOKUP: loads}, [0.3], [100.0])


def test_wrks_figures_are_read_in_seconds_and_milliseconds():
    assert parsed(f"noise\n{LINE % (4000, 0)}\n") == Load(2000, 1.5, 9.0, 4000)


def test_a_load_that_failed_is_no_figure():
    with pytest.raises(NotServed, match="100 of 4000"):
        parsed(LINE % (4000, 100))
    with pytest.raises(NotServed, match="unable to connect"):
        parsed("unable to connect")


def test_the_median_of_the_rounds_counts():
    assert figures(100).rate(LOOKUP) == 100


def test_targets_are_reached_missed_or_not_measured():
    measured = {OURS: figures(300), OURS_UNJUDGED: figures(350), PRISM: figures(100)}
    verdicts = {target.what: target.verdict for target in targets(measured, 0.3)}
    assert verdicts["lookup, judged, to Prism"] == "reached"
    assert verdicts["lookup, unjudged, to Prism"] == "not reached"
    assert verdicts["lookup to bare ASGI"] == "not measured"


def test_the_table_has_a_row_for_every_server():
    table = rows({OURS: figures(300), BARE: Figures()}, [LOOKUP], PRISM)
    assert [row[0] for row in table] == ["server", OURS, BARE]
    assert markdown(table).splitlines()[-1].startswith("| bare ASGI | - |")


def test_a_workloads_bytes_survive_the_way_into_lua():
    upload = next(work for work in workloads() if work.name == "upload")
    assert upload.script("/x").count("\\") >= len(upload.body)


def test_a_code_is_taken_from_one_answer_and_sent_with_the_next_request():
    exchange = our_grants()[0]
    script = exchange.script("/x")
    assert '"/x/oauth2/token"' in script
    assert "found[#found] = nil" in script


def test_a_mutants_requests_end_where_it_is_caught():
    caught = Trial("a", True, ("x",), sightings=(50,), peers=(None,))
    late = Trial("b", True, ("x",), sightings=(1001,), peers=(100,))
    run = [Ran(300, 2.0, 1.0)]
    judged = Judging({VERIFY: run, SERVED: run, SCHEMATHESIS: run}, [caught, late], 400)
    assert judged.caught(VERIFY) == 100 / (50 + 400)
    assert judged.caught(SCHEMATHESIS) == 100 / (400 + 100)
    assert [target.verdict for target in judged.targets()] == [
        "not reached",
        "not reached",
        "reached",
    ]
    assert judged.rows()[1][1:4] == ["300", "150", "300"]


def test_the_target_file_of_a_served_mock_can_be_read(tmp_path):
    path = tmp_path / "target.toml"
    path.write_text(target_file("http://127.0.0.1:9"))
    target = load_target(path, {})
    assert target.base_url == "http://127.0.0.1:9/v3"
    assert target.credentials == TARGET.credentials
    assert target.budget.token > 100_000
