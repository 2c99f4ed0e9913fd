"""A body that comes again is read once, and judged as each request wants it."""

from pathlib import Path
from typing import Any

import pytest

from understudy.errors import BadRequest
from understudy.mock.server import bodies
from understudy.mock.server.bodies import BodyReader
from understudy.openapi.loader import load
from understudy.openapi.operations import operations
from understudy.openapi.schemas import Schemas

DOCUMENT = """
openapi: 3.0.3
info: {title: Boats, version: '1'}
paths:
  /boats:
    post:
      requestBody:
        content:
          application/json: &closed
            schema:
              type: object
              properties: {name: {type: string}, crew: {type: integer}}
              additionalProperties: false
          application/x-www-form-urlencoded: *closed
      responses: {'204': {description: none}}
"""
JSON, FORM = b"application/json", b"application/x-www-form-urlencoded"
TIMES = range(4)


@pytest.fixture
def reader(tmp_path: Path) -> BodyReader:
    """The reader of a body that takes a name and a crew only, as JSON and as a form."""
    path = tmp_path / "boats.yaml"
    path.write_text(DOCUMENT)
    document = load(path)
    declared = operations(document)[0].request_body
    assert declared is not None
    return BodyReader(declared, Schemas(document).for_requests, ())


def read(reader: BodyReader, content: bytes, kind: bytes = JSON, **options: bool) -> Any:
    return reader.read(content, kind, **{"drop_unknown": False, **options})


@pytest.mark.parametrize(
    ("content", "kind", "value"),
    [
        (b'{"name": "Tern", "crew": 2.0}', JSON, {"name": "Tern", "crew": 2}),
        (b"name=Tern&crew=2", FORM, {"name": "Tern", "crew": 2}),
    ],
)
def test_it_says_the_same_each_time(
    reader: BodyReader, content: bytes, kind: bytes, value: dict[str, Any]
) -> None:
    assert [read(reader, content, kind) for _ in TIMES] == [value] * len(TIMES)


def test_from_the_third_time_on_it_is_not_parsed(reader: BodyReader, monkeypatch) -> None:
    content = b'{"name": "Tern"}'
    for _ in range(2):
        read(reader, content)
    monkeypatch.setattr(bodies, "read_json", None)
    assert read(reader, content) == {"name": "Tern"}


def test_what_one_request_lets_pass_is_refused_to_the_next(reader: BodyReader) -> None:
    content = b'{"name": "Tern", "sails": 3}'
    assert [read(reader, content, drop_unknown=True) for _ in TIMES] == [{"name": "Tern"}] * 4
    for _ in TIMES:
        with pytest.raises(BadRequest):
            read(reader, content)


def test_the_same_bytes_of_another_type_are_read_as_that(reader: BodyReader) -> None:
    for _ in TIMES:
        assert read(reader, b'{"crew": 1}') == {"crew": 1}
        with pytest.raises(BadRequest):
            read(reader, b'{"crew": 1}', FORM)


def test_a_long_body_is_not_kept(reader: BodyReader, monkeypatch) -> None:
    content = b'{"name": "%b"}' % (b"x" * 3000)
    for _ in TIMES:
        read(reader, content)
    monkeypatch.setattr(bodies, "read_json", lambda *_: "parsed again")
    with pytest.raises(BadRequest):
        read(reader, content)
