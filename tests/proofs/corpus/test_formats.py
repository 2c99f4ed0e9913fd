"""What ``generate`` writes of the corpus is green at the mock, in the tools that it is written for."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.cli.conftest import Running
from tests.generate.formats.conftest import generate, tool, without_secrets
from tests.generate.formats.replaying import Request, har_requests
from tests.proofs.corpus.cases import DOCUMENTS

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda it: it.stem)
def test_the_requests_of_the_archive_get_what_it_expects(document: Path, tmp_path: Path) -> None:
    archive = written((document, "http://127.0.0.1:8080"), "har", tmp_path / "cases.har")
    requests = list(har_requests(archive))
    responses = asyncio.run(replayed(document, requests))
    assert [
        (it.name, response.status_code, it.statuses)
        for it, response in zip(requests, responses, strict=True)
        if not {f"{response.status_code}", f"{response.status_code // 100}XX"} & set(it.statuses)
    ] == []
    assert len(requests) >= 8


async def replayed(document: Path, requests: list[Request]) -> list[httpx.Response]:
    """Returns what a mock of a document responds to each request, without cookies of those before."""
    application = Mock(Settings(document=document)).resource
    async with httpx.AsyncClient(transport=httpx.ASGITransport(application)) as client:
        responses = []
        for it in requests:
            sent = client.request(it.method, it.url, headers=it.headers, content=it.body)
            responses.append(await sent)
            client.cookies.clear()
    return responses
