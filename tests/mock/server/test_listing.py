"""The operations of a document as the start page and the first screen of a mock list them."""

import json

from tests.mock.asking import asking

from understudy.cli.serve import ROWS, banner
from understudy.mock.app import Mock
from understudy.mock.server import listing
from understudy.mock.settings import Settings

PETS = """
openapi: 3.0.3
info: {title: Pets, version: '1'}
paths:
  /pets:
    get: {responses: {'200': {description: a, content: {application/json: {schema: {type: array, items: &pet
      {type: object, required: [id], properties: {id: {type: integer}, name: {type: string}}}}}}}}}
    post:
      requestBody: {required: true, content: {application/json: {schema: *pet}}}
      responses: {'201': {description: a, content: {application/json: {schema: *pet}}}, '409': {description: a}}
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get: {responses: {'200': {description: a, content: {application/json: {schema: *pet}}}}}
"""
PATH = "  /a{}: {{get: {{responses: {{'200': {{description: a}}}}}}}}"


def test_only_the_commands_that_fit_the_screen_are_made(tmp_path, monkeypatch) -> None:
    path = tmp_path / "api.yaml"
    paths = "\n".join(PATH.format(number) for number in range(300))
    path.write_text(f"openapi: 3.0.3\ninfo: {{title: a, version: '1'}}\npaths:\n{paths}\n")
    mock = Mock(Settings(document=path))
    made = []
    command = listing.curl_command

    def counted(*arguments) -> str:
        made.append(arguments)
        return command(*arguments)

    monkeypatch.setattr(listing, "curl_command", counted)
    assert "and 289 more" in banner(mock, "http://m", "http://a")
    assert len(made) == ROWS


def test_the_first_screen_names_no_start_page_where_the_document_has_a_path(tmp_path) -> None:
    path = tmp_path / "api.yaml"
    responses = "{get: {responses: {'200': {description: a}}}}"
    screens = []
    for taken in ("/", "/a"):
        path.write_text(
            f"{{openapi: 3.0.3, info: {{title: a, version: '1'}}, paths: {{{taken}: {responses}}}}}"
        )
        screens.append(banner(Mock(Settings(document=path)), "http://m", "http://a"))
    assert ["start page" in screen for screen in screens] == [False, True]


def test_a_form_of_any_fields_is_sent_with_one_as_its_body_is_required(tmp_path) -> None:
    path = tmp_path / "api.yaml"
    body = "{required: true, content: {multipart/form-data: {}}}"
    operation = f"{{requestBody: {body}, responses: {{'200': {{description: a}}}}}}"
    path.write_text(
        f"{{openapi: 3.0.3, info: {{title: a, version: '1'}}, paths: {{/a: {{post: {operation}}}}}}}"
    )
    mock = Mock(Settings(document=path))
    assert listing.curl_command("http://m", mock.endpoints[0]).endswith(" -F name=text")
    sent = asking(mock)("POST", "/a", files={"name": (None, "text")})
    assert sent.status_code == 200


def test_the_command_that_creates_an_item_names_none_that_exists(tmp_path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(PETS)
    mock = Mock(Settings(document=path))
    (create,) = (it for it in mock.endpoints if it.operation.method == "POST")
    sent = listing.curl_command("http://m", create).partition(" -d ")[2].strip("'")
    created = asking(mock)("POST", "/pets", json=json.loads(sent))
    assert created.status_code == 201, created.text
