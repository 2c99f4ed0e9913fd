"""What is said when a command is used wrongly: the value, what would be right, the next step."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from understudy.cli import main

TARGET = 'base_url = "http://127.0.0.1:9/v3"\n'


def run(*words: object, **environment: str) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], env={"CI": "", **environment})


PICTURE = next((Path(__file__).parents[2] / "fixtures").rglob("*.png"))

MISTAKES = {
    "an option before its command": (
        ["--port", "80", "serve"],
        "Error (exit code 2): --port stands before the command; write: understudy serve --port\n",
    ),
    "an address for a file": (
        ["serve", "--document", "https://h/openapi.yaml"],
        "'https://h/openapi.yaml' is a URL; download it, and name the file.",
    ),
    "two reports in one file": (
        ["verify", "--report", "json=r", "--report", "html=r"],
        "two reports are written to r; give each a file of its own.",
    ),
    "a file without its option": (
        ["verify", "staging.toml"],
        "verify takes no argument 'staging.toml'; did you mean --target staging.toml?\n",
    ),
    "a word without its option": (
        ["verify", "staging"],
        "verify takes no argument 'staging'; each value stands behind its option.\n",
    ),
    "an address without its option": (
        ["verify", "http://127.0.0.1:9/v3"],
        "did you mean --base-url http://127.0.0.1:9/v3?\n",
    ),
    "a command of another tool": (["mock"], "there is no command 'mock'; did you mean 'serve'?\n"),
    "a header as other tools take it": (
        ["verify", "--header", "Authorization: Bearer x"],
        "No such option '--header'; give credentials in a file for --target, which `verify --init`"
        " writes.\n",
    ),
    "an option of another tool": (
        ["serve", "-p", "4010"],
        "No such option '-p'; did you mean --port?\n",
    ),
    "the first word of an option": (
        ["verify", "--base", "http://127.0.0.1:9"],
        "No such option '--base'; did you mean --base-url?\n",
    ),
    "a value of the command line, and no variable": (
        ["journal", "--mock", "foo"],
        "Invalid value for '--mock': 'foo' is not a URL; write it as https://host/path.",
    ),
    "an option that looks like another one": (
        ["generate", "-o", "cases.sh"],
        "No such option '-o'; did you mean --out?\n",
    ),
    "nobody who approves": (
        ["serve", "--port", "0", "--auth-port", "0", "--auto-approve", "zzz"],
        "--auto-approve zzz: there is no such person; `understudy fixtures` lists people.\n",
    ),
    "a file for the state": (["serve", "--state", __file__], "is a file; name a directory.\n"),
    "an address for a host": (
        ["serve", "--host", "http://127.0.0.1"],
        "'http://127.0.0.1' is not a host; write a name or an address alone, such as 127.0.0.1.\n",
    ),
    "a directory for cases": (
        ["generate", "getProfile", "--out", "/", "--force"],
        "/ is a directory; name a file, such as --out /cases.sh\n",
    ),
    "a path that is not quoted": (
        ["generate", "GET", "/profiles/{profileIdentifier}"],
        "There is no operation 'GET'; write method and path as one word, in quotes",
    ),
    "an argument where there is none": (["plugins", "x"], "plugins takes no argument 'x'.\n"),
    "an argument too many": (["lint", "a", "b"], "'b' is one argument too many; lint takes FILE."),
    "a variable of the shell that is not set": (
        ["verify", "--rules", ""],
        "Invalid value for '--rules': it is empty; give a value, or leave the option out.",
    ),
    "an address with a query": (
        ["serve", "--public-url", "http://h/v3?x=1"],
        "'http://h/v3?x=1' goes on behind its path; leave out ? and #.",
    ),
    "a directory for a document": (
        ["lint", "."],
        "Error (exit code 2): . is a directory; name a file.\n",
    ),
    "a directory for a target": (
        ["verify", "--target", "."],
        "Error (exit code 2): . is a directory; name a file. `understudy verify --init` writes one.\n",
    ),
    "a picture for a document": (
        ["lint", PICTURE],
        ".png is not readable as YAML: it has characters that no text has; name a text file",
    ),
    "a picture for a target": (["verify", "--target", PICTURE], ".png is not text in UTF-8."),
    "a port": (["serve", "--port", "abc"], "'abc' is not a port; use a number from 0 to 65535."),
    "a large port": (["serve", "--auth-port", "70000"], "'70000' is not a port; use a number"),
    "equal ports": (
        ["serve", "--port", "24000", "--auth-port", "24000"],
        "--port and --auth-port are both 24000; give them two ports, or add --single-port.",
    ),
    "equal ports of the demo": (
        ["demo", "--auth-port", "24000", "--staging-port", "24000"],
        "--auth-port and --staging-port are both 24000; give them two ports.",
    ),
    "equal ports of a recording": (
        ["record", "--base-url", "http://127.0.0.1:9/v3", "--port", "8081"],
        "--port and --auth-port are both 8081; give them two ports, or add --single-port.",
    ),
    "no document": (["serve", "--document", "none.yaml"], "none.yaml"),
    "no fixtures": (["serve", "--fixtures", "nowhere"], "nowhere is not a directory"),
    "an address": (["generate", "--base-url", "foo"], "'foo' is not a URL; write it as https://"),
    "two reports in one": (
        ["drift", "--report", "html=a.html,json=a.json"],
        "'html=a.html,json=a.json' names two reports; repeat the option for json=FILE",
    ),
    "a report": (["verify", "--report", "junit"], "'junit' names no file; write junit=FILE"),
    "a report without its format": (
        ["verify", "--report", "report.html"],
        "no report format 'report.html'; did you mean html=report.html?\n",
    ),
    "a format": (
        ["verify", "--report", "junt=a"],
        "there is no report format 'junt'; did you mean",
    ),
    "a rule": (["verify", "--rules", "qr-defalt-size"], "did you mean 'qr-default-size'?\n"),
    "no such rule": (
        ["verify", "--rules", "zzz"],
        "zzz: there is no such rule; `understudy rules`",
    ),
    "an option of serve": (
        ["exec", "--nope", "--", "true"],
        "No such option '--nope'.\nTry 'main exec --help' for help.\n",
    ),
    "an option that is nearly one": (
        ["serve", "--prot", "80"],
        "No such option '--prot'; did you mean --port?\nTry 'main serve --help' for help.\n",
    ),
    "a word that is like no switch": (
        ["serve", "--choose", "nope"],
        "'nope' is not a switch; `understudy rules` lists them.\n",
    ),
    "nothing listens": (
        ["verify", "--base-url", "http://127.0.0.1:9/v3", "--rules", "profile-unknown-404"],
        "Nothing listens at 127.0.0.1:9. Is the deployment up?",
    ),
    "an unknown host": (
        ["verify", "--base-url", "http://staging.invalid/v3", "--rules", "profile-unknown-404"],
        "The host name staging.invalid is unknown here. Check base_url, DNS or VPN.",
    ),
    "an argument": (
        ["lint"],
        "Missing argument 'FILE'; write an OpenAPI document, such as service.yaml.\n"
        "Try 'main lint --help' for help.\n",
    ),
    "a journal": (["cleanup"], "beside its target file, such as staging.journal.\nTry"),
    "no address of a mock": (
        ["journal", "--mock", "localhost"],
        "'localhost' is not a URL; write it as https://host/path.",
    ),
    "a report of nothing": (
        ["generate", "--report", "html=r.html"],
        "--report goes with --send: what was not sent cannot have failed.",
    ),
    "no mock to make handlers from": (
        ["generate", "--format", "msw", "--base-url", "http://127.0.0.1:9/v3"],
        "or name another with --base-url URL.",
    ),
    "a number": (["verify", "--cases", "few"], "'few' is not a whole number of 0 or more"),
    "a number from a range": (["serve", "--workers", "0"], "0 is not a whole number from 1 to 64"),
    "a number above zero": (["verify", "--max-time", "0"], "0.0 is not a number above 0"),
    "a directory": (["serve", "--tls", __file__], "is a file; name a directory"),
    "a directory to export to": (["export"], "write a new directory, such as fixtures.\nTry"),
    "no such command": (["frobnicate"], "there is no command 'frobnicate'.\nTry 'main --help'"),
    "an agent's target": (["mcp", "--target", "no.toml"], "no.toml cannot be read"),
    "no report": (
        ["rules", "--coverage", "no.json"],
        "no.json cannot be read: No such file or directory. `understudy verify --report json=FILE`",
    ),
    "a command": (["serv"], "there is no command 'serv'; did you mean 'serve'?"),
    "one document of two": (
        ["drift", "--documents", "a.yaml"],
        "--documents takes 2 values: --documents OLD NEW\nTry 'understudy drift --help' for help.",
    ),
    "a status": (["journal", "--status", "4"], "write one such as 404, or a class such as 4XX"),
    "a command with --json": (
        ["schema", "verfy"],
        "there is no command 'verfy' with --json; did you mean 'verify'?",
    ),
    "a switch": (
        ["serve", "--choose", "rate-limit=off"],
        "'rate-limit' is not a switch; did you mean 'rate-limits'?\n",
    ),
    "an option of a switch": (
        ["serve", "--choose", "avatar-delete-status=20"],
        "avatar-delete-status has no option '20'; did you mean '204'?\n",
    ),
    "a state": (
        ["serve", "--port", "0", "--auth-port", "0", "--state", "/proc/x"],
        "name a directory that can be",
    ),
    "no undo journal": (["cleanup", "no.journal"], "without one, nothing is to be undone"),
    "no archive": (["verify", "--har", "no.har"], "`understudy journal --har FILE`"),
    "no baseline": (["verify", "--baseline", "no.toml"], "Name a report of `--report json=FILE`"),
    "an id": (["explain", "abc"], "'abc' is not the id of a request; `understudy journal` shows"),
}


@pytest.mark.parametrize(("words", "text"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_said_with_what_would_be_right(words: list[str], text: str):
    refused = run(*words)
    assert refused.exit_code == 2
    assert text in refused.stderr
    assert len(refused.stderr.splitlines()) <= 2


KEYS = {
    '[credentials]\naccess_token = ""': (
        "[credentials] access_token is empty; give a token, or leave the key out."
    ),
    'mode = "write"': 'mode = "write" is not a mode; write observe, own, full.',
    '[budget]\nanonymous = "lots"': '[budget] anonymous = "lots" must be a whole number.',
    "[known]\nslug = 7": "[known] slug = 7 must be a text.",
    '[permit]\nuploads = "yes"': '[permit] uploads = "yes" must be true or false.',
    "auth_url = http://x": 'A text needs quotes: auth_url = "…"',
    'api_key = "k-secret': "at line 2, column 20))",
    'bas_url = "x"': "there is no key 'bas_url'; did you mean 'base_url'?\n",
}


@pytest.mark.parametrize(("text", "says"), KEYS.items())
def test_a_wrong_value_of_a_target_is_said_with_its_key(tmp_path: Path, text: str, says: str):
    path = tmp_path / "target.toml"
    path.write_text(f"{text}\n" if text.startswith("bas_") else f"{TARGET}{text}\n")
    refused = run("verify", "--target", path)
    assert refused.exit_code == 2
    assert refused.stderr.endswith(says if says.endswith("\n") else f"{says}\n")
    assert "secret" not in refused.stderr


def test_a_file_that_is_no_document_is_said_to_be_none(tmp_path: Path):
    path = tmp_path / "notes.yaml"
    path.write_text("a: 1\n")
    refused = run("lint", path)
    assert refused.exit_code == 2
    assert "has no member `openapi` or `swagger`; is this an OpenAPI document?" in refused.stderr


@pytest.mark.parametrize("archive", ["[]", '{"log": []}', '{"log": {"entries": 7}}'])
def test_an_archive_without_its_members_is_refused_in_plain_words(tmp_path: Path, archive: str):
    path = tmp_path / "app.har"
    path.write_text(archive)
    refused = run("verify", "--har", path)
    assert refused.exit_code == 2
    assert "is not an HTTP archive (HAR 1.2). Save one" in refused.stderr


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        (
            "--target",
            "plain words",
            ":1 is not valid TOML. `understudy verify --template` prints",
        ),
        ("--har", "{", "is not an HTTP archive (HAR 1.2). Save one in a browser's"),
        (
            "--facts",
            "",
            "(it is empty; write some of deployment, learnt, requests, facts, unsettled).",
        ),
        ("--baseline", "[1]", "is neither a JSON report of verify nor a TOML file in which each"),
    ],
)
def test_what_to_do_comes_before_the_words_of_a_parser(
    tmp_path: Path, option: str, text: str, said: str
):
    path = tmp_path / "file"
    path.write_text(text)
    refused = run("verify", option, path, "--rules", "qr-default-size")
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_an_empty_report_is_no_baseline(tmp_path: Path):
    path = tmp_path / "last.json"
    path.touch()
    refused = run("verify", "--baseline", path, "--rules", "qr-default-size")
    assert refused.exit_code == 2
    assert f"{path} is not a JSON report of verify; write one with" in refused.stderr


def test_cleaning_up_by_another_file_does_not_ask_to_delete_it(tmp_path: Path):
    path = tmp_path / "staging.toml"
    path.write_text(TARGET)
    refused = run("cleanup", path)
    assert refused.exit_code == 2
    assert "Name the journal of the run, such as staging.journal." in refused.stderr
    assert "delete" not in refused.stderr


def test_a_wrong_variable_is_named_and_not_the_option():
    refused = run("serve", UNDERSTUDY_PORT="abc")
    assert refused.exit_code == 2
    assert "Invalid value for UNDERSTUDY_PORT: 'abc' is not a port" in refused.stderr


def test_a_variable_that_is_neither_true_nor_false_is_told_what_to_be():
    refused = run("serve", UNDERSTUDY_SINGLE_PORT="maybe")
    assert refused.exit_code == 2
    assert "Invalid value for UNDERSTUDY_SINGLE_PORT: 'maybe' is neither 1 nor 0." in refused.stderr


def test_questions_that_are_not_answered_to_the_end_write_nothing(tmp_path: Path):
    path = tmp_path / "target.toml"
    refused = CliRunner().invoke(main, ["verify", "--init", "--target", str(path)], input="\n")
    assert refused.exit_code == 2
    assert f"not answered to the end, so {path} was not written." in refused.stderr
    assert not path.exists()


def test_no_suggestion_ends_with_two_stops():
    sources = Path(__file__).parents[2] / "src"
    doubled = re.compile(r"nearest\([^)]*\)\)?\}\.|\{hint\}\.\"")
    assert [path.name for path in sources.rglob("*.py") if doubled.search(path.read_text())] == []
