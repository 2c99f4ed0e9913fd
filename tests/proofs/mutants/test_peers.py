"""What contract tests from npm are given, and how what they say is read; they run on demand."""

import json

import pytest
from tests import patient
from tests.proofs.mutants.edge import MUTANTS
from tests.proofs.mutants.generated import avatars
from tests.proofs.mutants.listening import listening
from tests.proofs.mutants.peers import TOOLS, NotRun, Verdict, exemplified
from tests.proofs.mutants.verifying import deployed
from tests.tools.benchmarks.plain import plain_document

from understudy.openapi.bundled import openapi_directory

DREDD = """pass: GET (200) /profiles/ada duration: 39ms
fail: GET (404) /profiles/ada duration: 37ms
fail: body: At '/error' Missing required property: error
complete: 1 passing, 1 failing, 0 errors, 0 skipped, 2 total
"""
REPORT = """<testsuite><testcase name="a"><system-out>Scenario: GET /a -> 200</system-out></testcase>
<testcase name="b"><failure/><system-out>x > Scenario: GET /b -> 200
</system-out></testcase></testsuite>"""


@pytest.fixture
def parameters(tmp_path):
    def of(*, is_named):
        path = plain_document(openapi_directory() / "service.yaml", tmp_path / "plain.json")
        exemplified(path, ["first", "last"], is_named=is_named)
        return {
            (operation["operationId"], parameter["name"]): parameter
            for item in json.loads(path.read_text())["paths"].values()
            for operation in item.values()
            for parameter in operation["parameters"]
        }

    return of


def test_a_tool_is_told_of_a_person_and_avatars_that_exist(parameters):
    found = parameters(is_named=False)
    assert found["getProfile", "profileIdentifier"]["example"] == "ada"
    assert found["deleteAvatar", "imageHash"]["example"] == "first"
    assert found["updateAvatar", "imageHash"]["example"] == "last"
    assert [key for key, parameter in found.items() if "examples" in parameter] == []


def test_a_tool_may_be_told_by_the_names_of_the_answers_examples(parameters):
    found = parameters(is_named=True)
    assert set(found["getProfile", "profileIdentifier"]["examples"]) == {"public", "full"}


def test_failed_tests_are_read_from_what_a_tool_says(tmp_path):
    assert TOOLS["dredd"].failures(DREDD, tmp_path) == {"GET (404) /profiles/ada"}
    (tmp_path / "report.xml").write_text(REPORT)
    assert TOOLS["specmatic"].failures("Tests run: 2", tmp_path) == {"GET /b -> 200"}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_that_gave_up_has_not_passed(tool, tmp_path):
    with pytest.raises(NotRun, match="no such file"):
        TOOLS[tool].failures("no such file", tmp_path)


def test_a_verdict_is_one_line():
    assert str(Verdict("a", ("x", "y", "z"))) == "a: x and 2 more"
    assert str(Verdict("a")) == "a: not caught"
    assert str(Verdict("a", crashed="gave up")) == "a: NOT RUN: gave up"


def test_a_mutant_is_as_broken_on_a_socket():
    mutant = next(m for m in MUTANTS if m.name == "profile without display_name")
    for broken in (None, mutant):
        with deployed(broken) as wire, listening(wire) as url:
            answer = patient.get(f"{url}/profiles/ada?source=a%20b")
        assert answer.json()["hash"].startswith("b5fc85")
        assert ("display_name" in answer.json()) == (broken is None)


def test_the_example_of_an_avatar_does_not_come_from_a_mutant_that_lies():
    with deployed(next(m for m in MUTANTS if m.name == "listed avatars without image_id")):
        assert len(set(avatars())) > 1
