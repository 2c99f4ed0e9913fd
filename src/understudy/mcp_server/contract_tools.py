"""Tools about the contract itself: the judgement of an exchange, and edge cases of an operation."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from understudy.mcp_server.messages import (
    AgentRequest,
    AgentResponse,
    CheckedExchange,
    ContractFinding,
    EdgeCase,
    EdgeCases,
)
from understudy.mcp_server.request_tools import content, outgoing
from understudy.mcp_server.session_worlds import ToolContext, world_of
from understudy.mcp_server.world_tools import World

MOST_CASES = 20
"""Edge cases in a result."""

Operation = Annotated[str, Field(description="The operationId, such as getProfile.")]
Kind = Annotated[
    Literal["all", "valid", "invalid"],
    Field(
        description="What the contract accepts, what it refuses, or both and what it leaves open."
    ),
]
Count = Annotated[int, Field(ge=1, le=MOST_CASES, description="Number of cases.")]
Seed = Annotated[int, Field(description="Another seed, other cases.")]


def contract_tools(document: Path | None) -> tuple[Callable[..., Any], ...]:
    """Returns the tools that go by a document.

    Args:
        document: The document in force instead of the bundled one.
    """

    def check_exchange(
        ctx: ToolContext, request: AgentRequest, response: AgentResponse, world: World = None
    ) -> CheckedExchange:
        """Judges a response by the OpenAPI document and every rule of the contract; nothing is sent.

        Give the response of an implementation, of a stub, or of a test's fixture. Links in it are compared
        with the addresses of the world, tokens with those of the bundled people.
        """
        # the judge takes a second to import, which no other tool waits for
        from understudy.api import exchange_checking  # noqa: PLC0415 - see above
        from understudy.exchange import messages  # noqa: PLC0415 - belongs to it

        chosen = world_of(ctx, world)
        sent = outgoing(request, chosen)
        judgement = exchange_checking.check_exchange(
            messages.Request(
                sent.method, str(sent.url), messages.headers_of(sent.headers.items()), sent.read()
            ),
            messages.Response(response.status, _headers(response), _body(response)),
            base_url=chosen.base_url,
            auth_url=chosen.auth_url,
            document=document,
        )
        if judgement.internal_errors:
            msg = f"A check failed itself: {judgement.internal_errors[0]}; please report this exchange."
            raise ToolError(msg)
        findings = [finding for finding in judgement.findings if not finding.is_note]
        return CheckedExchange(
            operation=judgement.operation,
            is_right=not findings,
            findings=[_finding(finding) for finding in findings],
            notes=[_finding(finding) for finding in judgement.findings if finding.is_note],
            passed=list(judgement.passed),
        )

    def edge_cases(
        operation: Operation, kind: Kind = "all", count: Count = 5, seed: Seed = 0
    ) -> EdgeCases:
        """Generates requests that try an operation at its edges, each with the response that the contract expects."""
        from understudy.cases import selection  # noqa: PLC0415 - takes long to import
        from understudy.cases.test_data import TestData  # noqa: PLC0415 - belongs to it

        cases = selection.edge_cases(
            operation, kind=kind, count=count, seed=seed, document=document
        )
        secrets = TestData().secrets
        return EdgeCases(cases=[_edge_case(case, secrets) for case in cases])

    return check_exchange, edge_cases


def _headers(response: AgentResponse) -> tuple[tuple[str, str], ...]:
    named = {name.lower(): text for name, text in response.headers.items()}
    return tuple({"content-type": "application/json", **named}.items())


def _body(response: AgentResponse) -> bytes:
    if response.json_body is not None:
        return orjson.dumps(response.json_body)
    return content(response.body, response.body_base64) or b""


def _finding(finding: Any) -> ContractFinding:
    return ContractFinding(
        rule=finding.rule.id,
        statement=finding.rule.statement,
        expected=finding.expected,
        actual=finding.actual,
    )


def _edge_case(case: Any, secrets: Any) -> EdgeCase:
    set_up = case.set_up
    return EdgeCase(
        id=case.id,
        description=case.description,
        kind=case.kind,
        request=_request(case.request.filled(secrets)),
        statuses=list(case.expected.statuses),
        because=case.expected.because,
        set_up=None if set_up is None else _request(set_up.request.filled(secrets)),
        replace=None
        if set_up is None
        else f"~~{set_up.variable}~~ by {set_up.member} of the response to set_up",
    )


def _request(request: Any) -> AgentRequest:
    text, encoded = None, None
    if request.body is not None:
        try:
            text = request.body.decode()
        except UnicodeDecodeError:
            encoded = base64.b64encode(request.body).decode()
    return AgentRequest(
        method=request.method,
        path=request.target,
        site=request.site,
        headers=dict(request.headers),
        body=text,
        body_base64=encoded,
    )
