import json
import re
import sys

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from understudy.cli import main
from understudy.mock.fixtures.loading import load
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import PEOPLE
from understudy.openapi.bundled import fixtures_directory

MIRA = "slug: mira\nabout: '[red]Nothing[/red] special.'\nemails: [{email: mira@example.com}]\n"


@pytest.fixture
def base(tmp_path):
    (tmp_path / "base/people").mkdir(parents=True)
    (tmp_path / "base/people/mira.yaml").write_text(MIRA)
    return tmp_path / "base"


def run(*arguments, columns=120):
    words = ["fixtures", *map(str, arguments)]
    return CliRunner().invoke(main, words, env={"COLUMNS": str(columns)})


def test_json_has_the_promised_members_and_no_others():
    said = json.loads(run("--list", "--json").stdout)
    people = {slug: person for person in said["people"] for slug in [person["slug"]]}
    assert list(said) == ["people", "tokens", "applications"]
    ada = {"slug", "display_name", "emails", "about", "username", "password"}
    assert set(people["ada"]) == ada
    assert set(people["tova"]) == ada | {"application_password"}
    token = {"token", "person", "kind", "scopes", "state"}
    assert {frozenset(each) - {"expires"} for each in said["tokens"]} == {frozenset(token)}
    expiring = {each["token"] for each in said["tokens"] if "expires" in each}
    assert expiring == {"ada-expired"}
    assert {frozenset(application) for application in said["applications"]} == {
        frozenset({"client_id", "client_secret", "redirect_uris", "owner", "about"})
    }


def test_json_names_every_address_with_its_hash_and_the_primary_one():
    said = json.loads(run("--json").stdout)
    ada = next(person for person in said["people"] if person["slug"] == "ada")
    addresses = ["ada@example.com", "ada.merrowdale@example.org"]
    assert ada["emails"] == [
        {"email": address, "hash": email_hash(address), "primary": address == addresses[0]}
        for address in addresses
    ]


def test_json_says_which_tokens_count():
    tokens = {token["token"]: token for token in json.loads(run("--json").stdout)["tokens"]}
    assert tokens["ada-api-key"] == {
        "token": "ada-api-key",
        "person": "ada",
        "kind": "api_key",
        "scopes": [],
        "state": "valid",
    }
    assert [name for name, token in tokens.items() if token["state"] == "expired"] == [
        "ada-expired"
    ]


def test_a_listing_is_what_one_gets_without_asking():
    assert run().stdout == run("--list").stdout != ""


@pytest.mark.parametrize("columns", [80, 120])
def test_the_tables_name_everybody_and_fit(columns):
    shown = run(columns=columns).stdout
    said = json.loads(run("--json").stdout)
    names = [person["slug"] for person in said["people"]]
    names += [token["token"] for token in said["tokens"]]
    names += [application["client_secret"] for application in said["applications"]]
    assert [name for name in names if not re.search(rf"^ +{name} ", shown, re.MULTILINE)] == []
    assert max(map(cell_len, shown.splitlines())) <= columns


def test_what_goes_into_a_pipe_has_no_colours():
    assert "\x1b" not in run().stdout


def test_another_set_is_shown_as_it_is_written(base):
    shown = run("--fixtures", base).stdout
    assert "[red]Nothing[/red] special." in shown
    assert "ada" not in shown


def test_the_table_of_many_people_stops_and_says_so(base):
    lines = [
        f'{{"slug":"p-{n}","about":"","emails":[{{"email":"p{n}@example.net"}}]}}'
        for n in range(1300)
    ]
    (base / "people/many.jsonl").write_text("\n".join(lines))
    shown = run("--fixtures", base).stdout
    assert "and 1,101 more; --json shows them all" in shown
    assert "p-1299" not in shown


def test_making_people_writes_a_whole_set_and_says_what_is_next(tmp_path):
    made = run("--people", 300, "--seed", 7, "--out", tmp_path / "my set")
    assert made.stdout == (
        f"300 people were invented into {tmp_path}/my set, beside those of"
        f" {fixtures_directory()}.\nNext: understudy serve --fixtures '{tmp_path}/my set'\n"
    )
    bundled, written = load(fixtures_directory()), load(tmp_path / "my set")
    assert {name: len(records) for name, records in bundled.items()}["people"] + 300 == len(
        written[PEOPLE.name]
    )
    assert all(set(bundled[name]) <= set(written[name]) for name in bundled)


def test_the_same_seed_makes_the_same_bytes(tmp_path):
    for out, seed in [("a", 7), ("b", 7), ("c", 8)]:
        assert run("--people", 50, "--seed", seed, "--out", tmp_path / out).exit_code == 0
    made = {out: next((tmp_path / out).glob("people/*.jsonl")).read_bytes() for out in "abc"}
    assert made["a"] == made["b"] != made["c"]


def test_people_can_be_made_upon_people_that_were_made(base, tmp_path):
    for seed, start, out in [(1, base, "one"), (2, tmp_path / "one", "two")]:
        run("--fixtures", start, "--people", 40, "--seed", seed, "--out", tmp_path / out)
    assert len(load(tmp_path / "two")[PEOPLE.name]) == 81


REFUSALS = {
    "people without out": (["--people", "3"], "--people needs a new directory; add --out DIR"),
    "out without people": (["--out", "x"], "--out needs --people N or --nasty"),
    "nasty without out": (["--nasty"], "--nasty needs a new directory; add --out DIR"),
    "nobody": (["--people", "0", "--out", "x"], "0 is not a whole number of 1 or more"),
    "no number": (["--people", "many", "--out", "x"], "'many' is not a whole number of 1 or more"),
    "seed": (["--seed", "-1"], "-1 is not a whole number of 0 or more"),
    "list and out": (["--list", "--people", "3", "--out", "x"], "use one of them"),
    "json and out": (["--json", "--people", "3", "--out", "x"], "use one of them"),
    "no set": (["--fixtures", "nowhere"], "nowhere is not a directory; give --fixtures"),
}


@pytest.mark.parametrize(("arguments", "said"), REFUSALS.values(), ids=REFUSALS)
def test_what_cannot_be_done_is_said_and_ends_with_2(arguments, said):
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert refused.stdout == ""


def test_a_directory_that_holds_something_is_never_written_over(base):
    refused = run("--people", 3, "--out", base)
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"Error (exit code 2): {base} already exists; give --out a new directory, or an empty one.\n"
    )
    assert [path.name for path in base.rglob("*.*")] == ["mira.yaml"]


def test_a_file_is_never_written_over(base):
    refused = run("--people", 3, "--out", base / "people/mira.yaml")
    assert "already exists" in refused.stderr


def test_a_set_is_not_copied_into_itself(base):
    refused = run("--fixtures", base, "--people", 3, "--out", base / "more")
    assert refused.exit_code == 2
    assert "is inside" in refused.stderr
    assert not (base / "more").exists()


def test_a_place_that_cannot_be_written_is_one_line(base):
    refused = run("--people", 3, "--out", base / "people/mira.yaml/out")
    assert refused.exit_code == 2
    assert refused.stderr.endswith(
        "out cannot be written (Not a directory); name a directory that can be.\n"
    )


def test_a_broken_fixture_is_one_line(base):
    (base / "people/mira.yaml").write_text(f"{MIRA}pasword: x\n")
    refused = run("--fixtures", base)
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"Error (exit code 2): {base}/people/mira.yaml: there is no key 'pasword'; did you mean 'password'?\n"
    )


def test_json_waits_neither_for_faker_nor_for_rich(monkeypatch):
    for name in ("faker", "rich", "rich.console", "understudy.mock.fixtures.invented_people"):
        monkeypatch.setitem(sys.modules, name, None)
    assert run("--json").exit_code == 0
