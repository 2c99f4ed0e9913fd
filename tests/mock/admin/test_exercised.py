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


@pytest.mark.parametrize(("document", "is_alone"), [(OPEN, True), (SECURED, False)])
def test_the_authorization_server_counts_only_for_a_document_with_tokens(
    tmp_path, document, is_alone
) -> None:
    (tmp_path / "pets.yaml").write_text(document)
    ask = asking(Mock(Settings(document=tmp_path / "pets.yaml")))
    operations = [it["operation"] for it in ask("GET", "/__admin/exercised").json()["operations"]]
    assert (operations == ["listPets", "GET /openapi"]) is is_alone
