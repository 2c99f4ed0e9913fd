"""Follows a page as its reader would: saves its files, applies its patches, runs its commands."""

import gc
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from click.testing import CliRunner
from tests.cli.conftest import Running
from tests.house.documentation import ROOT, Block, blocks, commands, fits

from understudy.cli import main

SECRETS = {
    "STAGING_TOKEN": "ada-full",
    "STAGING_READ_TOKEN": "ada-read-only",
    "STAGING_OTHER_TOKEN": "ben-full",
    "STAGING_API_KEY": "ada-api-key",
    "STAGING_SECRET": "server-app-secret",
    "STAGING_PASSWORD": "ada-password",
}
"""What a reader's environment holds for the deployment of the examples, which is a mock here."""

PATIENCE = 900
"""Seconds that a command may take on a busy machine."""

IN_CI = re.compile(r"make (?!serve)")
"""Commands that CI runs: a reader looks only whether the Makefile has them, and shows no output."""

UNUSED_PLUGINS = ("anyio", "faker", "hypothesispytest", "schemathesis")
"""Plugins of pytest that no page uses, and which make most of its start."""

OF_A_SHELL = re.compile(r"[|&;<>$`~*?(]")
"""What only a shell understands, quoted or not: a line with any of it is left to one."""


class Reader:
    """A reader in a directory of their own, with a mock where the pages have one.

    Args:
        directory: Where files are saved and commands run; the working directory of this process.
        mock: What answers at the usual addresses.
        is_in_process: Whether commands of understudy that need no shell run in this process, which
            has loaded what they need, and not what stands in the directory.
        places: What answers at further addresses of a page.
    """

    def __init__(
        self,
        directory: Path,
        mock: Running,
        *,
        is_in_process: bool = False,
        places: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._directory = directory
        self._is_in_process = is_in_process
        if not (directory / "examples").exists():
            (directory / "examples").symlink_to(ROOT / "examples")
        site = mock.base_url.removesuffix("/v3")
        self._places = {
            "https://accounts.staging.example": mock.auth_url,
            "https://staging.example": site,
            "http://127.0.0.1:8080": site,
            "http://127.0.0.1:8081": mock.auth_url,
            **places,
        }
        self._environment = {
            **{name: text for name, text in os.environ.items() if name != "CI"},
            **SECRETS,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "UNDERSTUDY_URL": site,
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "PYTEST_ADDOPTS": " ".join(f"-pno:{plugin}" for plugin in UNUSED_PLUGINS),
        }

    def follow(self, page: str) -> list[str]:
        """Returns each command whose output is not what the page shows, with what it printed."""
        surprises = []
        for block in blocks(page):
            if block.file_name is not None:
                self._save(block.file_name, block)
            elif block.language == "diff":
                surprises += self._apply(block)
            elif block.language == "console":
                surprises += self._run_all(block)
        return surprises

    def _save(self, name: str, block: Block) -> None:
        path = self._directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._here(block.text))  # whole, so that line numbers are a reader's

    def _apply(self, block: Block) -> list[str]:
        """Applies a patch where its context lies now, whatever its line numbers say."""
        command = ["git", "apply", "-C1", "-"]
        done = subprocess.run(
            command,
            input=block.text,
            cwd=self._directory,
            capture_output=True,
            text=True,
            check=False,
        )
        return [done.stderr] if done.returncode else []

    def _run_all(self, block: Block) -> list[str]:
        surprises = []
        for line, shown in commands(block):
            output, errors = self._outcome(line)
            if not errors and IN_CI.match(line):
                continue
            if errors or not fits(self._here(shown), output):
                surprises.append(f"$ {line}\n{output}{errors}")
        return surprises

    def _outcome(self, line: str) -> tuple[str, str]:
        """Runs a command, and returns its standard output and, where it failed, why."""
        program, *rest = shlex.split(line, comments=True)
        if program == "make" and rest != ["serve"]:
            return "", _missing_targets(rest)
        if [program, *rest[:1]] in (["make", "serve"], ["understudy", "serve"]):
            return self._banner(rest[1:]), ""
        line = self._here(line)
        if self._is_in_process and _is_plain(program, rest, line):
            return self._outcome_in_process(shlex.split(line, comments=True)[1:])
        done = subprocess.run(
            ["bash", "-c", line],
            capture_output=True,
            text=True,
            check=False,
            cwd=self._directory,
            env=self._environment,
            timeout=PATIENCE,
        )
        is_right = done.returncode == 0
        return done.stdout, "" if is_right else f"exit code {done.returncode}\n{done.stderr}"

    def _outcome_in_process(self, arguments: list[str]) -> tuple[str, str]:
        try:
            done = CliRunner().invoke(main, arguments, env={**self._environment, "CI": None})
        finally:
            gc.unfreeze()  # what a command has frozen, as its process would have ended
        is_right = done.exit_code == 0
        failure = f"exit code {done.exit_code}\n{done.stderr}{done.exception!r}"
        return done.stdout, "" if is_right else failure

    def _banner(self, options: list[str]) -> str:
        """Starts a mock as a page says, on free ports, and returns what it prints first."""
        running = Running(self._directory, *options, "--port", "0", "--auth-port", "0")
        running.stop()
        site = running.base_url.removesuffix("/v3")
        usual = {site: "http://127.0.0.1:8080", running.auth_url: "http://127.0.0.1:8081"}
        return self._here(_replaced(running.said(), usual)).partition("\nPeople (")[0]

    def _here(self, text: str) -> str:
        return _replaced(text, self._places)


def _is_plain(program: str, rest: list[str], line: str) -> bool:
    """Tells whether a line is a command of understudy alone, which starts no other program."""
    is_command = program == "understudy" and rest[0] != "exec" and not rest[0].startswith("-")
    return is_command and not OF_A_SHELL.search(line)


def _replaced(text: str, places: dict[str, str]) -> str:
    pattern = "|".join(map(re.escape, places))
    return re.sub(pattern, lambda found: places[found[0]], text)


def _missing_targets(words: list[str]) -> str:
    """Returns which targets the Makefile lacks: CI runs them, and a test of a page only looks."""
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    wanted = [word for word in words if "=" not in word]
    return "\n".join(f"no target {word}" for word in wanted if word not in targets)
