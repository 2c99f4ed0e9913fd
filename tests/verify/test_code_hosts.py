"""Reports for code hosts: findings are in the user's own files, and texts stay texts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from tests.test_terminal import HOSTILE, steers

from understudy.reports.code_hosts import annotations
from understudy.reports.formats import FORMATS
from understudy.verify.findings import Outcome
from understudy.verify.reports import report_of

DOCUMENT = """openapi: 3.0.3
paths:
  /openapi:
    get: {}
  "/qr-code/{anything}":
    get: {}
"""


@pytest.fixture
def outcome(verify: Callable[..., Outcome], wire: Any) -> Outcome:
    """A run with one finding: a QR code of a size that nobody asked for."""
    inner: httpx.BaseTransport = wire.inner

    def answer(request: httpx.Request) -> httpx.Response:
        if "/qr-code/" in request.url.path:
            request = httpx.Request("GET", request.url.copy_set_param("size", "90"))
        return inner.handle_request(request)

    wire.inner = httpx.MockTransport(answer)
    found = verify(rules=("qr-default-size",))
    assert found.findings
    return found


def sarif_place(outcome: Outcome) -> Any:
    return orjson.loads(FORMATS["sarif"](report_of(outcome, {})))["runs"][0]["results"][0][
        "locations"
    ][0]


def test_a_finding_is_at_its_path_in_the_document_in_force(
    outcome: Outcome, tmp_path: Path
) -> None:
    path = tmp_path / "service.yaml"
    path.write_text(DOCUMENT)
    judged = replace(outcome, document_file=path, target_file=tmp_path / "none.toml")
    place = sarif_place(judged)["physicalLocation"]
    assert place == {"artifactLocation": {"uri": path.as_posix()}, "region": {"startLine": 5}}
    (entry, *_) = orjson.loads(FORMATS["gitlab"](report_of(judged, {})))
    assert entry["location"] == {"path": path.as_posix(), "lines": {"begin": 5}}


def test_without_a_document_it_is_at_the_address_in_the_target(
    outcome: Outcome, tmp_path: Path
) -> None:
    path = tmp_path / "target.toml"
    path.write_text('# staging\nbase_url = "http://127.0.0.1:8080/v3"\n')
    (line, *_) = annotations(report_of(replace(outcome, target_file=path), {}))
    assert line.startswith(f"::error file={path.as_posix()},line=2,title=qr-default-size::")


def test_without_a_file_of_the_user_s_none_is_named(outcome: Outcome) -> None:
    assert "physicalLocation" not in sarif_place(outcome)
    assert annotations(report_of(outcome, {}))[0].startswith("::error title=qr-default-size::")


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_of_any_format_has_nothing_that_steers_whoever_shows_it(
    outcome: Outcome, name: str
) -> None:
    finding = replace(outcome.findings[0], actual=HOSTILE.replace("\ud800", ""))
    assert not steers(FORMATS[name](report_of(replace(outcome, findings=(finding,)), {})))


def test_markdown_shows_what_a_deployment_sends_as_text(outcome: Outcome) -> None:
    finding = replace(outcome.findings[0], actual="<img src=x> | [a](b) `c`\nd")
    text = FORMATS["markdown"](report_of(replace(outcome, findings=(finding,)), {}))
    assert r"actual: \<img src=x\> \| \[a\](b) \`c\` d" in text
    assert "```sh\ncurl -i" in text
    assert (
        r"### GET /qr-code/ada, where no size was requested: \<img src=x\> \| \[a\](b) \`c\` d; expected "
        in text
    )
    assert "rule qr-default-size: A QR code is 80 pixels wide and high where no size is" in text
