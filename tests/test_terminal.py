"""What others wrote does not steer the terminal that it is printed on."""

import click
import orjson
import pytest
from click.testing import CliRunner

from understudy.cli import main
from understudy.cli.serve import banner
from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.terminal import printable, printable_line

HOSTILE = "a\x1b[2J\x00\x07\x9b31m\u202eb\u2066\x7f\r\ud800\U000e0041"


def steers(text: str) -> bool:
    return any(mark in text for mark in HOSTILE if mark not in "ab[2J31m")


def test_what_would_steer_a_terminal_is_shown_as_an_escape():
    assert printable("\x1b[2J") == "\\u001b[2J"
    assert not steers(printable(HOSTILE))
    assert printable("\U000e0041") == "\\udb40\\udc41"


@pytest.mark.parametrize("text", ["häß 日本 👩‍👧", "a\tb\nc", "نص", "a\u00a0b"])
def test_what_people_write_stays_as_it_is(text):
    assert printable(text) == text


def test_a_line_stays_one_line():
    assert printable_line("a\nb\t\r\nc") == "a\\nb\\t\\nc"


def test_json_stays_the_same_json():
    content = {"a": HOSTILE.replace("\ud800", "")}
    text = orjson.dumps(content, option=orjson.OPT_INDENT_2).decode()
    assert not steers(printable(text))
    assert orjson.loads(printable(text)) == content


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_document_does_not_steer_the_terminal_of_the_linter(tmp_path, options):
    path = tmp_path / "api.yaml"
    path.write_text(
        "openapi: 3.0.3\ninfo: {title: a, version: '1'}\npaths:\n"
        '  "/a\\e[2J\\u202e\\x9b": {get: {"x\\e[8m": 1, responses: {"2\\e00": {description: a}}}}\n'
    )
    done = CliRunner().invoke(main, ["lint", *options, str(path)])
    assert "\\u001b[2J" in done.output
    assert not steers(done.output)


def test_a_document_does_not_steer_the_terminal_that_it_is_served_from(tmp_path):
    path = tmp_path / "api.yaml"
    path.write_text(
        'openapi: 3.0.3\ninfo: {title: "a\\e[2J", version: \'1\'}\nsecurity: [{"k\\e[8m": []}]\n'
        'components: {securitySchemes: {"k\\e[8m": {type: apiKey, in: query, name: "x\\e[8m"}}}\n'
        'paths: {/a: {get: {responses: {"200": {description: a}}, parameters: '
        '[{name: q, in: query, required: true, schema: {type: string, enum: ["\\e[31m"]}}]}}}\n'
    )
    screen = click.unstyle(banner(Mock(Settings(document=path)), "http://m", "http://a"))
    assert "\\u001b[2J" in banner(Mock(Settings(document=path)), "http://m", "http://a")
    assert not steers(screen)


def test_a_message_that_quotes_a_document_does_not_steer_the_terminal(tmp_path):
    path = tmp_path / "a\x1b[2J.yaml"
    done = CliRunner().invoke(main, ["infer", str(path)])
    assert done.exit_code == 2
    assert not steers(done.output)
