"""Schemathesis over the admin API's document: it documents itself, and so it tests itself.

``UNDERSTUDY_SCHEMATHESIS`` says how many examples an operation; ``make cases`` asks for 200.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import yaml
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, from_schema
from schemathesis.engine.run import PhaseName
from tests.mock.admin.conftest import START
from tests.mock.authserver.test_schemathesis import Seen

from understudy.mock.app import Mock
from understudy.mock.server import world_selection
from understudy.mock.settings import Settings
from understudy.openapi.bundled import openapi_directory

pytestmark = pytest.mark.usefixtures("unmeasured")

EXAMPLES = int(os.environ.get("UNDERSTUDY_SCHEMATHESIS", "10"))
DOCUMENT = yaml.safe_load((openapi_directory() / "admin.yaml").read_text())
TOKEN = "from-the-command-line"
CONFIGURATION = {
    "seed": 0,
    "cache": {"enabled": False},
    "suppress-health-check": ["too_slow"],
    "generation": {"deterministic": True, "database": "none", "max-examples": EXAMPLES},
    "headers": {"Authorization": f"Bearer {TOKEN}"},
    # what fits the schema may still name nobody (400), nothing (404), be there already (409), or
    # be a stub that another document does not allow (422)
    "checks": {
        "positive_data_acceptance": {"expected-statuses": ["2xx", "400", "404", "409", "422"]},
        "ignored_auth": {"enabled": False},
    },
    "operations": [
        # two go on for as long as somebody listens, the others take a zip file
        {
            "include-operation-id": [
                "streamRequests",
                "streamEvents",
                "importWorld",
                "openCapsule",
            ],
            "enabled": False,
        },
        # revoking the grants of an application leaves an empty list of them, and no resource is gone
        {
            "include-operation-id": ["listGrants"],
            "checks": {"use_after_free": {"enabled": False}},
        },
        # GET of these paths is GET /requests/{id} with a wrong id, and so 400 and not 405
        {
            "include-operation-id": ["countRequests", "findRequests"],
            "checks": {
                "unsupported_method": {"enabled": False},
                "allow_header_conformance": {"enabled": False},
            },
        },
    ],
}


BOUNDS = {
    "integer": {"minimum", "maximum"},
    "number": {"minimum", "maximum"},
    "string": {"maxLength"},
    "array": {"maxItems"},
}


def is_unbounded(schema: dict[str, Any]) -> bool:
    """Tells whether values of a schema may be of any size; a body itself has the limit of bodies."""
    if "enum" in schema or schema.get("format") in {"binary", "date-time"}:
        return False
    if isinstance(schema.get("additionalProperties"), dict) and "maxProperties" not in schema:
        return True
    kind = schema.get("type")
    return isinstance(kind, str) and not BOUNDS.get(kind, set()) <= schema.keys()


def unbounded(node: Any, referred: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yields the schemas without bounds in a part of a document, references followed."""
    match node:
        case {"$ref": str(reference)}:
            part = DOCUMENT
            for name in reference.removeprefix("#/").split("/"):
                part = part[name]
            if reference not in referred:
                yield from unbounded(part, (*referred, reference))
        case dict() if is_unbounded(node):
            yield node
        case dict() | list():
            for member in node.values() if isinstance(node, dict) else node:
                yield from unbounded(member, referred)
        case _:
            return


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_everything_that_a_request_carries_has_bounds(path):
    item = DOCUMENT["paths"][path]
    operations = [item[method] for method in item if method != "parameters"]
    sent = [it.get(part) for it in (item, *operations) for part in ("parameters", "requestBody")]
    assert list(unbounded(sent)) == []


def test_no_generated_request_finds_a_failure(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # where it leaves its notes
    # A world may be made that ends after a second, and a busy machine takes longer to look for it.
    monkeypatch.setattr(world_selection, "machine_time", lambda: START)
    schema = schemathesis.openapi.from_path(
        openapi_directory() / "admin.yaml",
        config=SchemathesisConfig.from_dict(CONFIGURATION),
    )
    schema.app = Mock(Settings(admin_token=TOKEN)).resource
    seen = Seen()
    for event in from_schema(schema).execute():
        seen.take(event)
    assert seen.failures == []
    assert set(seen.phases.values()) == {Status.SUCCESS}
    assert PhaseName.STATEFUL_TESTING in seen.phases
    assert {200, 201, 204, 400, 404} <= seen.statuses
    assert max(seen.statuses) < 500
