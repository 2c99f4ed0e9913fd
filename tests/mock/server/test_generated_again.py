"""A response that follows from the same arguments is generated once."""

from typing import Any

import pytest

from understudy.openapi.sampler import Sampler

DOCUMENT = """
openapi: 3.0.3
info: {title: Boats, version: '1'}
paths:
  /boats/{name}:
    get:
      parameters:
        - {name: name, in: path, required: true, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer}}
      responses:
        200:
          description: a
          content:
            application/json:
              example: 12
              schema: &boat {type: object, required: [name], properties: {name: {type: string}}}
            application/xml: {schema: *boat}
    put:
      parameters: [{name: name, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: *boat}}}
      responses: {200: {description: a, content: {application/json: {schema: *boat}}}}
"""


@pytest.fixture
def boats(serve) -> Any:
    return serve(DOCUMENT, api={"handlers": {}})


def test_its_bytes_and_its_notes_are_the_same_and_it_is_made_once(boats, monkeypatch) -> None:
    responses = [boats.get("/boats/ketch")]
    monkeypatch.setattr(Sampler, "value", None)
    responses += [boats.get("/boats/ketch") for _ in range(2)]
    assert {(it.status_code, it.content, it.headers["x-mock-response"]) for it in responses} == {
        (200, b'{"name":"ketch"}', "generated")
    }
    first, *others = [list(entry.notes) for entry in boats.world.journal]
    assert "breaks its schema" in " ".join(first)
    assert others == [first, first]


@pytest.mark.parametrize(
    ("path", "headers", "content"),
    [
        ("/boats/yawl", {}, b'{"name":"yawl"}'),
        ("/boats/12", {}, b'{"name":"12"}'),
        ("/boats/ketch", {"Accept": "application/xml"}, b"ketch</name>"),
    ],
)
def test_other_arguments_and_media_types_have_a_response_of_their_own(
    boats, path, headers, content
) -> None:
    boats.get("/boats/ketch")
    assert content in boats.get(path, headers=headers).content


def test_a_body_is_read_back_from_each_response(boats) -> None:
    boats.ask("PUT", "/boats/ketch", json={"name": "ketch"})
    assert boats.ask("PUT", "/boats/yawl", json={"name": "yawl"}).json() == {"name": "yawl"}


def test_another_seed_has_another_response(serve) -> None:
    document = DOCUMENT.replace(
        "name: {type: string}}}",
        "name: {type: string}, age: {type: string, format: uuid}}, required: [age]}",
    )
    service = serve(document, api={"handlers": {}})
    first = service.get("/boats/ketch").content
    service.world.identifiers.seed += 1
    assert service.get("/boats/ketch").content != first


def test_what_is_kept_is_bounded_for_all_operations_together(serve, monkeypatch) -> None:
    monkeypatch.setattr("understudy.mock.server.endpoint._MOST_GENERATED", 2)
    operation = "get: {responses: {200: {description: a}}}"
    paths = "".join(f"  /p{number}: {{{operation}}}\n" for number in range(5))
    document = f"openapi: 3.0.3\ninfo: {{title: a, version: '1'}}\npaths:\n{paths}"
    service = serve(document, api={"handlers": {}})
    for number in range(5):
        assert service.get(f"/p{number}").status_code == 200
    endpoint = service.recorded[-1].endpoint
    assert len(endpoint.generated._results) == 2
