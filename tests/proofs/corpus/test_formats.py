"""What ``generate`` writes of the corpus is green at the mock, in the tools that it is written for."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.cli.conftest import Running
from tests.generate.formats.conftest import generate, tool, without_secrets
from tests.generate.formats.replaying import har_requests
from tests.proofs.corpus.cases import DOCUMENTS

__all__ = ["tool"]

K6 = Path(__file__).parents[2] / "generate" / "formats" / "k6_stubs"
SECRETS = {"CREDENTIAL": "any", "BASIC_CREDENTIAL": "YTpi", "TOKEN": "any"}
CHOSEN = ("23-query-styles", "25-forms", "34-envelopes", "50-everyday")


@pytest.fixture(
    scope="module", params=[it for it in DOCUMENTS if it.stem in CHOSEN], ids=lambda it: it.stem
)
def served(request, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A document of the corpus, and the base URL of its mock."""
    running = Running(
        tmp_path_factory.mktemp("served"), "--document", str(request.param), "--log", "off"
    )
    yield request.param, running.base_url
    running.stop()


def written(served: tuple[Path, str], form: str, out: Path) -> Path:
    document, base_url = served
    words = ("--document", document, "--count", 8, "--base-url", base_url, "--format", form)
    done = generate(*words, "--out", out)
    assert done.exit_code == 0, done.output
    return out


def test_the_pytest_module_passes(served, tool, tmp_path: Path) -> None:
    module = written(served, "pytest", tmp_path / "test_cases.py")
    done = subprocess.run(
        [tool("pytest"), "-q", "-p", "no:cacheprovider", module.name],
        cwd=tmp_path,
        env={**without_secrets(), **SECRETS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_script_of_k6_passes(served, tool, tmp_path: Path) -> None:
    script = written(served, "k6", tmp_path / "cases.js")
    words = [tool("node"), "--import", K6 / "register.mjs", K6 / "run.mjs", script]
    done = subprocess.run(
        [*map(str, words)],
        env={**without_secrets(), **SECRETS},
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["failed"] == []
    assert report["checks"] > 0


def test_the_requests_of_the_archive_get_what_it_expects(served, tmp_path: Path) -> None:
    archive = written(served, "har", tmp_path / "cases.har")
    requests = list(har_requests(archive))
    with httpx.Client(timeout=60) as client:
        for it in requests:
            response = client.request(it.method, it.url, headers=it.headers, content=it.body)
            status = str(response.status_code)
            assert {status, f"{status[0]}XX"} & set(it.statuses), (it.name, status, it.statuses)
    assert len(requests) >= 8
