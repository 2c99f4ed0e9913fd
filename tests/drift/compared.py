"""A report for tests: a deployment with two other readings, a changed fact, and another document."""

from datetime import UTC, datetime
from pathlib import Path

from tests.drift.documents.edits import DOCUMENTS, EDITS
from tests.proofs.drifting import ELSEWHERE, deployment

from understudy.drift.documents.sources import ComparedDocuments, DocumentsOfRun, document_changes
from understudy.drift.drift_report import DriftReport
from understudy.drift.gathering import report_of_run
from understudy.drift.mock_beside import drift
from understudy.interface.facts import Fact, Facts
from understudy.openapi.loader import document_of, load
from understudy.record.personal_values import PersonalValues
from understudy.record.pseudonyms import Pseudonyms
from understudy.verify.run import RunOptions

CHOICES = {"avatar-delete-status": "200", "private-profile-lookup": "404"}
RULES = ("avatar-delete-status", "profile-private")
CHANGED = "qr-unknown-hash"
LEARNT = Facts(
    "https://staging.example/v3",
    "2026-10-01",
    1,
    (Fact(CHANGED, "404", (), 1, "2026-10-01"),),
    (),
)


def compared_report() -> DriftReport:
    options = RunOptions(rules=(*RULES, CHANGED))
    result = drift(deployment(choices=CHOICES), deployment(), options, facts=[LEARNT])
    edit = next(it for it in EDITS if it.title == "a member of a response has one value more")
    changed = document_of(edit.after(), Path("changed.yaml"))
    changes = document_changes(load(DOCUMENTS["service"]), changed)
    documents = DocumentsOfRun((ComparedDocuments("ours", "theirs", changes),))
    names = ("https://staging.example/v3", "the mock")
    return report_of_run(result, documents, names, ELSEWHERE.secrets(), personal_values())


def personal_values() -> PersonalValues:
    target = deployment().target
    personal = PersonalValues(Pseudonyms(bytes(32), target, datetime(2026, 11, 22, tzinfo=UTC)))
    personal.know(target)
    return personal
