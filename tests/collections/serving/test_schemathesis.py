"""Schemathesis over a document with inferred state: no use after free, no unavailable resource."""

from pathlib import Path

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, from_schema
from schemathesis.engine.run import PhaseName
from tests.collections.serving.conftest import TODO_LIST
from tests.mock.authserver.test_schemathesis import Seen

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

pytestmark = pytest.mark.usefixtures("unmeasured")

CONFIGURATION = {
    "seed": 0,
    "cache": {"enabled": False},
    "suppress-health-check": ["too_slow"],
    "generation": {"deterministic": True, "database": "none", "max-examples": 30},
    "phases": {name: {"enabled": False} for name in ("examples", "coverage", "fuzzing")},
    # what fits the schema may name nothing (404), be there already (409) or no patch (400)
    "checks": {
        "positive_data_acceptance": {"expected-statuses": ["2xx", "400", "404", "409", "412"]},
    },
}


def test_no_sequence_of_requests_finds_a_failure(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # where it leaves its notes
    schema = schemathesis.openapi.from_path(
        TODO_LIST, config=SchemathesisConfig.from_dict(CONFIGURATION)
    )
    schema.app = Mock(Settings(document=TODO_LIST)).resource
    seen = Seen()
    for event in from_schema(schema).execute():
        seen.take(event)
    assert seen.failures == []
    assert seen.phases[PhaseName.STATEFUL_TESTING] is Status.SUCCESS
    assert {"use_after_free", "ensure_resource_availability"} <= seen.checks
    assert {200, 201, 204, 404} <= seen.statuses
    assert max(seen.statuses) < 500
