"""The three judges of the field: each is started at a target, and its report is read."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from tests.proofs.field.targets import Setting


class Judgement(NamedTuple):
    """What one run of a judge found.

    Attributes:
        findings: Each as ``METHOD target`` and what it says, with the response.
        requests: The requests that were sent.
        seconds: Processor time of the judge.
    """

    findings: tuple[str, ...]
    requests: int
    seconds: float


def verify(setting: Setting, base_url: str, seed: int) -> Judgement:
    """Judges a target by ``understudy verify``."""
    with TemporaryDirectory() as place:
        target = _target_file(Path(place), setting, base_url)
        options = ["--document", str(setting.document), "--seed", str(seed), "--json"]
        command = ["verify", *target, "--base-url", base_url, *options]
        text, seconds = _run([*_UNDERSTUDY, *command], place)
    report = json.loads(text)
    findings = [_of_verify(it) for it in report["findings"]]
    return Judgement(tuple(findings), report["budget"]["requests"], seconds)


def _of_verify(finding: Mapping[str, Any]) -> str:
    last = finding["exchanges"][-1]
    words = (finding["rule"], finding["expected"], finding["actual"], *finding["steps"])
    return line_of(last["method"], last["url"], words)


def generate(setting: Setting, base_url: str, seed: int) -> Judgement:
    """Sends the catalogue's cases to a target by ``understudy generate --send``."""
    with TemporaryDirectory() as place:
        target = _target_file(Path(place), setting, base_url)
        options = ["--document", str(setting.document), "--seed", str(seed), "--json"]
        command = ["generate", "--send", *target, "--base-url", base_url, *options]
        text, seconds = _run([*_UNDERSTUDY, *command], place)
    cases = [json.loads(line) for line in text.splitlines()]
    sent = [it for it in cases if not it["outcome"].startswith("not sent")]
    failed = [it for it in sent if it["outcome"].startswith("failed")]
    findings = [
        line_of(it["request"]["method"], it["request"]["url"], (it["description"], it["outcome"]))
        for it in failed
    ]
    return Judgement(tuple(findings), len(sent), seconds)


def schemathesis(setting: Setting, base_url: str, seed: int) -> Judgement:
    """Judges a target by ``schemathesis run``."""
    with TemporaryDirectory() as place:
        events = Path(place) / "events.ndjson"
        command = [
            *(str(Path(sys.executable).with_name("schemathesis")), "run", str(setting.document)),
            *("-u", base_url, "--seed", str(seed), "--report", "ndjson"),
            *("--report-ndjson-path", str(events)),
        ]
        for token in setting.tokens[:1]:
            command += ["-H", f"Authorization: Bearer {token}"]
        _, seconds = _run(command, place)
        lines = events.read_text().splitlines()
    ended = [it["ScenarioFinished"] for it in map(json.loads, lines) if "ScenarioFinished" in it]
    recorders = [it["recorder"] for it in ended]
    requests = sum(len(it.get("interactions", ())) for it in recorders)
    findings = [text for it in recorders for text in _of_schemathesis(it)]
    return Judgement(tuple(findings), requests, seconds)


def _of_schemathesis(recorder: Mapping[str, Any]) -> Iterable[str]:
    for case, checks in recorder.get("checks", {}).items():
        interaction = recorder["interactions"].get(case)
        for check in checks:
            if check["status"] != "failure" or interaction is None:
                continue
            failure = check["failure_info"]["failure"]
            response = interaction.get("response") or {}
            content = (response.get("content") or {}).get("$base64", "")
            body = base64.b64decode(content).decode("utf-8", "replace")
            words = (check["name"], failure["title"], failure["message"])
            status = f"status {response.get('status_code')}"
            request = interaction["request"]
            yield line_of(request["method"], request["uri"], (*words, status, body))


def line_of(method: str, url: str, words: Iterable[object]) -> str:
    parts = urlsplit(url)
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return "\n".join((f"{method} {target} ", *map(str, words)))


def _target_file(place: Path, setting: Setting, base_url: str) -> list[str]:
    """Returns the option that gives the accounts of a target, where it has any."""
    if not setting.tokens:
        return []
    own, other = setting.tokens
    path = place / "target.toml"
    path.write_text(
        f'base_url = "{base_url}"\nmode = "full"\n'
        f'[credentials]\naccess_token = "{own}"\nother_access_token = "{other}"\n'
    )
    return ["--target", str(path)]


_UNDERSTUDY: Final = (sys.executable, "-m", "understudy")


def _run(command: list[str], place: str) -> tuple[str, float]:
    """Runs a command in a working directory; returns what it printed, and its processor time."""
    output = Path(place) / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(command, cwd=place, stdout=file, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
    return output.read_text(), usage.ru_utime + usage.ru_stime


JUDGES: Final[Mapping[str, Callable[[Setting, str, int], Judgement]]] = {
    "verify": verify,
    "generate --send": generate,
    "schemathesis run": schemathesis,
}
