"""Another service is compared with a mock of its document, which takes the same credential."""

from contextlib import closing
from dataclasses import replace

import pytest

from understudy.api.in_process import InProcess, mock
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.drift.documents.sources import documents_of_run
from understudy.drift.mock_beside import drift, mock_beside
from understudy.mock.settings import Settings
from understudy.verify.run import RunOptions

PIERS = """
openapi: 3.0.3
info: {{title: Piers, version: "1"}}
security: [{{key: []}}]
paths:
  /piers:
    get:
      parameters: [{{name: limit, in: query, schema: {{type: integer, minimum: 1, maximum: 9}}}}]
      responses: {{"200": {{description: All., content: {{application/json: {{schema: {{type: array, items: {{$ref: "#/components/schemas/Pier"}}}}}}}}}}}}
    post:
      requestBody: {{required: true, content: {{application/json: {{schema: {{$ref: "#/components/schemas/Pier"}}}}}}}}
      responses: {{"201": {{description: Made., content: {{application/json: {{schema: {{$ref: "#/components/schemas/Pier"}}}}}}}}}}
  /piers/{{id}}:
    parameters: [{{name: id, in: path, required: true, schema: {{type: integer}}}}]
    get:
      responses:
        "200": {{description: One., content: {{application/json: {{schema: {{$ref: "#/components/schemas/Pier"}}}}}}}}
        "404": {{description: None.}}
    delete: {{responses: {{"204": {{description: Gone.}}, "404": {{description: None.}}}}}}
components:
  securitySchemes: {{key: {scheme}}}
  schemas:
    Pier: {{type: object, required: [name], properties: {{id: {{type: integer, readOnly: true}}, name: {{type: string, maxLength: 40}}}}}}
"""
SCHEMES = {
    "{type: http, scheme: bearer}": "our-token",
    "{type: http, scheme: basic}": "us:our-password",
    "{type: apiKey, in: header, name: X-Key}": "our-key",
}


def deployment(directory, scheme, change=("", ""), credentials=""):
    """Returns a deployment of the piers, which differs from their document by a change."""
    document, real = directory / "piers.yaml", directory / "real.yaml"
    document.write_text(PIERS.format(scheme=scheme))
    real.write_text(PIERS.format(scheme=scheme).replace(*change))
    target = directory / "target.toml"
    credentials = credentials or f'[credentials]\napi_key = "{SCHEMES[scheme]}"\n'
    target.write_text(f'base_url = "http://127.0.0.1:8080"\ndocument = "{document}"\n{credentials}')
    opened = open_deployment(DeploymentOptions(target), {})
    opened.close()
    return replace(opened, transport=InProcess(mock(Settings(document=real))))


def compared(opened):
    options = RunOptions(rules=("inferred-create-readable", "inferred-delete-gone"))
    return drift(opened, mock_beside(opened), options, is_minimised=False)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_mock_takes_the_credential_of_the_target(tmp_path, scheme):
    result = compared(deployment(tmp_path, scheme))
    assert result.causes == ()
    own = [it for it in result.first.exchanges if it.identity.name == "owner"]
    assert own
    assert {it.status for it in own} <= {200, 201, 204, 404}


@pytest.mark.parametrize(
    "credentials",
    ['[credentials]\naccess_token = "us:"', '[application]\nusername = "us"\npassword = ""'],
)
def test_the_mock_takes_an_empty_password_as_keys_are_sent_with_one(tmp_path, credentials):
    result = compared(deployment(tmp_path, "{type: http, scheme: basic}", credentials=credentials))
    assert result.causes == ()
    assert 201 in {it.status for it in result.first.exchanges}


def test_a_status_that_only_the_deployment_has_is_its_fault(tmp_path):
    change = ('"204": {description: Gone.}', '"200": {description: Gone.}')
    (cause,) = compared(deployment(tmp_path, "{type: http, scheme: basic}", change)).causes
    assert (cause.rule, cause.fault) == ("document", "deployment")


def test_no_account_is_read_at_another_service(tmp_path):
    opened = deployment(tmp_path, "{type: http, scheme: bearer}")
    asked: list[object] = []
    opened.transport.handle_request = asked.append
    with closing(opened):
        mock_beside(opened).close()
    assert asked == []


def test_a_deployment_that_publishes_the_document_does_not_differ_by_publishing_it(tmp_path):
    opened = deployment(tmp_path, "{type: http, scheme: bearer}")
    with closing(opened):
        (pair,) = documents_of_run(opened, None, None).pairs
    assert pair.old == str(tmp_path / "piers.yaml")
    assert pair.changes == ()
