"""``understudy verify --init``: what it asks, what it writes, and that the file can be used."""

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from understudy.cli import main
from understudy.cli.init_target import QUESTIONS
from understudy.verify.target import Target, target_of

EVERYTHING = [
    *("https://staging.example/v3", "https://accounts.staging.example", "published", "own"),
    *("env:STAGING_TOKEN", "plain-token", "env:STAGING_OTHER", ""),
    *("3101", "env:STAGING_SECRET", "https://app.example/callback", "mia", "env:STAGING_PASSWORD"),
    *("mia", "mia@example.com, mia.work@example.com", "bea"),
    *("y", "n", "y", "20", "n"),
    *("50", ""),
]


@pytest.fixture
def init(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def init(*answers: str, name: str = "new.toml", more=(), **environment: str):
        typed = "".join(f"{answer}\n" for answer in answers)
        command = ["verify", "--init", "--target", name, *more]
        return CliRunner().invoke(main, command, input=typed, env=environment)

    return init


def test_what_was_answered_is_what_the_file_says(init):
    done = init(*EVERYTHING)
    assert done.exit_code == 0, done.output
    said = tomllib.loads(Path("new.toml").read_text())
    assert said == {
        "base_url": "https://staging.example/v3",
        "auth_url": "https://accounts.staging.example",
        "document": "published",
        "mode": "own",
        "credentials": {
            "access_token": "env:STAGING_TOKEN",
            "read_only_token": "plain-token",
            "other_access_token": "env:STAGING_OTHER",
        },
        "application": {
            "client_id": "3101",
            "client_secret": "env:STAGING_SECRET",
            "redirect_uri": "https://app.example/callback",
            "username": "mia",
            "password": "env:STAGING_PASSWORD",
        },
        "known": {
            "slug": "mia",
            "emails": ["mia@example.com", "mia.work@example.com"],
            "other_slug": "bea",
        },
        "permit": {
            "uploads": True,
            "fill_account": False,
            "long_texts": False,
            "tokens": True,
            "max_tokens": 20,
            "exhaust_rate_limit": False,
            "clock": False,
        },
        "budget": {"anonymous": 50, "token": 1000},
        "other_application": {},
        "two_step": {},
        "login": {},
        "other_login": {},
        "reader_login": {},
    }


def test_return_alone_makes_a_file_that_can_be_used(init):
    done = init(*[""] * 20)
    assert done.exit_code == 0, done.output
    planned = CliRunner().invoke(main, ["verify", "--target", "new.toml", "--plan"])
    assert "mode own" in planned.output
    assert "requests to http://127.0.0.1:8080/v3" in planned.output


def test_what_was_left_out_can_be_filled_in_by_taking_a_mark_away(init):
    init(*[""] * 20)
    lines = Path("new.toml").read_text().splitlines()
    text = "\n".join(line.removeprefix("# ") for line in lines).replace("…", "secret")
    environment = dict.fromkeys(re.findall(r"env:(\w+)", text), "secret")
    target = target_of(tomllib.loads(text), environment, "new.toml")
    assert target.known.emails == ("primary@example.com", "second@example.com")
    assert None not in {target.credentials.api_key, target.application.client_secret}


def test_every_key_that_is_asked_for_is_one_of_a_target():
    kinds = {"": Target} | {name: Target.__annotations__[name] for name in ("credentials",)}
    for section in QUESTIONS:
        kind = kinds.get(section.table) or Target.__annotations__[section.table]
        assert set(section.keys) <= set(kind.__struct_fields__)


def test_the_template_has_every_key_of_a_target():
    done = CliRunner().invoke(main, ["verify", "--template"])
    assert done.exit_code == 0
    text = "\n".join(line.removeprefix("# ") for line in done.output.splitlines())
    content = tomllib.loads(text)
    assert set(content) == set(Target.__struct_fields__) - {"variables"}
    for table, value in content.items():
        if isinstance(value, dict):
            assert set(value) == set(Target.__annotations__[table].__struct_fields__), table
    assert tomllib.loads(done.output)["base_url"] == "http://127.0.0.1:8080/v3"


def test_what_makes_no_sense_is_asked_again_with_the_reason(init):
    done = init("staging", "https://staging.example/v3", "", "", "everything", "", *[""] * 20)
    assert "'staging' is not a URL; write it as https://host/path" in done.output
    assert "'everything' is not a mode; write observe, own or full." in done.output
    assert 'mode = "observe"' in Path("new.toml").read_text()


def test_what_does_not_apply_is_not_asked(init):
    done = init("https://staging.example/v3", *[""] * 20)
    for question in (
        "Client ID",
        "Upload avatars",
        "Request authorization codes",
        "Move the clock",
    ):
        assert question not in done.output


def test_a_secret_is_better_in_the_environment(init):
    done = init(*EVERYTHING, STAGING_TOKEN="there")
    assert "(such as env:STAGING_TOKEN)" in done.output
    assert "The secret will be in the file" in done.output
    assert "export STAGING_OTHER=… STAGING_SECRET=… STAGING_PASSWORD=…\n" in done.output
    assert "understudy verify --target new.toml --plan" in done.output


def test_nothing_is_written_over_unless_one_says_so(init):
    Path("new.toml").write_text("mine")
    kept = init("n")
    assert kept.exit_code == 2
    assert "new.toml stays as it is" in kept.output
    assert Path("new.toml").read_text() == "mine"
    assert init("y", *[""] * 20).exit_code == 0
    assert "mine" not in Path("new.toml").read_text()


def test_nothing_is_written_where_nobody_answers_to_the_end(init):
    assert init("https://staging.example/v3").exit_code == 2
    assert not Path("new.toml").exists()


def test_a_file_that_cannot_be_written_is_noticed_before_the_first_question(init):
    Path("file").write_text("")
    done = init(name="file/new.toml")
    assert done.exit_code == 2
    assert "--target: file/new.toml cannot be written" in done.output
    assert "Address" not in done.output


def test_the_document_is_named_as_it_is_seen_from_the_target_file(init):
    Path("berths.yaml").write_text(
        "{openapi: 3.0.3, info: {title: Berths, version: '1'}, servers: [{url: /port}], paths: {}}"
    )
    Path("ci").mkdir()
    done = init("", "", "env:KEY", "", name="ci/new.toml", more=("--document", "berths.yaml"))
    assert done.exit_code == 0, done.output
    assert tomllib.loads(Path("ci/new.toml").read_text())["document"] == "../berths.yaml"


def test_another_service_is_asked_for_what_its_document_needs(init):
    Path("berths.yaml").write_text(
        "{openapi: 3.0.3, info: {title: Berths, version: '1'}, servers: [{url: /port}], paths: {}}"
    )
    done = init("", "", "env:KEY", "", more=("--document", "berths.yaml"))
    assert done.exit_code == 0, done.output
    text = Path("new.toml").read_text()
    assert tomllib.loads(text) == {
        "base_url": "http://127.0.0.1:8080/port",
        "document": "berths.yaml",
        "mode": "full",
        "credentials": {"access_token": "env:KEY"},
        **{table: {} for table in ("login", "other_login", "reader_login")},
    }
    assert [it for it in ("slug", "Slug", "uploads", "authorization") if it in done.output] == []
