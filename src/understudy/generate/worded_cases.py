"""Writes cases in the words of a deployment that uses others than the interface."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from understudy.cases.model import Case, CaseRequest
from understudy.exchange.messages import headers_of, media_type
from understudy.verify.wording import Wording


def worded(cases: Iterable[Case], wording: Wording | None) -> Iterable[Case]:
    """Returns cases in the words of a deployment; as they are where it has none of its own."""
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
