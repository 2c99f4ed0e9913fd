"""Shell completion, as bash asks for it."""

import os
import subprocess

import pytest
from tests.cli.conftest import UNDERSTUDY


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


def test_the_script_for_a_shell_is_printed():
    environment = {**os.environ, "_UNDERSTUDY_COMPLETE": "zsh_source"}
    done = subprocess.run(
        [str(UNDERSTUDY)], env=environment, capture_output=True, text=True, check=True
    )
    assert "compdef _understudy_completion understudy" in done.stdout
