"""The command that is shown for an operation is one that the mock accepts, whatever the styles."""

import shlex

import pytest
from tests.mock.asking import SITE, asking

from understudy.mock.app import Mock
from understudy.mock.server.listing import ANY_CREDENTIALS
from understudy.mock.settings import Settings

LIST = "{type: array, minItems: 2, items: {type: integer}}"
PLACE = "{type: object, required: [x, y], properties: {x: {type: integer}, y: {type: integer}}}"
FILTER = f"{{type: object, required: [of, in], properties: {{of: {PLACE}, in: {LIST}}}}}"


def parameter(location: str, style: str, explode: str, schema: str) -> str:
    return f"{{name: at, in: {location}, required: true, style: {style}, explode: {explode}, schema: {schema}}}"


DECLARED = [
    *(
        parameter("path", style, explode, schema)
        for style in ("label", "matrix", "simple")
        for explode in ("true", "false")
        for schema in (LIST, PLACE, "{type: integer}")
    ),
    parameter("query", "deepObject", "true", FILTER),
    parameter("query", "pipeDelimited", "false", LIST),
    parameter("query", "spaceDelimited", "false", LIST),
    parameter("query", "form", "false", PLACE),
    parameter(
        "query", "form", "true", "{type: object}"
    ),  # which is sent without members, as nothing
    parameter("header", "simple", "true", PLACE),
]


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Mock:
    """A mock with an operation for each declared parameter."""
    document = tmp_path_factory.mktemp("places") / "places.yaml"
    lines = [
        f"  '/places/{number}{'/{at}' if 'in: path' in declared else ''}': {{get: "
        f"{{parameters: [{declared}], responses: {{'204': {{description: ok}}}}}}}}"
        for number, declared in enumerate(DECLARED)
    ]
    head = "openapi: 3.1.0\ninfo: {title: Places, version: '1'}\npaths:\n"
    document.write_text(head + "\n".join(lines))
    return Mock(Settings(document=document))


@pytest.mark.parametrize("number", range(len(DECLARED)), ids=lambda number: DECLARED[number])
def test_the_command_of_any_style_is_accepted(mock: Mock, number: int) -> None:
    assert mock.listing is not None
    words = shlex.split(list(mock.listing.operations(SITE, ANY_CREDENTIALS))[number].command)
    headers = {}
    if "-H" in words:
        name, _, text = words[words.index("-H") + 1].partition(": ")
        headers = {name: text}
    response = asking(mock)("GET", words[1].removeprefix(SITE), headers=headers)
    assert response.status_code == 204, (words, response.text)
