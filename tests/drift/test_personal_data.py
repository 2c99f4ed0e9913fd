"""No report of a comparison shows what people have on their profiles."""

from io import StringIO
from typing import Any

import httpx
import orjson
import pytest
from rich.console import Console
from tests.drift.compared import personal_values
from tests.proofs.drifting import ELSEWHERE, deployment
from tests.record.canaries import CANARY, Flock
from tests.verify.exchanges import exchange_of

from understudy.drift.documents.sources import DocumentsOfRun
from understudy.drift.drift_report import DriftReport, report_of
from understudy.drift.gathering import report_of_run
from understudy.drift.mock_beside import drift
from understudy.exchange.messages import Response
from understudy.reports.formats import FORMATS
from understudy.reports.terminal import print_report
from understudy.verify.run import RunOptions

RULES = ("profile-patch-seven-fields", "optional-fields-omitted", "avatar-list-of-caller")


class Canaries:
    """Answers with a canary in every text of a profile, and in a member that nothing declares."""

    def __init__(self) -> None:
        self.profile = _named(Flock().profile())
        self.profile["tagline"] = f"{CANARY} undeclared's"

    def __call__(self, request: httpx.Request, send: Any) -> httpx.Response:
        response: httpx.Response = send(request)
        if request.method != "GET" or not response.is_success:
            return response
        if request.url.path.endswith(("/me/profile", "/profiles/ada")):
            return httpx.Response(200, json=self.profile)
        if request.url.path.endswith("/me/avatars"):
            listed = [{**each, "alt_text": f"{CANARY} ümlaut"} for each in response.json()]
            return httpx.Response(200, content=orjson.dumps(listed))
        return response


def _named(value: Any) -> Any:
    """Returns a value without the members that are named by a canary, as names are shown."""
    if isinstance(value, list):
        return [_named(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _named(member) for name, member in value.items() if CANARY not in name}


@pytest.fixture(scope="module")
def report() -> DriftReport:
    ours = deployment(Canaries())
    result = drift(ours, deployment(), RunOptions(rules=RULES))
    names = ("https://staging.example/v3", "the mock")
    secrets = ELSEWHERE.secrets()
    return report_of_run(result, DocumentsOfRun(()), names, secrets, personal_values())


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"har"}))
def test_no_format_has_a_value_of_a_person(report: DriftReport, name: str) -> None:
    text = FORMATS[name](report_of(report))
    assert report.causes
    assert CANARY not in text


def test_the_terminal_has_none_either(report: DriftReport) -> None:
    file = StringIO()
    print_report(Console(file=file, width=200), report_of(report), is_verbose=True)
    assert CANARY not in file.getvalue()
    assert "Merrowdale" not in file.getvalue()


def test_what_a_command_needs_stays_and_an_address_has_the_pseudonym_of_recordings() -> None:
    personal = personal_values()
    token = ELSEWHERE.credentials.access_token
    text = f"curl /profiles/ada -H 'Authorization: Bearer {token}' # ada@example.com, Canada"
    hidden = personal.hidden(text)
    address = personal.pseudonyms.email("ada@example.com")
    assert hidden == text.replace("ada@example.com", address)


def test_of_a_body_that_no_report_shows_only_the_length_is_kept() -> None:
    long = Response(200, (("content-type", "application/json"),), b"[%s]" % (b"1," * 300_000))
    hidden = personal_values().hidden_exchange(exchange_of("/me/profile", response=long))
    assert hidden.response == Response(200, long.headers, b"(600002 characters)")
