"""References between collections: what happens to an item that others refer to."""

from pathlib import Path

import pytest
from tests.collections.serving.conftest import document_with
from tests.mock.asking import Ask, asking

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

PATHS = """
  /owners:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Owner'}}}}
      responses: &owner {'201': {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/Owner'}}}}}
  /owners/{ownerId}:
    parameters: [{name: ownerId, in: path, required: true, schema: {type: integer}}]
    get: {responses: *owner}
    delete: {responses: {'204': {description: gone}DELETING}}
  /boats:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Boat'}}}}
      responses: &boat {'201': {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/Boat'}}}}}
  /boats/{boatId}:
    parameters: [{name: boatId, in: path, required: true, schema: {type: integer}}]
    get: {responses: *boat}
    delete: {responses: {'204': {description: gone}}}"""
SCHEMAS = """
    Owner: {type: object, required: [id, name], properties: {id: {type: integer, readOnly: true}, name: {type: string}}}
    Boat:
      type: object
      required: [id, ownerId]
      properties: {id: {type: integer, readOnly: true}, ownerId: {type: integer}}"""


def harbour(directory: Path, deleting: str) -> Ask:
    """Returns how to send requests to a mock of owners and boats."""
    paths = PATHS.replace("DELETING", deleting)
    return asking(Mock(Settings(document=document_with(directory, paths, SCHEMAS))))


def test_an_item_that_another_refers_to_is_in_use_where_409_is_declared(tmp_path: Path):
    ask = harbour(tmp_path, ", '409': {description: in use}")
    owner = ask("POST", "/owners", json={"name": "Lindry"}).json()["id"]
    boat = ask("POST", "/boats", json={"ownerId": owner}).json()["id"]
    refused = ask("DELETE", f"/owners/{owner}")
    assert refused.status_code == 409
    assert "other items refer to it: 1 by ownerId of /boats" in refused.text
    deleted = [ask("DELETE", path).status_code for path in (f"/boats/{boat}", f"/owners/{owner}")]
    assert deleted == [204, 204]


@pytest.mark.parametrize("boats", [0, 2])
def test_without_a_declared_409_the_journal_tells_what_refers_to_a_deleted_item(
    tmp_path: Path, boats: int
):
    ask = harbour(tmp_path, "")
    owner = ask("POST", "/owners", json={"name": "Lindry"}).json()["id"]
    for _ in range(boats):
        ask("POST", "/boats", json={"ownerId": owner})
    assert ask("DELETE", f"/owners/{owner}").status_code == 204
    journal = ask("GET", "/__admin/requests?limit=1").text
    assert ("other items still refer to it: 2 by ownerId of /boats" in journal) == bool(boats)
