"""The plugin, as a client's test suite uses it."""

import re
import socket
from typing import Any

import pytest
from tests.house.documentation import blocks

from understudy.errors import StartupError
from understudy.testing.world import MockWorld, stub_body

pytest_plugins = ["pytester"]
measured = pytest.mark.usefixtures("measured_children")


@pytest.fixture(autouse=True)
def _without_other_plugins(pytester: pytest.Pytester) -> None:
    """Leaves out other plugins, which take half of the time that starting pytest takes."""
    pytester.makeini("[pytest]\naddopts = -p no:schemathesis -p no:hypothesispytest")


MANY = """
import httpx
import pytest

client = httpx.Client(timeout=120)

@pytest.mark.parametrize("n", range(64))
def test_each_world_is_its_own(understudy_world, n):
    world = understudy_world
    token = world.token("ada")
    headers = {"Authorization": f"Bearer {token}"}
    if n % 4 == 0:
        world.freeze(f"20{n + 10}-01-01T00:00:00Z")
    if n % 3 == 0:
        world.fault("getProfile", status=503)
    changed = client.patch(f"{world.base_url}/me/profile", json={"location": f"n{n}"}, headers=headers)
    assert changed.json()["location"] == f"n{n}"
    if n % 4 == 0:
        assert changed.json()["last_profile_edit"] == f"20{n + 10}-01-01T00:00:00Z"
    found = client.get(f"{world.base_url}/profiles/ada")
    assert found.status_code == (503 if n % 3 == 0 else 200)
    assert [call["operation"] for call in world.calls()] == ["updateOwnProfile", "getProfile"]
"""

ALL_OF_IT = """
from datetime import timedelta

import httpx
import pytest

client = httpx.Client(timeout=120)

@pytest.mark.understudy(people=["ada"], seed=3, freeze="2026-01-01T00:00:00Z")
@pytest.mark.understudy_fault("getProfile", status=503, times=1)
def test_markers(understudy_world):
    world = understudy_world
    assert [person["slug"] for person in world.people] == ["ada"]
    assert world.now().isoformat() == "2026-01-01T00:00:00+00:00"
    ada = f"{world.base_url}/profiles/ada"
    assert [client.get(ada).status_code for _ in range(2)] == [503, 200]

def test_methods(understudy_world, tmp_path):
    world = understudy_world
    me, ada = f"{world.base_url}/me/profile", f"{world.base_url}/profiles/ada"
    token = world.token("ada", ["auth", "avatar-profile:read"], lasts=timedelta(minutes=5))
    headers = {"Authorization": f"Bearer {token}"}
    world.freeze()
    assert client.get(me, headers=headers).status_code == 200
    world.advance(300)
    assert client.get(me, headers=headers).status_code == 401
    world.limit("anonymous", used=100)
    assert client.get(ada).status_code == 429
    world.choose({"rate-limits": "off"})
    assert client.get(ada).status_code == 200
    down = world.fault(status=500)
    world.lift(down)
    world.snapshot(world.name)
    world.reset()
    assert world.calls() == []
    world.restore(world.name)
    assert client.get(ada, headers=world.header).status_code == 200
    assert len(world.calls("getProfile", status=200)) == 1
    world.export(tmp_path / "world.zip")
    assert (tmp_path / "world.zip").read_bytes().startswith(b"PK")
"""

FAILS = """
import httpx

def test_fails(understudy_world):
    with httpx.Client(timeout=120) as client:
        client.get(f"{understudy_world.base_url}/profiles/nobody?x=1")
    assert understudy_world.name == "x"
"""


@measured
def test_worlds_markers_and_methods(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ALL_OF_IT)
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=2)


def test_many_tests_share_one_mock_in_parallel_and_do_not_meet(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MANY)
    result = pytester.runpytest_subprocess("-q", "-n", "2", "--understudy-exercised", "5")
    result.assert_outcomes(passed=64)
    result.stdout.fnmatch_lines(["*exercised parts of the contract*", "getProfile: never *"])


STUBBED = """
import httpx
import pytest

from understudy.errors import StartupError

@pytest.mark.understudy_stub("getProfile", merge={"location": "Elsewhere"}, path={"profileIdentifier": "ada"})
def test_stubs(understudy_world):
    world = understudy_world
    with httpx.Client(base_url=world.base_url, timeout=120) as client:
        assert client.get("/profiles/ada").json()["location"] == "Elsewhere"
        stub = world.stub("getProfile", status=404, person="ben", times=1)
        assert client.get("/profiles/ada").status_code == 200
        [line] = world.unused_stubs()
        assert line.endswith("in the nearest, request 2, person is missing, not 'ben'.")
        world.unstub(stub)
        world.unstub()
        assert client.get("/profiles/ada").json()["location"] != "Elsewhere"
    with pytest.raises(StartupError, match="/response/body/display_name"):
        world.stub("getProfile", body={"display_name": 7})
    with pytest.raises(StartupError, match="no webhook and no callback 'changed'"):
        world.send_webhook("changed", "http://127.0.0.1:9")

@pytest.mark.understudy_stub("getProfile", status=404, header={"x-case": "7"})
def test_that_fails(understudy_world):
    assert understudy_world.name == "x"
"""


def test_the_tests_of_the_page_on_stubs_pass(pytester: pytest.Pytester) -> None:
    (page,) = (it for it in blocks("docs/how-to/stubs.md") if it.language == "python")
    pytester.makepyfile(page.text)
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=2)


@measured
def test_stubs_answer_and_one_that_is_not_used_is_named_where_a_test_fails(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(STUBBED)
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*The stub stub-1 answered no request of getProfile; there was none."]
    )


@measured
def test_the_journal_stands_in_the_report_of_a_test_that_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FAILS)
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*understudy: world w1*",
            "*404  GET    /v3/profiles/nobody?x=1  -",
            "*There is no profile for 'nobody'*",
            "*query parameters not in the document: x",
        ]
    )


@measured
def test_less_of_the_contract_than_wanted_fails_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ALL_OF_IT)
    result = pytester.runpytest_subprocess("-q", "--understudy-exercised", "90")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert re.search(r"\d+ of \d+ parts, \d+%; 90% are required", result.stdout.str())
    result.stdout.re_match_lines([r"Failed: \d+\.\d% is less than 90%\."])


@measured
def test_a_mock_that_runs_already_is_used(pytester: pytest.Pytester, serve) -> None:
    running = serve("--log", "off")
    site = running.base_url.removesuffix("/v3")
    pytester.makepyfile(
        f"def test_url(understudy_world): assert understudy_world.base_url.startswith({site!r})"
    )
    pytester.runpytest_subprocess("-q", f"--understudy-url={site}").assert_outcomes(passed=1)


def test_a_mock_that_is_not_there_is_said_with_the_remedy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_any(understudy_world): pass")
    result = pytester.runpytest_subprocess("-q", "--understudy-url=http://127.0.0.1:9")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*start one with `understudy serve`*"])


def test_fixtures_that_cannot_be_used_are_said_at_once(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_any(understudy_world): pass")
    result = pytester.runpytest_subprocess("-n0", "--understudy-fixtures", "absent")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*absent is not a directory; *"])
    assert "Traceback" not in result.stdout.str()


def test_a_misspelt_option_of_a_marker_is_said_without_a_traceback(pytester: pytest.Pytester):
    pytester.makepyfile(
        "import pytest\n"
        "@pytest.mark.understudy(peple=['ada'])\n"
        "def test_any(understudy_world): pass"
    )
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["test_any: *peple*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*world.py*")
    result.stdout.no_fnmatch_line("*another exception occurred*")


def test_a_misspelt_marker_fails_its_test_and_one_of_the_project_does_not(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeini("[pytest]\nmarkers =\n  understudy_slow: takes long")
    pytester.makepyfile(
        "import pytest\n"
        "@pytest.mark.understudy_faults('getProfile', status=503)\n"
        "def test_misspelt(understudy_world): pass\n"
        "@pytest.mark.understudy_slow\n"
        "def test_own(understudy_world): pass"
    )
    result = pytester.runpytest_subprocess("-q", "-n0")
    result.assert_outcomes(errors=1, passed=1)
    told = "test_misspelt: there is no marker 'understudy_faults'; did you mean 'understudy_fault'?"
    result.stdout.fnmatch_lines([told])


def test_what_is_no_span_of_time_and_no_list_of_scopes_is_refused(serve) -> None:
    address = serve("--log", "off").base_url.removesuffix("/v3")
    with MockWorld(address) as typed:
        world: Any = typed  # as a test without annotations has it
        with pytest.raises(StartupError, match="'2 weeks' is not a span of time; write timedelta"):
            world.advance("2 weeks")
        with pytest.raises(StartupError, match="'7 days, 0:00' is not a span of time"):
            world.token("ada", lasts="7 days, 0:00")
        with pytest.raises(StartupError, match='scopes: "auth" is not of type "array"'):
            world.token("ada", "auth")
        assert world.token("ada", lasts=60)


def test_a_misspelt_member_of_a_stub_is_said_with_the_one_that_was_meant() -> None:
    with pytest.raises(StartupError, match=r"has no 'mrege'; did you mean 'merge'"):
        stub_body("getProfile", mrege={"location": "Elsewhere"})


@pytest.mark.parametrize("by_option", [True, False])
def test_a_mock_that_asks_for_a_token_gets_it(
    pytester: pytest.Pytester, serve, monkeypatch: pytest.MonkeyPatch, *, by_option: bool
) -> None:
    running = serve("--log", "off", "--admin-token", "open-sesame", "--host", "0.0.0.0")
    port = running.base_url.rpartition(":")[2].removesuffix("/v3")
    url = f"http://{socket.gethostbyname(socket.gethostname())}:{port}"
    pytester.makepyfile(
        "def test_world(understudy_world): assert understudy_world.now().year >= 2026"
    )
    options = [f"--understudy-url={url}"]
    if by_option:
        options.append("--understudy-admin-token=open-sesame")
    else:
        monkeypatch.setenv("UNDERSTUDY_ADMIN_TOKEN", "open-sesame")
    pytester.runpytest_subprocess("-q", *options).assert_outcomes(passed=1)


def test_a_run_that_asks_for_no_mock_starts_none(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys, threading\n"
        "def test_nothing():\n"
        "    assert 'understudy.mock.app' not in sys.modules and 'httpx' not in sys.modules\n"
        "    assert not any(t.name == 'understudy' for t in threading.enumerate())"
    )
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_the_mock_may_be_of_another_services_document(pytester: pytest.Pytester) -> None:
    paths = "{/berths: {get: {responses: {'200': {description: All.}}}}}"
    document = f"{{openapi: 3.0.3, info: {{title: A, version: '1'}}, paths: {paths}}}"
    pytester.path.joinpath("berths.yaml").write_text(document)
    pytester.makepyfile("""
        import httpx


        def test_berths(understudy_world):
            assert httpx.get(f"{understudy_world.base_url}/berths").status_code == 200
    """)
    result = pytester.runpytest_subprocess("-n0", "--understudy-document", "berths.yaml")
    result.assert_outcomes(passed=1)
