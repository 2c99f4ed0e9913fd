"""What counts as declared in the report of what was exercised: nothing of the authorization server that no operation needs."""

import pytest
from tests.mock.asking import asking

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

OPEN = """
openapi: 3.0.3
info: {title: Pets, version: '1'}
paths: {/pets: {get: {operationId: listPets, responses: {'200': {description: ok}}}}}
"""
SECURED = f"""{OPEN}
components: {{securitySchemes: {{token: {{type: http, scheme: bearer}}}}}}
security: [{{token: []}}]
"""


@pytest.mark.parametrize(
    ("document", "tokens", "is_alone"),
    [(OPEN, "known", True), (SECURED, "known", False), (SECURED, None, True)],
)
def test_the_authorization_server_counts_only_for_a_document_that_needs_its_tokens(
    tmp_path, document, tokens, is_alone
) -> None:
    (tmp_path / "pets.yaml").write_text(document)
    ask = asking(Mock(Settings(document=tmp_path / "pets.yaml", tokens=tokens)))
    operations = [it["operation"] for it in ask("GET", "/__admin/exercised").json()["operations"]]
    assert (operations == ["listPets", "GET /openapi"]) is is_alone


@pytest.mark.parametrize(
    ("path", "body"),
    [("/stubs", {"response": {}}), ("/faults", {"status": 500}), ("/requests/find", {})],
)
def test_no_message_lists_an_operation_that_issues_tokens_which_another_service_does_not_need(
    tmp_path, path, body
) -> None:
    (tmp_path / "pets.yaml").write_text(SECURED)
    ask = asking(Mock(Settings(document=tmp_path / "pets.yaml")))
    refusal = ask("POST", f"/__admin{path}", json={"operation": "walk", **body}).json()
    assert refusal["detail"].endswith("no operation 'walk'; there are listPets, GET /openapi.")


def test_a_world_of_another_service_lists_no_tokens_as_it_accepts_any(tmp_path) -> None:
    (tmp_path / "pets.yaml").write_text(SECURED)
    documents = [None, tmp_path / "pets.yaml"]
    worlds = [
        asking(Mock(Settings(document=it)))("GET", "/__admin/worlds/default").json()
        for it in documents
    ]
    assert [bool(world["tokens"]) for world in worlds] == [True, False]
