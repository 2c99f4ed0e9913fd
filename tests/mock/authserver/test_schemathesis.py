"""Schemathesis over the authorization server's document: every phase, every check, no failure.

``UNDERSTUDY_SCHEMATHESIS`` says how many examples an operation; ``make cases`` asks for 200.
"""

import os
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.engine.run import PhaseName
from tests.mock.authserver.conftest import CALLBACK, START

from understudy.mock.app import Mock
from understudy.mock.server.clock import Clock
from understudy.mock.settings import Settings
from understudy.mock.store.applications import CODES, AuthorizationCode
from understudy.mock.store.tokens import TOKENS, Token
from understudy.openapi.bundled import openapi_directory

pytestmark = pytest.mark.usefixtures("unmeasured")

EXAMPLES = int(os.environ.get("UNDERSTUDY_SCHEMATHESIS", "30"))
EXAMPLE_CODE = "7d3f0c5e9b1a4826a4c8e2f6071b3d59"
FAR = START + timedelta(days=3650)

CONFIGURATION = {
    "seed": 0,
    "cache": {"enabled": False},
    "suppress-health-check": ["too_slow"],
    "generation": {"deterministic": True, "database": "none", "max-examples": EXAMPLES},
    # a client, code or token that fits the schema and does not exist is a 400 (RFC 6749, 5.2)
    "checks": {
        "positive_data_acceptance": {"expected-statuses": ["2xx", "302", "400", "401", "429"]},
    },
}


@pytest.fixture
def mock() -> Mock:
    """A mock where the document's examples are true, and guessers never have to wait."""
    mock = Mock(Settings())
    minutes = count()
    mock.world.clock = Clock(lambda: START + timedelta(minutes=next(minutes)))
    scopes = ("auth", "avatar-profile:read")
    code = AuthorizationCode(EXAMPLE_CODE, "server-app", CALLBACK, "ada", scopes, FAR)
    mock.world.put(CODES, EXAMPLE_CODE, code)
    mock.world.put(TOKENS, "ada-full", Token("ada-full", "ada", "oauth", scopes, "server-app"))
    return mock


@dataclass
class Seen:
    """What a run brought to light."""

    failures: list[str] = field(default_factory=list)
    phases: dict[PhaseName, Status] = field(default_factory=dict)
    checks: set[str] = field(default_factory=set)
    statuses: set[int] = field(default_factory=set)

    def take(self, event: events.EngineEvent) -> None:
        if isinstance(event, events.NonFatalError | events.FatalError):
            self.failures.append(repr(event))
        elif isinstance(event, events.PhaseFinished):
            self.phases[event.phase.name] = event.status
        elif isinstance(event, events.ScenarioFinished):
            self._take_scenario(event.label, event.recorder)

    def _take_scenario(self, label: str | None, recorder: ScenarioRecorder) -> None:
        answers = [found.response for found in recorder.interactions.values()]
        self.statuses |= {answer.status_code for answer in answers if answer is not None}
        for check in (check for found in recorder.checks.values() for check in found):
            self.checks.add(check.name)
            if check.failure_info is not None:
                self.failures.append(f"{label} {check.name}: {check.failure_info}")


def test_no_generated_request_finds_a_failure(mock, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it leaves its notes
    schema = schemathesis.openapi.from_path(
        openapi_directory() / "authorization.yaml",
        config=SchemathesisConfig.from_dict(CONFIGURATION),
    )
    schema.app = mock.authorization
    seen = Seen()
    for event in from_schema(schema).execute():
        seen.take(event)
    assert seen.failures == []
    assert seen.phases == dict.fromkeys(PhaseName, Status.SUCCESS)
    assert seen.checks >= {"not_a_server_error", "response_schema_conformance", "ignored_auth"}
    assert {200, 302, 400, 401, 405} <= seen.statuses
    assert max(seen.statuses) < 500
