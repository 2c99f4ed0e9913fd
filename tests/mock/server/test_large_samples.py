"""A generated response of many values leaves the event loop to other requests."""

import threading
from typing import Any

import pytest

from understudy.openapi.sampler import Sampler

DOCUMENT = """
openapi: 3.0.3
info: {{title: Lists, version: '1'}}
paths:
  /list:
    get:
      responses:
        200:
          description: a
          content:
            application/json:
              schema: {{type: array, minItems: {items}, items: {{type: integer}}}}
"""


@pytest.fixture
def sampled_in(monkeypatch) -> list[bool]:
    """Returns whether each value so far was made in the thread of the event loop."""
    threads: list[bool] = []
    make = Sampler.value

    def observed(sampler: Sampler, *arguments: Any, **keywords: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return make(sampler, *arguments, **keywords)

    monkeypatch.setattr(Sampler, "value", observed)
    return threads


def test_many_values_are_generated_in_a_thread_and_kept(serve, sampled_in) -> None:
    service = serve(DOCUMENT.format(items=2000), api={"handlers": {}})
    assert [len(service.get("/list").json()) for _ in range(2)] == [2000, 2000]
    assert sampled_in == [True, False]  # the first attempt stops at what may be made at once


def test_few_values_are_generated_at_once(serve, sampled_in) -> None:
    service = serve(DOCUMENT.format(items=20), api={"handlers": {}})
    assert len(service.get("/list").json()) == 20
    assert sampled_in == [True]


def test_more_values_than_a_response_may_have_are_refused_by_the_name_of_the_limit(serve) -> None:
    response = serve(DOCUMENT.format(items=20_000), api={"handlers": {}}).get("/list")
    assert response.status_code == 501
    assert "sample-values" in response.text or response.headers["x-mock-limit"] == "sample-values"
