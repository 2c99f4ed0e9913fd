"""Facts files are strict, and name the switches that make the mock behave so."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from understudy.errors import StartupError
from understudy.interface.facts import (
    OTHERWISE,
    Fact,
    Facts,
    Unsettled,
    choices_of,
    facts_text,
    load_facts,
)
from understudy.interface.rules import load_rules
from understudy.openapi.bundled import openapi_directory
from understudy.terminal import printable

RULES = load_rules(openapi_directory() / "rules.yaml")
DAY = "2026-11-22"
FACTS = Facts(
    deployment="https://staging.example/v3",
    learnt=DAY,
    requests=7,
    facts=(
        Fact(
            "avatar-delete-status",
            "200",
            ("curl -i -X DELETE … # as owner: 200",),
            2,
            DAY,
            sure="seen twice",
        ),
        Fact("upload-square", OTHERWISE, (), 1, DAY, "status 201"),
        Fact("avatar-email-status", OTHERWISE, (), 1, DAY, "status 202"),
        Fact("select-avatar", "as assumed", (), 4, DAY),
        Fact("error-unknown-avatar", "410 gone", (), 3, DAY),
        Fact("qr-size-bounds", "1024", ("curl -i … # as anonymous: 400",), 2, DAY),
    ),
    unsettled=(Unsettled("guessing-slowed", "not permitted"),),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "staging.facts.yaml"


def test_a_file_is_read_as_it_was_written(path: Path) -> None:
    path.write_text(facts_text(FACTS), encoding="utf-8")
    assert load_facts(path, RULES) == FACTS


def test_what_a_deployment_says_reorders_no_line_of_the_file(path: Path) -> None:
    hostile = replace(FACTS, unsettled=(Unsettled("guessing-slowed", "it says \u202e\x9b2J"),))
    path.write_text(facts_text(hostile), encoding="utf-8")
    assert printable(path.read_text("utf-8")) == path.read_text("utf-8")
    assert load_facts(path, RULES) == hostile


def test_a_file_of_a_version_that_did_not_say_how_sure_it_was_is_read(path: Path) -> None:
    path.write_text(facts_text(FACTS).replace("  sure: seen twice\n", ""), encoding="utf-8")
    assert [fact.sure for fact in load_facts(path, RULES).facts] == [""] * len(FACTS.facts)


def test_a_fact_chooses_the_option_of_its_switch_and_no_other_fact_chooses() -> None:
    assert choices_of(FACTS, RULES) == {
        "avatar-delete-status": "200",
        "unknown-avatar-error": "410 gone",
        "qr-largest-size": "1024",
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("upload-square", "upload-sqare", "no rule 'upload-sqare'; did you mean 'upload-square'"),
        ("reading: '200'", "reading: '201'", "no reading '201'"),
        ("as assumed", "'200'", "select-avatar has no reading '200'"),
        ("'1024'", "'4096'", "no reading '4096'. It has a number from 512 to 2048, or otherwise"),
        ("410 gone", "500 gone", "no reading '500 gone'. It has 404 or 400 or 403"),
        ("seen: 2", "sean: 2", "no key 'sean'; did you mean 'seen'"),
        ("requests: 7", "requests: many", "requests"),
        ("sure: seen twice", "sure: surely", "Invalid enum value 'surely'"),
    ],
)
def test_what_is_wrong_is_named(path: Path, old: str, new: str, message: str) -> None:
    path.write_text(facts_text(FACTS).replace(old, new), encoding="utf-8")
    with pytest.raises(StartupError, match=message):
        load_facts(path, RULES)


def test_a_missing_file_is_named_with_its_reason(path: Path) -> None:
    with pytest.raises(StartupError, match=r"staging\.facts\.yaml.*No such file"):
        load_facts(path, RULES)
