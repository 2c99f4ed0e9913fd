"""Whatever is wrong with a document, it serves, unless nobody can tell its version."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import Problem, StartupError
from understudy.mock.server.api import Api
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.document_responses import Sampling
from understudy.mock.server.endpoint import endpoints
from understudy.openapi.loader import load
from understudy.openapi.yaml_files import read_yaml

NOTES = read_yaml(Path(__file__).with_name("notes.yaml"))
JUNK = [None, 1, "x", "", True, [], {}, [1], [None], {"a": 1}, {"$ref": 1}, {"$ref": "#/info"}]


def _places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        below = list(value.items())
    elif isinstance(value, list):
        below = list(enumerate(value))
    return [above, *(place for key, member in below for place in _places(member, (*above, key)))]


PLACES = [
    place for place in _places(NOTES) if place and place[0] != "openapi" and "required" not in place
]


@given(
    place=st.sampled_from(PLACES),
    junk=st.sampled_from(JUNK),
    version=st.sampled_from(["3.0.3", "3.1.0"]),
)
def test_a_document_with_one_wrong_thing_in_it_serves(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[Any, ...], junk: Any, version: str
) -> None:
    raw: Any = {**deepcopy(NOTES), "openapi": version}
    *steps, last = place
    parent = raw
    for step in steps:
        parent = parent[step]
    parent[last] = junk
    path = tmp_path_factory.getbasetemp() / "wrong.json"
    path.write_text(json.dumps(raw))
    assert outcome(path) == f"{path} serves"


def outcome(path: Path) -> str:
    """Returns the refusal, or says that every operation has an answer."""
    try:
        document = load(path)
        found = endpoints(Api(document, document.base_path, {}, _no_answer))
    except StartupError as refusal:
        return str(refusal)
    for endpoint in found:
        Sampling(endpoint.operation, endpoint.schemas, 0).principal()
        endpoint.validator.completed(HandlerResponse({}), 0)
    return f"{path} serves"


def _no_answer(_problem: Problem) -> HandlerResponse:
    return HandlerResponse()
