"""Judges one exchange by the document and every rule; nothing is sent."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import Exchange, Request, Response
from understudy.openapi.loader import load
from understudy.verify.clock import machine_time
from understudy.verify.findings import Finding
from understudy.verify.run import evaluated, evaluator_of, routes_of
from understudy.verify.shapes import bundled


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of one exchange.

    Attributes:
        operation: Method and path template of its operation; empty if none matches.
        findings: The rules that it breaks, and notes on assumptions that do not hold.
        passed: Ids of the rules that it keeps.
        internal_errors: Failures of checks themselves.
    """

    operation: str
    findings: tuple[Finding, ...]
    passed: tuple[str, ...]
    internal_errors: tuple[str, ...]


def check_exchange(
    request: Request,
    response: Response,
    *,
    base_url: str,
    auth_url: str,
    document: Path | None = None,
) -> Judgement:
    """Judges a request and its response as an exchange with a deployment that is no mock.

    Args:
        request: The request; its token is compared with those of the bundled people.
        response: The response.
        base_url: Base URL of the resource API.
        auth_url: Base URL of the authorization server.
        document: The OpenAPI document in force instead of the bundled one.

    Raises:
        StartupError: The document cannot be read.
    """
    target = msgspec.structs.replace(TARGET, base_url=base_url, auth_url=auth_url, is_mock=False)
    in_force = bundled("service.yaml") if document is None else load(document)
    place = routes_of(target, in_force).find(request.method, request.url, request.headers)
    exchange = Exchange(
        number=1,
        source="given",
        identity=target.identify(request.token),
        request=request,
        response=response,
        at=machine_time(),
        **place._asdict(),
    )
    evaluator = evaluator_of(target, in_force, ())
    evaluated(evaluator, exchange)
    outcomes = evaluator.outcomes({}, ())
    return Judgement(
        operation=exchange.operation,
        findings=tuple(evaluator.findings),
        passed=tuple(outcome.rule.id for outcome in outcomes if outcome.status == "passed"),
        internal_errors=tuple(evaluator.internal_errors),
    )
