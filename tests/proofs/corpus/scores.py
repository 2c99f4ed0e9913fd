"""Counts what a mock did with the corpus: started, conformed, refused for the reason, failed."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import httpx
from tests.proofs.corpus.cases import CorpusDocument
from tests.proofs.corpus.judge import REFUSALS, Judge, refusal_fault
from tests.proofs.corpus.mocks import NotStartedError, Send

_FAILURE = 500
_NOT_IMPLEMENTED = 501

Serve = Callable[[CorpusDocument], AbstractContextManager[Send]]
"""Serves a document while its context is open."""


@dataclass
class Score:
    """The counts of one mock.

    Attributes:
        documents: Documents that were tried.
        started: Documents that it served.
        valid: Valid requests to documents, served or not.
        conforming: Those whose response conforms.
        invalid: Invalid requests, whether the document was served or not.
        refused: Those that were refused.
        named: Those whose refusal names the reason.
        failures: Responses of 5xx that no document asks for, and connections that were cut.
        faults: Every fault, in words.
    """

    documents: int = 0
    started: int = 0
    valid: int = 0
    conforming: int = 0
    invalid: int = 0
    refused: int = 0
    named: int = 0
    failures: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def reaches_goals(self) -> bool:
        """True if 98 % start, 99 % conform, 95 % are refused for their reason, and none fails."""
        return (
            self.started >= 0.98 * self.documents
            and self.conforming >= 0.99 * self.valid
            and self.named >= 0.95 * self.invalid
            and self.failures == 0
        )


def score(documents: Sequence[CorpusDocument], serve: Serve) -> Score:
    """Sends the corpus to a mock, and judges every response."""
    total = Score()
    for document in documents:
        total.documents += 1
        total.valid += sum(request.is_valid for request in document.requests)
        total.invalid += sum(not request.is_valid for request in document.requests)
        try:
            with serve(document) as send:
                responses = send(document.requests)
        except NotStartedError as error:
            total.faults.append(f"{document.path.stem}: not started: {error}")
            continue
        total.started += 1
        _count(total, document, responses)
    return total


def _count(
    total: Score, document: CorpusDocument, responses: Sequence[httpx.Response | str]
) -> None:
    judge = Judge(document)
    for request, response in zip(document.requests, responses, strict=True):
        if isinstance(response, str):
            fault = response
            total.failures += 1
        elif request.is_valid:
            fault = "; ".join(judge.faults(request, response))
            total.conforming += not fault
        else:
            fault = refusal_fault(request, response)
            total.refused += response.status_code in {*REFUSALS, request.status}
            total.named += not fault
        if not isinstance(response, str) and response.status_code >= _FAILURE:
            total.failures += response.status_code != (request.status or _NOT_IMPLEMENTED)
        if fault:
            total.faults.append(f"{document.path.stem}: {request.method} {request.target}: {fault}")
