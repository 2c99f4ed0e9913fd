"""A runner of GitHub's composite actions, as far as ours needs one: expressions, conditions, files."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from understudy.openapi.yaml_files import read_yaml

_EXPRESSION = re.compile(r"\$\{\{ *(.+?) *\}\}")
_ADDRESS = "https://code.example/artifacts/1"
_OUTPUTS = {"actions/upload-artifact": {"artifact-url": _ADDRESS}}
"""What other actions would put out, by their names."""

_FILES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY")
_SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")


@dataclass
class Ran:
    """What a run of an action left.

    Attributes:
        outputs: The action's outputs.
        environment: The variables that it gives to later steps.
        summary: The job summary.
        log: What its steps printed.
        used: The inputs of each other action that it used, by its name without the version.
        exit_code: The exit code of the step that failed; 0 where none did.
    """

    outputs: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    log: str = ""
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    exit_code: int = 0


class Runner:
    """Runs an action in a directory, with its steps' files and a directory for what is temporary."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._temporary = directory / "temporary"
        self._temporary.mkdir()

    def run(self, action: Path, inputs: dict[str, str], **environment: str) -> Ran:
        """Runs every step whose condition holds; a step that fails skips those without ``always()``."""
        definition: dict[str, Any] = read_yaml(action)
        declared = {name: it.get("default", "") for name, it in definition["inputs"].items()}
        assert set(inputs) <= set(declared)
        values = {
            **{f"inputs.{name}": text for name, text in {**declared, **inputs}.items()},
            "github.action_path": str(action.parent),
            "github.run_id": "7",
            "github.run_attempt": "1",
        }
        ran = Ran()
        for step in definition["runs"]["steps"]:
            if self._is_due(step.get("if", ""), values, ran):
                self._step(step, values, ran, environment)
        outputs = definition["outputs"]
        ran.outputs = {name: _filled(it["value"], values) for name, it in outputs.items()}
        return ran

    def _is_due(self, condition: str, values: dict[str, str], ran: Ran) -> bool:
        terms = [term.strip() for term in condition.split("&&") if term.strip()]
        if ran.exit_code and "always()" not in terms:
            return False
        return all(_holds(term, values) for term in terms if term != "always()")

    def _step(
        self, step: dict[str, Any], values: dict[str, str], ran: Ran, environment: dict[str, str]
    ) -> None:
        if "uses" in step:
            with_ = {name: _filled(text, values) for name, text in step["with"].items()}
            name = step["uses"].partition("@")[0]
            ran.used[name] = with_
            for output, text in _OUTPUTS.get(name, {}).items():
                values[f"steps.{step['id']}.outputs.{output}"] = text
            return
        files = {name: self._temporary / name for name in _FILES}
        for path in files.values():
            path.write_text("")
        own = {name: _filled(text, values) for name, text in step["env"].items()}
        done = subprocess.run(
            [*_SHELL, step["run"]],
            cwd=self._directory,
            env={
                **os.environ,
                **environment,
                **{name: str(path) for name, path in files.items()},
                "RUNNER_TEMP": str(self._temporary),
                "GITHUB_ACTIONS": "true",
                **own,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        ran.log += done.stdout
        ran.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        ran.environment |= _assignments(files["GITHUB_ENV"])
        ran.exit_code = ran.exit_code or done.returncode
        for name, text in _assignments(files["GITHUB_OUTPUT"]).items():
            values[f"steps.{step['id']}.outputs.{name}"] = text


def _holds(term: str, values: dict[str, str]) -> bool:
    match = re.fullmatch(r"(\S+) (==|!=) '(.*)'", term)
    assert match is not None, term
    is_equal = values.get(match[1], "") == match[3]
    return is_equal == (match[2] == "==")


def _filled(text: str, values: dict[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: values.get(match[1], ""), str(text))


def _assignments(path: Path) -> dict[str, str]:
    lines = path.read_text().splitlines()
    return {name: text for name, _, text in (line.partition("=") for line in lines)}
