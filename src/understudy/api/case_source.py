"""Collects what generated cases are made of: documents in force, test data, addresses in files."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.api.bundled_target import AUTHORIZATION, SITE, TARGET
from understudy.api.options import DeploymentOptions, expect_document, target_from
from understudy.cases import selection
from understudy.cases.model import Case, CaseRequest
from understudy.cases.plans import Planner
from understudy.cases.test_data import TestData
from understudy.errors import StartupError
from understudy.exchange.messages import headers_of, media_type
from understudy.verify.deployment import named_document, wording_of
from understudy.verify.target import PUBLISHED, data_for_target
from understudy.verify.wording import Wording


@dataclass(frozen=True, slots=True)
class CaseSource:
    """The inputs of generated cases, and how they are sent and translated.

    Attributes:
        planners: The planners of the documents in force.
        test_data: The identifiers and secrets that cases use.
        base_url: Base URL of the resource API, as files name it.
        auth_url: Base URL of the authorization server, as files name it.
        send: Adds outcomes to cases; ``iter`` if nothing is sent.
        wording: Translates cases for files; None if the deployment uses the interface's words.
    """

    planners: tuple[Planner, ...]
    test_data: TestData
    base_url: str
    auth_url: str
    send: Callable[[Iterable[Case]], Iterable[Case]]
    wording: Wording | None = None


def offline_source(options: DeploymentOptions, environment: Mapping[str, str]) -> CaseSource:
    """Returns the source of cases that are only written.

    Args:
        options: The target file for the cases, or the addresses that files are to name.
        environment: Where ``env:NAME`` in a target file is looked up.

    Raises:
        StartupError: A file is not valid, or the document would have to be fetched.
    """
    if options.target_file is None:
        expect_document(options)
        test_data, auth_url = TestData(), options.auth_url or AUTHORIZATION
        planners = selection.planners(options.document, test_data, options.overlays)
        base_url = options.base_url or _base_url_at_mock(options.document, planners[0])
        return CaseSource(planners, test_data, base_url, auth_url, iter)
    target = target_from(options, environment)
    if target.document == PUBLISHED:
        msg = (
            f'{options.target_file}: document = "{PUBLISHED}" is fetched only by --send; '
            "name a file with --document."
        )
        raise StartupError(msg)
    test_data, auth_url = data_for_target(target), target.auth_url or AUTHORIZATION
    document = Path(target.document) if target.document else None
    planners = selection.planners(document, test_data, tuple(map(Path, target.overlays)))
    wording = wording_of(target, named_document(target))
    return CaseSource(planners, test_data, target.base_url, auth_url, iter, wording)


def _base_url_at_mock(document: Path | None, planner: Planner) -> str:
    """Returns the base URL at which a mock serves a document, or else the bundled one."""
    if document is None or (planner.has_interface and not planner.document.base_path):
        return TARGET.base_url
    return SITE + planner.document.base_path


def worded(cases: Iterable[Case], wording: Wording | None) -> Iterable[Case]:
    """Returns cases in the words of a deployment; unchanged if it uses the interface's."""
    return cases if wording is None else _translated(cases, wording)


def _translated(cases: Iterable[Case], wording: Wording) -> Iterator[Case]:
    for case in cases:
        set_up = case.set_up
        yield replace(
            case,
            request=_request(case.request, wording),
            plain=case.plain and _request(case.plain, wording),
            set_up=set_up and set_up._replace(request=_request(set_up.request, wording)),
        )


def _request(request: CaseRequest, wording: Wording) -> CaseRequest:
    body = request.body
    if body is not None:
        body = wording.body(request.path, media_type(headers_of(request.headers)), body)
    return request._replace(query=wording.query(request.path, request.query), body=body)
