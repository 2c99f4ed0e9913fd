"""Operations of one path and method are told apart by what their requests must have."""

import pytest

SHARED = """
openapi: 3.0.3
paths:
  /#Target=Shop.Create:
    post:
      parameters: [{name: X-Target, in: header, required: true, schema: {type: string, enum: [Shop.Create]}}]
      responses: {'201': {description: made}}
  /#Target=Shop.Delete:
    post:
      parameters: [{name: X-Target, in: header, required: true, schema: {type: string, enum: [Shop.Delete]}}]
      responses: {'204': {description: gone}}
  /#key:
    post:
      parameters: [{name: key, in: query, required: true, schema: {type: string}}]
      responses: {'202': {description: queued}}
"""


@pytest.mark.parametrize(
    ("target", "headers", "status"),
    [
        ("/", {"X-Target": "Shop.Create"}, 201),
        ("/", {"X-Target": "Shop.Delete"}, 204),
        ("/?key=a", {}, 202),
        ("/", {}, 400),
    ],
)
def test_a_header_or_a_query_tells_operations_of_one_path_apart(
    serve, target: str, headers: dict[str, str], status: int
) -> None:
    service = serve(SHARED, api={"handlers": {}})
    assert service.post(target, headers=headers).status_code == status


def test_they_are_told_apart_however_often_the_path_comes(serve) -> None:
    service = serve(SHARED, api={"handlers": {}})
    for _ in range(3):
        for target, status in (("Shop.Create", 201), ("Shop.Delete", 204)):
            assert service.post("/", headers={"X-Target": target}).status_code == status
