"""``understudy verify`` at what is not ours, over real sockets, with a customer's target file."""

import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.conftest import UNDERSTUDY, Running
from tests.proofs.reference import broken
from tests.proofs.reference.proxy import proxied
from tests.proofs.reference.service import Addresses, Options
from tests.proofs.reference.serving import served

from understudy.api import judging
from understudy.cli import main, verify
from understudy.verify.findings import Outcome

pytestmark = pytest.mark.usefixtures("unmeasured")

CUSTOMER = Path(__file__).parents[1] / "proofs" / "reference" / "target.toml"

MOCK = """
base_url = "{site}/v3"
mode = "own"

[credentials]
access_token = "ada-full"
read_only_token = "ada-read-only"
other_access_token = "ben-full"
api_key = "ada-api-key"

[known]
slug = "ada"
emails = ["ada@example.com", "ada.merrowdale@example.org"]
other_slug = "ben"

[permit]
uploads = true
"""


def verified(
    target: Path, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    command = [str(UNDERSTUDY), "verify", "--target", str(target), "--quiet"]
    surroundings = {**os.environ, "CI": "", **(environment or {})}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=surroundings, timeout=240
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def test_a_second_implementation_keeps_the_contract(tmp_path: Path) -> None:
    with served(options=Options(approve="isolde")) as addresses:
        text = CUSTOMER.read_text()
        text = text.replace("http://127.0.0.1:9080/v3", addresses.base_url)
        target = tmp_path / "target.toml"
        target.write_text(text.replace("http://127.0.0.1:9081", addresses.auth_url))
        done = verified(target)
    assert done.returncode == 0, done.stdout
    assert ", 0 failed," in done.stdout


def test_the_mock_behind_a_proxy_keeps_it_too(
    serve: Callable[..., Running], tmp_path: Path
) -> None:
    running = serve("--log", "off")
    with proxied(running.base_url.removesuffix("/v3")) as outside:
        target = tmp_path / "target.toml"
        target.write_text(MOCK.format(site=outside.address))
        done = verified(target, {"SSL_CERT_FILE": str(outside.authority)})
    assert done.returncode == 0, done.stdout


def test_what_was_not_restored_is_followed_by_the_command_that_does_it(
    serve: Callable[..., Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = judging.judge

    def judge_and_lose(*arguments: Any) -> Outcome:
        return replace(judge(*arguments), not_restored=("owner: the profile cannot be read back",))

    monkeypatch.setattr(verify, "judge", judge_and_lose)
    target = tmp_path / "target.toml"
    target.write_text(MOCK.format(site=serve("--log", "off").base_url.removesuffix("/v3")))
    words = ["verify", "--target", str(target), "--rules", "profile-patch-partial", "--quiet"]
    done = CliRunner().invoke(main, words, env={"CI": ""})
    assert done.exit_code == 1
    assert f"`understudy cleanup {tmp_path / 'target.journal'}` restores the rest" in done.output


@pytest.mark.parametrize(
    ("deployment", "words"),
    [
        (broken.down, "Nothing listens"),
        (broken.html, "is a web page"),
        (broken.dropping, "ReadError"),
        (broken.cut_short, "RemoteProtocolError"),
        (broken.garbage, "RemoteProtocolError"),
        (broken.circling, "status 302"),
        (broken.endless, "larger than 8 MiB"),
    ],
)
def test_a_deployment_that_is_none_yields_a_report(
    deployment: Callable[[], AbstractContextManager[Addresses]], words: str, tmp_path: Path
) -> None:
    with deployment() as addresses:
        target = tmp_path / "target.toml"
        target.write_text(MOCK.format(site=addresses.site))
        options = ["--target", str(target), "--quiet", "--max-requests", "60"]
        done = CliRunner().invoke(main, ["verify", *options], env={"CI": ""})
    assert isinstance(done.exception, SystemExit), done.output  # and no other
    assert done.exit_code in {1, 2}, done.output
    assert words in done.output
