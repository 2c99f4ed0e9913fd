"""The pure parts of the benchmark."""

import pytest
from tests.proofs.mutants.curve import Trial
from tests.tools.benchmarks.figures import Figures, Results
from tests.tools.benchmarks.judging import SCHEMATHESIS, SERVED, VERIFY, Judging, Ran, target_file
from tests.tools.benchmarks.loads import Load, NotServed, parsed, ratios, spread, warning
from tests.tools.benchmarks.peers import BARE, OURS, PRISM, Peer, peers
from tests.tools.benchmarks.processes import TICKS, busy_seconds
from tests.tools.benchmarks.report import markdown, rates, tables
from tests.tools.benchmarks.targets import BY_SOCKET, WHOLE_RUN, targets
from tests.tools.benchmarks.workloads import LOOKUP, Workload, counted_lookup, our_grants, workloads

from understudy.api.bundled_target import TARGET
from understudy.verify.target import load_target

LINE = 'RESULT {"requests": %d, "microseconds": 2000000, "p50": 1500, "p99": 9000, "failed": %d}'


def figures(rate: float) -> Figures:
    loads = [Load(rate * factor, 1.0, 2.0) for factor in (0.5, 1, 9)]
    return Figures({LOOKUP: loads}, starts=[0.3], memory=[100.0])


def test_wrks_figures_are_read_in_seconds_and_milliseconds():
    assert parsed(f"noise\n{LINE % (4000, 0)}\n") == Load(2000, 1.5, 9.0, 4000)


def test_a_load_that_failed_is_no_figure():
    with pytest.raises(NotServed, match="100 of 4000"):
        parsed(LINE % (4000, 100))
    with pytest.raises(NotServed, match="unable to connect"):
        parsed("unable to connect")


def test_a_figure_is_the_median_of_the_rounds_with_the_least_and_the_most():
    rounds = spread([9.0, 1.0, 2.0])
    assert rounds is not None
    assert rounds.text() == "2 (1 to 9)"
    assert spread([]) is None


def test_one_round_shows_no_spread():
    alone = spread([1234.5])
    assert alone is not None
    assert alone.text(",.1f") == "1,234.5"


def test_ratios_are_of_the_same_round():
    slower_machine = ratios([100, 50], [10, 5])
    assert slower_machine is not None
    assert (slower_machine.least, slower_machine.most) == (10, 10)


@pytest.mark.parametrize(
    ("load_average", "others", "reason"),
    [
        (1.5, [0.0] * 20, "load average was 1.5 on 2 cores"),
        (0.0, [0.0] * 9 + [0.9] * 3, "up to 0.9 of 2 cores during 3 of 12 loads"),
    ],
)
def test_a_loaded_machine_is_warned_of(load_average, others, reason):
    text = warning(load_average, 2, others)
    assert text is not None
    assert text.startswith("Do not trust these figures: ")
    assert reason in text


def test_a_quiet_machine_with_one_disturbed_load_is_not_warned_of():
    assert warning(0.2, 2, [0.05] * 19 + [0.5]) is None


def test_waiting_for_a_disk_and_idling_are_no_work():
    columns = "cpu  1 2 4 1000 2000 8 16 32 5000 5000"
    assert busy_seconds(f"{columns}\ncpu0 9 9 9 9\n") * TICKS == 1 + 2 + 4 + 8 + 16 + 32


def test_aims_are_reached_missed_or_not_measured():
    reached = targets(Results({OURS: figures(500), PRISM: figures(100)}))
    verdicts = {target.what: target.verdict for target in reached}
    assert verdicts["lookup to Prism"] == "not reached"
    assert verdicts["100,000 people: start, s"] == "not measured"
    assert verdicts["lookup to bare ASGI"] == "not measured"
    assert {target.what: target.actual for target in reached}["lookup to Prism"] == "5"


def test_the_table_has_a_row_for_every_server():
    table = rates({OURS: figures(300), BARE: Figures()}, [LOOKUP], PRISM)
    assert [row[0] for row in table] == ["server", OURS, BARE]
    assert markdown(table).splitlines()[-1].startswith("| bare ASGI | - |")


def test_a_server_that_could_not_be_installed_has_a_line_that_says_why():
    lacking = Peer("", lambda _port, _cache: (), programs=("no-such-program",)).lacking()
    assert lacking == "no-such-program is not installed: apt-get install no-such-program"
    results = Results({"Prism": Figures(notes={"start": lacking})})
    assert list(results.reasons()) == [f"Prism, start: {lacking}"]
    assert tables(results) == {}


def test_every_peer_has_a_name_and_a_pinned_version():
    names = [peer.name for peer in peers()]
    assert len(names) == len({*names})
    assert all("@" in package[1:] for peer in peers() for package in peer.packages)


def test_a_workloads_bytes_survive_the_way_into_lua():
    upload = next(work for work in workloads() if work.name == "upload")
    assert upload.script("/x").count("\\") >= len(upload.body)


def test_a_code_is_taken_from_one_response_and_sent_with_the_next_request():
    exchange = our_grants()[0]
    script = exchange.script("/x")
    assert '"/x/oauth2/token"' in script
    assert "found[#found] = nil" in script


def test_a_line_of_a_file_stands_in_each_request(tmp_path):
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("first\nsecond\n")
    work = counted_lookup(tokens)
    assert f'io.lines("{tokens}")' in work.script("/v3")
    assert work.example().headers == {"Authorization": "Bearer first"}


def test_a_mutants_requests_end_where_it_is_caught():
    caught = Trial("a", True, ("x",), sightings=(50,), peers=(None,))
    late = Trial("b", True, ("x",), sightings=(1001,), peers=(100,))
    run = [Ran(300, 2.0, 1.0)]
    judged = Judging({VERIFY: run, SERVED: run, SCHEMATHESIS: run}, [caught, late], 400)
    assert judged.caught(VERIFY) == 100 / (50 + 400)
    assert judged.caught(SCHEMATHESIS) == 100 / (400 + 100)
    assert judged.costs() == {WHOLE_RUN: [1.0], BY_SOCKET: [1.0]}
    assert judged.rows()[1][1:5] == ["300", "150", "300", "2.0"]


def test_the_target_file_of_a_served_mock_can_be_read(tmp_path):
    path = tmp_path / "target.toml"
    path.write_text(target_file("http://127.0.0.1:9"))
    target = load_target(path, {})
    assert target.base_url == "http://127.0.0.1:9/v3"
    assert target.credentials == TARGET.credentials
    assert target.budget.token > 100_000


@pytest.mark.parametrize("work", [*workloads(), *our_grants()], ids=lambda work: work.name)
def test_each_request_has_an_id_of_its_own_but_for_the_row_that_says_so(work: Workload) -> None:
    assert ("X-Request-Id" in work.script("/v3")) != work.has_same_bytes
