"""Which operation a path leads to, whatever kinds of paths and servers a document has."""

import pytest
from tests.mock.server.conftest import Service


def text(of: str) -> str:
    """Returns the YAML of an operation whose response says which one it is."""
    content = f"{{application/json: {{example: {of}}}}}"
    return f"{{responses: {{'200': {{description: ok, content: {content}}}}}}}"


MANY = f"""
openapi: 3.0.3
servers: [{{url: /api}}]
paths:
  /pets/{{id}}: {{get: {text("any")}, put: {text("put")}}}
  /pets/{{id}}:stop: {{get: {text("stop")}}}
  /pets/{{id}}.{{form}}: {{get: {text("form")}}}
  /pets/mine: {{get: {text("mine")}}}
  /{{a}}/mine: {{get: {text("deep")}}}
  /api/status: {{get: {text("status")}}}
  /slash/: {{get: {text("slash")}}}
  /Case: {{get: {text("case")}}}
  /find?kind=new: {{get: {text("new")}}}
  /find?kind=old&deep: {{get: {text("old")}}}
  /find: {{get: {text("find")}}}
  /#Action=List: {{get: {text("list")}}}
  /rest/{{proxy+}}: {{get: {text("rest")}}}
  /rest/{{id}}: {{get: {text("one")}}}
  /rest/{{+name}}/end: {{get: {text("end")}}}
  /caf%C3%A9/(x): {{get: {text("coded")}}}
  /files: {{servers: [{{url: /upload/v2}}], get: {text("files")}}}
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(MANY, tmp_path_factory.mktemp("many"), api={"handlers": {}})


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/pets/1", "any"),
        ("/pets/mine", "mine"),
        ("/pets/a%2Fb", "any"),
        ("/pets%2Fmine", 404),
        ("/pets/1:stop", "stop"),
        ("/pets/1.json", "form"),
        ("/pets/a.b.c", "form"),
        ("/x/mine", "deep"),
        ("/api/status", "status"),
        ("/rest/a", "one"),
        ("/rest/a/b%2Fc/d", "rest"),
        ("/rest/a/b/end", "end"),
        ("/caf%C3%A9/(x)", "coded"),
        ("/slash/", "slash"),
        ("/slash", 404),
        ("/Case", "case"),
        ("/case", 404),
        ("/find?kind=new", "new"),
        ("/find?deep=&x=1&kind=old", "old"),
        ("/find?kind=other", "find"),
        ("/", "list"),
    ],
)
def test_a_path_leads_to_the_operation_that_the_document_means(many, target: str, name) -> None:
    response = many.get(f"/api{target}")
    assert (response.json() if response.status_code == 200 else response.status_code) == name


@pytest.mark.parametrize(
    ("target", "name"),
    [("/api/status", "status"), ("/upload/v2/files", "files"), ("/files", "files")],
)
def test_a_base_path_may_be_left_out_or_be_that_of_another_server(many, target, name) -> None:
    assert many.get(target).json() == name


def test_a_method_that_only_a_template_takes_is_the_templates(many) -> None:
    assert many.ask("PUT", "/api/pets/mine").json() == "put"


def test_an_encoded_slash_stays_in_its_parameter_and_in_the_journal(serve) -> None:
    service = serve(MANY, api={"handlers": {}})
    service.get("/api/pets/a%2Fb")
    (context,) = service.recorded
    assert (context.path, context.path_arguments) == ("/api/pets/a%2Fb", {"id": "a/b"})
