"""One constructor of deployments: a key of the target file means the same to every command."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from understudy.api.bundled_target import TARGET
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions, target_from
from understudy.cli import main
from understudy.errors import StartupError
from understudy.mock.settings import Settings
from understudy.testing.background import Background

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/goods": {
            "get": {"operationId": "listGoods", "responses": {"200": {"description": "All."}}}
        }
    },
}


def written(directory: Path, text: str = "") -> Path:
    """Writes a target file with its document beside it."""
    document = directory / "shop.json"
    document.write_text(json.dumps(DOCUMENT))
    path = directory / "target.toml"
    path.write_text(f'base_url = "http://127.0.0.1:9/v3"\ndocument = "{document}"\n{text}')
    return path


def test_generate_makes_cases_of_the_targets_document(tmp_path: Path):
    words = ["generate", "--target", str(written(tmp_path)), "--format", "jsonl", "--count", "3"]
    done = CliRunner().invoke(main, words)
    assert {json.loads(line)["operation"] for line in done.stdout.splitlines()} == {"listGoods"}


def test_generate_sends_cases_of_the_targets_document(tmp_path: Path):
    path = written(tmp_path)
    mock = Background(Settings(document=tmp_path / "shop.json", log="off"))
    words = ["generate", "--send", "--target", str(path), "--base-url", f"{mock.url}/v3"]
    done = CliRunner().invoke(main, [*words, "--format", "jsonl", "--count", "3"])
    mock.stop()
    assert {json.loads(line)["operation"] for line in done.stdout.splitlines()} == {"listGoods"}


def test_files_of_a_target_file_are_beside_it(tmp_path: Path):
    path = tmp_path / "target.toml"
    path.write_text(
        'base_url = "http://127.0.0.1:9"\ndocument = "published"\noverlays = ["a.yaml", "/b.yaml"]\n'
        'facts = "../c.yaml"\nledger = "valkey://host/0"\nlike = "profiles/d.yaml"\n'
    )
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles/d.yaml").write_text("vocabulary: e.yaml\n")
    target = target_from(DeploymentOptions(path), {})
    assert (target.document, target.ledger) == ("published", "valkey://host/0")
    assert target.overlays == (str(tmp_path / "a.yaml"), "/b.yaml")
    assert target.facts == str(tmp_path / "../c.yaml")
    assert target.vocabulary == str(tmp_path / "profiles/e.yaml")


def test_generate_without_send_fetches_no_document(tmp_path: Path):
    path = tmp_path / "target.toml"
    path.write_text('base_url = "http://127.0.0.1:9/v3"\ndocument = "published"\n')
    done = CliRunner().invoke(main, ["generate", "--target", str(path)])
    assert done.exit_code == 2
    assert "fetched only by --send; name a file with --document" in done.stderr


def test_a_target_file_says_what_is_in_force(tmp_path: Path):
    path = written(tmp_path, f'ledger = "{tmp_path / "shared.ledger"}"\n')
    deployment = open_deployment(DeploymentOptions(path), {})
    assert deployment.document is not None
    assert deployment.document.raw["info"]["title"] == "Shop"
    assert deployment.ledger == tmp_path / "shared.ledger"
    assert deployment.journal == tmp_path / "target.journal"
    assert deployment.time.advance is None


def test_a_clock_that_may_be_moved_pauses_for_hours_and_keeps_no_ledger(tmp_path: Path):
    path = written(tmp_path, "[permit]\nclock = true\n")
    deployment = open_deployment(DeploymentOptions(path), {})
    assert deployment.time.advance is not None
    assert deployment.allowance.pause == timedelta(hours=2)
    assert deployment.ledger is None


def test_a_mocks_clock_is_moved_with_the_admin_token_of_the_environment(tmp_path: Path):
    path = written(tmp_path, "[permit]\nclock = true\n")
    target = target_from(DeploymentOptions(path), {"UNDERSTUDY_ADMIN_TOKEN": "sesame"})
    assert target.credentials.admin_token == "sesame"
    assert target.secrets()["sesame"] == "ADMIN_TOKEN"


def test_an_option_replaces_the_key_of_the_file(tmp_path: Path):
    options = DeploymentOptions(
        written(tmp_path),
        base_url="https://shop.example/v3",
        document=tmp_path / "none.json",
        mode="full",
    )
    target = target_from(options, {})
    assert (target.base_url, target.mode) == ("https://shop.example/v3", "full")
    with pytest.raises(StartupError, match=r"none\.json"):
        open_deployment(options, {})


def test_without_any_option_the_mock_in_this_process_is_meant():
    deployment = open_deployment(DeploymentOptions(max_requests=7), {})
    assert deployment.target == TARGET
    assert deployment.allowance.requests == 7
    assert deployment.journal is None


def test_a_run_by_a_socket_imports_no_mock() -> None:
    program = "import sys, understudy.api.opening; print('understudy.mock.app' in sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "False"


def test_a_file_of_credentials_alone_is_of_the_address_that_is_given(tmp_path):
    path = tmp_path / "target.toml"
    path.write_text('[credentials]\napi_key = "any"\n')
    target = target_from(DeploymentOptions(path, "http://127.0.0.1:8080/v1"), {})
    assert (target.base_url, target.credentials.api_key) == ("http://127.0.0.1:8080/v1", "any")


def test_the_account_of_a_target_is_its_credential_where_a_document_has_basic_alone(tmp_path: Path):
    document = tmp_path / "berths.yaml"
    scheme = "{components: {securitySchemes: {account: {type: http, scheme: basic}}}"
    document.write_text(
        f"{scheme}, openapi: 3.0.3, info: {{title: A, version: '1'}}, paths: {{}}}}"
    )
    target = tmp_path / "staging.toml"
    target.write_text(
        f'base_url = "http://127.0.0.1:1"\ndocument = "{document}"\n'
        '[application]\nusername = "mia"\npassword = "tea"\n'
    )
    opened = open_deployment(DeploymentOptions(target), {})
    opened.close()
    assert opened.target.credentials.access_token == "mia:tea"
    mock = open_deployment(DeploymentOptions(document=document), {})
    mock.close()
    assert mock.target.credentials.access_token == "ada:ada-password"
