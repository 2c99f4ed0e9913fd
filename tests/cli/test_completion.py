"""Shell completion, as bash asks for it."""

import os
import pty
import select
import subprocess

import httpx
import pytest
from tests.cli.conftest import PATIENCE, UNDERSTUDY
from tests.house.documentation import blocks

from understudy.mock.settings import Settings
from understudy.testing.background import Background


def completed(line: str) -> list[str]:
    """Returns what bash is offered for the last word of a line."""
    words = line.split(" ")
    environment = {
        **os.environ,
        "_UNDERSTUDY_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [str(UNDERSTUDY)], env=environment, capture_output=True, text=True, check=True
    )
    return [offer.partition(",")[2] for offer in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("understudy expo", ["export"]),
        ("understudy serve --choose rate-limits=o", ["rate-limits=on", "rate-limits=off"]),
        ("understudy serve --auto-approve ha", ["harbour-choir"]),
        ("understudy generate getP", ["getProfile"]),
        ("understudy journal --person aur", ["aurelia"]),
        ("understudy verify --rules qr-default", ["qr-default-size"]),
        ("understudy verify --rules pkce-honoured,qr-default", ["pkce-honoured,qr-default-size"]),
    ],
)
def test_values_are_completed(line: str, offered: list[str]):
    assert completed(line) == offered


def test_operations_are_those_of_the_document_or_of_the_running_mock(tmp_path):
    document = tmp_path / "berths.yaml"
    paths = "{/berths: {get: {operationId: getBerths, responses: {'200': {description: All.}}}}}"
    document.write_text(f"{{openapi: 3.0.3, info: {{title: A, version: '1'}}, paths: {paths}}}")
    assert completed(f"understudy generate --document {document} getB") == ["getBerths"]
    assert not any(completed(f"understudy generate --document {tmp_path / 'none'} getB"))
    background = Background(Settings(log="off", document=document))
    httpx.get(
        f"{background.url}/__admin/exercised", timeout=PATIENCE
    )  # the first one takes longest
    offered = completed(f"understudy stub --mock {background.url} getB")
    background.stop()
    assert offered == ["getBerths"]


def test_the_script_for_a_shell_is_printed():
    environment = {**os.environ, "_UNDERSTUDY_COMPLETE": "zsh_source"}
    done = subprocess.run(
        [str(UNDERSTUDY)], env=environment, capture_output=True, text=True, check=True
    )
    assert "compdef _understudy_completion understudy" in done.stdout


@pytest.mark.parametrize("block", blocks("docs/how-to/complete-in-a-shell.md"))
def test_a_shell_that_was_set_up_by_the_page_completes(block, tmp_path):
    path = f"{UNDERSTUDY.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": path, "TERM": "dumb"}
    terminal, end = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"], stdin=end, stdout=end, stderr=end, env=environment
    )
    typed = "understudy serve --choose rate-limits=w\t"
    os.write(terminal, f"{block.text}\ntouch ~/.bashrc; . ~/.bashrc\n{typed}".encode())
    shown = b""
    while b"rate-limits=warn" not in shown and select.select([terminal], [], [], 60)[0]:
        shown += os.read(terminal, 4096)
    shell.kill()
    shell.wait()
    assert b"rate-limits=warn" in shown
