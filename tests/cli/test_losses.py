"""Commands say what they could not take from a document, and apply overlays first."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from understudy.cli import main
from understudy.cli.losses import print_losses, print_missing_base
from understudy.cli.serve import _mock
from understudy.mock.app import Mock
from understudy.mock.server.request_context import Addresses
from understudy.mock.settings import Settings
from understudy.openapi.loader import document_of

DOCUMENT = """
openapi: 3.0.3
info: {title: a, version: 1}
paths: {/a: {get: {responses: {200: {description: a}}}}}
"""
OVERLAY = """
overlay: 1.0.0
info: {title: b, version: '1'}
actions:
  - {target: $.info, update: {version: '1'}}
  - {target: $.paths, update: {/b: {get: {responses: {200: {description: b}}}}}}
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    path = tmp_path / "api.yaml"
    path.write_text(DOCUMENT)
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_generate_says_what_it_lost(document: Path) -> None:
    result = run("generate", "--count", "1", "--document", document)
    assert f"{document}: warning: #/info/version: 1 is not a text; read as '1'." in result.stderr


def test_generate_applies_overlays_first(document: Path) -> None:
    overlay = document.with_name("overlay.yaml")
    result = run("generate", "--count", "1", "--document", document, "--overlay", overlay)
    assert "/b" in result.stdout
    assert "is not a text" not in result.stderr


@pytest.mark.parametrize("command", [["infer"], ["lint"], ["generate", "--document"]])
def test_what_is_no_overlay_is_refused(document: Path, command: list[str]) -> None:
    result = run(*command, document, "--overlay", document)
    assert result.exit_code == 2
    assert f"{document} is not an overlay: it has no member `overlay`; write" in result.stderr


@pytest.mark.parametrize("command", ["verify", "generate"])
def test_an_overlay_without_a_document_is_refused(document: Path, command: str) -> None:
    result = run(command, "--overlay", document.with_name("overlay.yaml"))
    assert result.exit_code == 2
    assert "--overlay changes a document of your own; name it with --document." in result.stderr


def test_the_mock_applies_overlays_and_keeps_its_losses(document: Path) -> None:
    mock = Mock(Settings(document=document, overlays=(document.with_name("overlay.yaml"),)))
    assert "/b" in {endpoint.operation.path for endpoint in mock.endpoints}
    assert mock.losses == ()
    assert [it.rule for it in Mock(Settings(document=document)).losses] == ["converted-value"]


def test_a_reload_reads_the_files_that_the_document_refers_to(document: Path) -> None:
    overlay = document.with_name("overlay.yaml")
    item = document.with_name("item.yaml")
    item.write_text("get: {responses: {200: {description: c}}}")
    document.write_text(f"{DOCUMENT.strip()[:-1]}, /c: {{$ref: item.yaml}}}}")
    assert Mock(Settings(document=document, overlays=(overlay,))).files == (document, item, overlay)


def test_the_first_five_losses_are_printed_errors_first(capsys) -> None:
    content = yaml.safe_load(DOCUMENT)
    content["paths"]["/a"]["get"] |= {"tags": list(range(6)), "callbacks": 7}
    document = document_of(content, Path("api.yaml"))
    print_losses(document.path, document.losses)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("api.yaml: error: #/paths/~1a/get/callbacks: 7 is not")
    assert lines[5] == "and 3 more; `understudy lint api.yaml` shows all 8."
    assert len(lines) == 6


def test_a_name_in_a_document_begins_no_line_of_the_output(capsys) -> None:
    content = yaml.safe_load(DOCUMENT)
    response = content["paths"]["/a"]["get"]["responses"][200]
    response["headers"] = {"X-A\r\nError: no such file": {"schema": {"type": "string"}}}
    document = document_of(content, Path("api.yaml"))
    print_losses(document.path, document.losses)
    lines = capsys.readouterr().err.splitlines()
    assert {line.partition(":")[0] for line in lines} == {"api.yaml"}


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("http://a.example", "--base-url http://a.example/api"),
        ("http://a.example/", "--base-url http://a.example/api"),
        ("http://a.example/v2", ""),
    ],
)
def test_an_address_without_the_path_of_the_server_is_noted(capsys, url: str, named: str) -> None:
    content = yaml.safe_load(DOCUMENT) | {"servers": [{"url": "https://b.example/api"}]}
    print_missing_base(document_of(content, Path("api.yaml")), url)
    printed = capsys.readouterr().err
    assert printed.endswith(f"404, name {named}\n") if named else not printed


EXAMPLES = """
openapi: 3.1.0
info: {title: a, version: '1'}
paths:
  /a:
    get:
      responses:
        '200':
          description: a
          content: {application/json: {schema: {type: integer}, examples: {b: {value: x}, c: {value: 1}, d: {value: []}}}}
"""


def test_the_start_counts_examples_that_break_their_schemas_in_one_line(tmp_path: Path, capsys):
    path = tmp_path / "api.yaml"
    path.write_text(EXAMPLES)
    _mock(Settings(document=path), None, Addresses("http://127.0.0.1", "http://127.0.0.1:1"))
    expected = f"{path}: warning: 2 examples break their schemas and are not used; `understudy lint {path}` shows where.\n"
    assert capsys.readouterr().err == expected
