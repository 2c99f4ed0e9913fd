"""Holds what every report of a comparison says; its JSON Schema is made from these records."""

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct, structs

from understudy.drift.causes import NOTED, Fault
from understudy.drift.documents.changes import Audience


class SeenEntry(Struct, frozen=True, kw_only=True):
    """An entry of a report, as a history and a baseline know it.

    Attributes:
        fingerprint: A hash that the same entry has in every run.
        first_seen: When a run first saw it, in UTC; empty without a history.
        last_seen: When a run before this one last saw it; empty if none did.
        is_accepted: True if the baseline accepts it today.
    """

    fingerprint: str
    first_seen: str = ""
    last_seen: str = ""
    is_accepted: bool = False


class ReportedDifference(SeenEntry, frozen=True):
    """One aspect of a response that differs between two deployments.

    Attributes:
        request: The operation and the caller.
        aspect: The name of the aspect, such as status or a member.
        deployment: Its value at the deployment.
        other: Its value at the other one.
        seen: The number of requests that show it.
        commands: A shell script that shows it at the deployment; secrets are variables.
        response: The last response of that script when it was compared.
        other_commands: A shell script that shows it at the other one.
        other_response: The last response of that script when it was compared.
    """

    request: str
    aspect: str
    deployment: str
    other: str
    seen: int
    commands: str
    response: str
    other_commands: str
    other_response: str

    @property
    def summary(self) -> str:
        """One line for lists and annotations."""
        times = f" ({self.seen} times)" if self.seen > 1 else ""
        return f"{self.request}: {self.aspect} {self.deployment}; the other {self.other}{times}"


class ReportedCause(Struct, frozen=True):
    """Differences with one cause.

    Attributes:
        fault: A rule is broken at the deployment or at the other one, their documents differ, the
            contract is silent, nothing explains it, the deployment breaks a rule in one of its two
            runs alone, or it does as was learnt and the mock has no switch for that.
        rule: Name of the rule, of the change of the documents, or what differs.
        statement: The rule, or what the contract leaves open, in one sentence; may be empty.
        readings: What each of the two does where the contract is silent; else empty.
        differences: The differences.
    """

    fault: Fault
    rule: str
    statement: str
    readings: list[str]
    differences: list[ReportedDifference]


class ReportedFact(SeenEntry, frozen=True):
    """A fact that no longer holds at the deployment.

    Attributes:
        rule: The rule that leaves the question open.
        question: The rule in one sentence.
        before: The reading that was learnt.
        now: The reading that two runs have shown.
        learnt: The day on which it was learnt, as YYYY-MM-DD.
        request: The operation and the caller of the last request that shows it.
        commands: A shell script that shows it; secrets are variables.
        response: The last response of that script.
    """

    rule: str
    question: str
    before: str
    now: str
    learnt: str
    request: str
    commands: str
    response: str

    @property
    def summary(self) -> str:
        """One line for lists and annotations."""
        return f"{self.rule}: now {self.now}, was {self.before} when learnt on {self.learnt}"


class ReportedChange(SeenEntry, frozen=True):
    """One change between two documents.

    Attributes:
        kind: Its kind.
        operation: The operation.
        place: The part of the operation; empty for all of it.
        member: Path of the member in a body; empty for the whole.
        before: The value in the older document; may be empty.
        after: The value in the newer document; may be empty.
        breaks: The clients that it breaks: those that send, those that read, or none.
        pointer: JSON pointer of the place, in the newer document unless it is gone there.
        summary: The change in one line.
    """

    kind: str
    operation: str
    place: str
    member: str
    before: str
    after: str
    breaks: list[Audience]
    pointer: str
    summary: str


class ReportedDocuments(Struct, frozen=True):
    """The changes between two documents.

    Attributes:
        old: Name or file of the older document.
        new: Name or file of the newer document.
        changes: The changes, those first that break clients.
    """

    old: str
    new: str
    changes: list[ReportedChange]


ReportedEntry = ReportedDifference | ReportedFact | ReportedChange


class DriftReport(Struct, frozen=True):
    """The differences between two deployments, and between their documents.

    Attributes:
        deployment: Base URL of the deployment; empty where only documents were compared.
        other: Base URL of the other one, or the mock; empty as above.
        requests: The number of requests that were compared.
        causes: The differences by their causes.
        documents: The documents that were compared.
        not_compared: What was not compared, and why, in one line each.
        not_checked: Rules that could have been checked in every run and were not, with the reason
            in one line for each reason.
        stopped: Why runs ended early, in one line each.
        not_restored: One line for each change that could not be undone.
        changed_facts: The facts that no longer hold at the deployment.
        version: Version of this format.
    """

    deployment: str
    other: str
    requests: int
    causes: list[ReportedCause]
    documents: list[ReportedDocuments]
    not_compared: list[str]
    not_checked: list[str]
    stopped: list[str]
    not_restored: list[str]
    changed_facts: list[ReportedFact] = []
    version: Literal[2] = 2

    @property
    def entries(self) -> Iterator[ReportedEntry]:
        """Every difference and every change, each with a fingerprint."""
        yield from self.changed_facts
        for cause in self.causes:
            yield from cause.differences
        for documents in self.documents:
            yield from documents.changes

    @property
    def findings(self) -> list[ReportedEntry]:
        """The entries that a deployment can be blamed for, and that no baseline accepts."""
        return [entry for entry in self._of_kind(is_finding=True) if not entry.is_accepted]

    @property
    def notes(self) -> list[ReportedEntry]:
        """The entries that the contract leaves open, that one run shows, or that break no client."""
        return [entry for entry in self._of_kind(is_finding=False) if not entry.is_accepted]

    def _of_kind(self, *, is_finding: bool) -> Iterator[ReportedEntry]:
        yield from self.changed_facts if is_finding else ()
        for cause in self.causes:
            if cause.fault != "learnt" and (cause.fault not in NOTED) == is_finding:
                yield from cause.differences
        for documents in self.documents:
            yield from (it for it in documents.changes if bool(it.breaks) == is_finding)

    def with_entries(self, change: Callable[[ReportedEntry], ReportedEntry]) -> "DriftReport":
        """Returns the report with every entry changed."""
        return structs.replace(
            self,
            changed_facts=[change(it) for it in self.changed_facts],
            causes=[
                structs.replace(cause, differences=[change(it) for it in cause.differences])
                for cause in self.causes
            ],
            documents=[
                structs.replace(pair, changes=[change(it) for it in pair.changes])
                for pair in self.documents
            ],
        )
