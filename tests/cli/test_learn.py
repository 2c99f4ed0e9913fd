"""``understudy learn`` writes facts, which serve, verify and rules read."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from understudy.cli import main
from understudy.cli.mock_commands import serve
from understudy.mock.settings import Settings, settings_like

RULES = ("--rules", "profile-private,qr-unknown-hash,own-profile-disabled-404")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "mock.facts.yaml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_facts_are_printed_and_written_with_what_to_do_next(out: Path) -> None:
    done = run("learn", *RULES, "--out", str(out))
    assert done.exit_code == 0, done.output
    assert "profile-private                    403" in done.output
    assert "3 questions settled, 0 of them otherwise than assumed" in done.output
    assert f"understudy serve --facts {out}" in done.output
    assert "reading: picture" in out.read_text()


def test_a_profile_gains_the_facts_and_keeps_what_it_says(out: Path) -> None:
    profile = out.with_name("deployment.yaml")
    profile.write_text("user-info: true\nvocabulary: {upload_field: image}\n")
    for _ in range(2):
        done = run(
            "learn", "--rules", "qr-unknown-hash", "--out", str(out), "--profile", str(profile)
        )
        assert f"understudy serve --like {profile}" in done.output
    settings = settings_like(profile)
    assert (settings.user_info, settings.vocabulary) == (True, profile)
    assert [fact.rule for each in settings.facts for fact in each.facts] == ["qr-unknown-hash"]


def test_a_profile_needs_the_facts_file_that_it_names() -> None:
    assert "--out" in run("learn", "--profile", "deployment.yaml").output


def test_a_plan_names_cost_and_undo_of_each_experiment_and_what_is_not_permitted(
    tmp_path: Path,
) -> None:
    target = tmp_path / "staging.toml"
    target.write_text('base_url = "http://127.0.0.1:1/v3"\n[known]\nslug = "ada"\n')
    rules = "upload-size-limit,qr-size-bounds"
    planned = run("learn", "--plan", "--rules", rules).output
    upload = "upload-size-limit, at most 293 MB; the uploaded avatars are deleted"
    assert f"56 requests  {upload}" in planned
    refused = run("learn", "--plan", "--rules", rules, "--target", str(target)).output
    assert "[credentials] access_token is not given" in refused
    assert "14 requests  qr-size-bounds" in refused
    assert "within the budget, at most 7 to see again what was seen only once" in refused


def test_the_plan_of_a_text_counts_the_trials_of_the_number_of_the_text_before() -> None:
    planned = run("learn", "--plan", "--rules", "display-name-length,description-length").output
    assert "18 requests  display-name-length;" in planned
    assert "20 requests  description-length;" in planned


def test_a_plan_is_not_printed_as_json() -> None:
    assert run("learn", "--plan", "--json").exit_code == 2


def test_an_earlier_file_is_brought_up_to_date_and_its_changes_are_named(out: Path) -> None:
    run("learn", *RULES, "--out", str(out))
    out.write_text(out.read_text().replace("'403'", "'404'"), encoding="utf-8")
    done = run("learn", "--rules", "profile-private", "--out", str(out))
    assert "profile-private was 404, is 403" in done.output
    assert "reading: picture" in out.read_text()


def test_rules_prints_facts_beside_the_status(out: Path) -> None:
    run("learn", *RULES, "--out", str(out))
    lines = run("rules", "--facts", str(out)).output.splitlines()
    assert any(line.split()[:3] == ["qr-unknown-hash", "assumed", "picture"] for line in lines)


def test_a_fact_that_was_seen_once_says_so_in_the_list_of_rules(out: Path) -> None:
    run("learn", *RULES, "--out", str(out))
    out.write_text(out.read_text().replace("seen twice", "seen once"), encoding="utf-8")
    printed = run("rules", "--facts", str(out))
    assert "picture (once)" in printed.output


def test_a_budget_that_ends_before_the_repetition_leaves_a_fact_that_was_seen_once() -> None:
    done = run("learn", "--rules", "qr-unknown-hash", "--max-requests", "1")
    assert "picture (seen once)" in done.output


def test_a_number_that_a_spent_budget_left_untried_says_that_it_is_spent() -> None:
    words = ("--rules", "qr-unknown-hash,display-name-length", "--max-requests", "1")
    done = run("learn", *words)
    assert (
        "display-name-length                the run may send 1 request (--max-requests)"
        in done.output
    )
    assert "understudy learn tries" not in done.output


def test_rules_prints_several_files_side_by_side_and_where_they_differ(out: Path) -> None:
    run("learn", "--rules", "profile-private,qr-unknown-hash", "--out", str(out))
    other = out.with_name("other.yaml")
    text = out.read_text().replace("'403'", "'404'").replace("127.0.0.1:8080", "staging.example")
    other.write_text(text)
    printed = run("rules", "--facts", str(out), "--facts", str(other))
    rows = {line.split()[0]: line.split()[1:4] for line in printed.stdout.splitlines()}
    assert rows["profile-private"] == ["assumed", "403", "404"]
    assert rows["qr-unknown-hash"] == ["assumed", "picture", "picture"]
    line = "profile-private: 403 at http://127.0.0.1:8080/v3, 404 at http://staging.example/v3"
    total, difference = printed.stderr.splitlines()
    assert total.endswith(" inferred.")
    assert difference == f"The facts differ: {line}"


def test_verify_judges_by_facts(out: Path) -> None:
    run("learn", *RULES, "--out", str(out))
    rule = ("verify", "--cases", "0", "--rules", "profile-private", "--facts", str(out))
    assert run(*rule).exit_code == 0
    out.write_text(out.read_text().replace("'403'", "'404'"), encoding="utf-8")
    changed = run(*rule)
    assert changed.exit_code == 1
    assert "404, as learnt on" in changed.output


def test_serve_takes_choices_from_facts_and_before_them_those_of_the_command_line(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: list[Settings] = []
    monkeypatch.setattr("understudy.cli.serve.run", settings.append)
    run("learn", *RULES, "--out", str(out))
    out.write_text(out.read_text().replace("picture", "'404'"), encoding="utf-8")
    choice = ("--choose", "private-profile-lookup=404")
    assert CliRunner().invoke(serve, ["--facts", str(out), *choice]).exit_code == 0
    choices = settings[0].choices
    chosen = (choices["private-profile-lookup"], choices["qr-unknown-hash"])
    assert chosen == ("404", "404")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rules", "qr-png"), "leaves nothing open"),
        (("--rules", "qr-pgn"), "did you mean 'qr-png'"),
        (("--target", "none.toml"), "none.toml cannot be read"),
        (("--out", "."), "--out: . cannot be written"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_sent(
    arguments: tuple[str, ...], message: str
) -> None:
    done = run("learn", *arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_another_service_is_not_asked_what_this_interface_leaves_open(tmp_path: Path) -> None:
    document = tmp_path / "berths.yaml"
    document.write_text("{openapi: 3.0.3, info: {title: Berths, version: '1'}, paths: {}}")
    target = tmp_path / "staging.toml"
    target.write_text(f'base_url = "http://127.0.0.1:1"\ndocument = "{document}"\n')
    for more in ((), ("--plan",)):
        done = run("learn", "--target", str(target), *more)
        assert (done.exit_code, "describes another service" in done.output) == (2, True)
        assert "--rules" not in done.output
