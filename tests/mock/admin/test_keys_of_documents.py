"""API keys of another document, whatever they are called, are shown nowhere."""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.mock.admin.conftest import Driver, Time

from understudy.mock.settings import Settings

DOCUMENT = """
openapi: 3.1.0
info: {title: Berths, version: "1"}
components:
  securitySchemes:
    mark: {type: apiKey, in: header, name: X-Mark}
    sign: {type: apiKey, in: query, name: sign}
paths:
  /berths:
    get:
      security: [{mark: [], sign: []}]
      responses: {'200': {description: All.}}
"""
SECRETS = ("of-the-header", "of-the-query", "of-a-header-that-is-not-declared")


@pytest.fixture
def berths(tmp_path: Path, time: Time) -> Iterator[Driver]:
    (tmp_path / "berths.yaml").write_text(DOCUMENT)
    driver = Driver(Settings(document=tmp_path / "berths.yaml"), time)
    yield driver
    driver.close()


def test_a_journal_and_a_capsule_tell_no_key(berths: Driver) -> None:
    header, query, undeclared = SECRETS
    headers = {"x-mark": header, "x-app-token": undeclared}
    sent = berths.get(f"/berths?sign={query}&page=2", headers=headers)
    assert sent.status_code == 200
    shown = json.dumps(berths.admin("GET", "/requests"))
    shown += json.dumps(berths.admin("GET", "/requests/har"))
    with ZipFile(BytesIO(berths.get("/__admin/capsule").content)) as capsule:
        shown += "".join(capsule.read(name).decode("latin-1") for name in capsule.namelist())
    assert [it for it in SECRETS if it in shown] == []
    assert "page=2" in shown
