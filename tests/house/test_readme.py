"""The README is short, and leads each kind of reader on."""

import re

import pytest
from tests.house.documentation import ROOT, blocks

README = (ROOT / "README.md").read_text()


def test_it_is_at_most_200_lines():
    assert len(README.splitlines()) <= 200


def test_the_first_command_starts_the_mock_and_shows_what_is_seen():
    first = next(block for block in blocks("README.md") if block.language == "console")
    assert first.text.startswith("$ make serve\n")
    assert "http://127.0.0.1:8080/v3" in first.text


@pytest.mark.parametrize("reader", ["frontend", "tests and CI", "QA"])
def test_each_kind_of_reader_finds_an_example_and_where_to_read_on(reader):
    (section,) = (part for part in README.split("\n## ") if part.startswith(f"For {reader}"))
    assert "```console\n" in section
    assert re.search(r"Read on: \[", section)


@pytest.mark.parametrize("name", dict.fromkeys(re.findall(r"\]\((?!http)([^)#]+)", README)))
def test_every_link_leads_to_a_file(name):
    assert (ROOT / name).is_file()
