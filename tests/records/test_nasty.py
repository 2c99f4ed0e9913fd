"""People whose every field is an edge case: all of them load, and all of them are answered."""

import asyncio
import json
from pathlib import Path

import httpx
from click.testing import CliRunner

from understudy.cli import main
from understudy.generate.texts import all_texts
from understudy.mock.app import Mock
from understudy.mock.fixtures import nasty
from understudy.mock.settings import Settings
from understudy.mock.store.people import PEOPLE


def test_every_text_fills_somebody_s_every_text():
    found = {person.profile.display_name for person in nasty.people(all_texts())}
    assert set(all_texts().values()) <= found
    first = next(nasty.people({"a word": "word"})).profile
    assert (first.location, first.pronouns, first.first_name) == ("word",) * 3


def test_the_mock_loads_them_and_answers_with_each(tmp_path: Path):
    made = CliRunner().invoke(main, ["fixtures", "--nasty", "--out", str(tmp_path / "set")])
    assert made.exit_code == 0, made.output
    mock = Mock(Settings(fixtures=tmp_path / "set", choices={"rate-limits": "off"}))
    slugs = [person.slug for person in nasty.people(all_texts())]
    assert set(slugs) <= {slug for slug, _ in mock.world.items(PEOPLE)}

    async def lookups() -> dict[str, httpx.Response]:
        transport = httpx.ASGITransport(mock.resource)
        headers = {"Authorization": "Bearer ada-full"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://mock.test/v3", headers=headers
        ) as client:
            return {slug: await client.get(f"/profiles/{slug}") for slug in slugs}

    answers = asyncio.run(lookups())
    refused = {slug: a.text[:200] for slug, a in answers.items() if a.status_code != 200}
    assert refused == {}
    assert len(json.loads(answers["nasty-many"].content)["links"]) == nasty.MANY


def test_nasty_and_invented_people_go_into_one_set(tmp_path: Path):
    words = ["fixtures", "--nasty", "--people", "5", "--out", str(tmp_path / "set")]
    assert CliRunner().invoke(main, words).exit_code == 0
    names = {path.name for path in (tmp_path / "set" / "people").glob("*.jsonl")}
    assert names == {"invented-0.jsonl", "nasty.jsonl"}
