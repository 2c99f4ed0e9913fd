"""The tools for worlds, for requests to the mock and their explanation, and for the contract."""

import base64
import binascii
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import httpx
import orjson
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from understudy.mcp_server.messages import (
    AgentRequest,
    AgentResponse,
    CheckedExchange,
    ContractFinding,
    CreatedWorld,
    EdgeCase,
    EdgeCases,
    ExercisedParts,
    Explanation,
    IssuedToken,
    KnownPeople,
    KnownPerson,
    SentRequest,
    SetFaults,
    UnusedParts,
    WorldClock,
)
from understudy.mcp_server.session_worlds import ToolContext, session_of, world_of
from understudy.mock.server.worlds import PREFIX
from understudy.testing.world import JsonObject, MockWorld

LISTED_PEOPLE = 20
"""Most people in a result; a world may have thousands."""

World = Annotated[
    str | None, Field(description="Name of the world; null for the world of this session.")
]


def _given(**options: Any) -> dict[str, Any]:
    """Returns the options that are not None."""
    return {name: option for name, option in options.items() if option is not None}


def create_world(
    ctx: ToolContext,
    people: Annotated[
        list[str] | None, Field(description="Slugs of the people to keep; null for all.")
    ] = None,
    seed: Annotated[
        int | None, Field(description="Same seed and requests, same identifiers and responses.")
    ] = None,
    choices: Annotated[
        dict[str, str] | None,
        Field(description="Other readings of the contract: switch to option, rate-limits=off."),
    ] = None,
) -> CreatedWorld:
    """Creates a fresh world: people, tokens, clock, faults and journal of its own.

    It replaces the world of this session, and ends with it. Point the application under test at base_url.
    """
    options = _given(people=people, seed=seed, choices=choices)
    world = ctx.request_context.lifespan_context.create(session_of(ctx), **options)
    return CreatedWorld(
        world=world.name,
        base_url=world.base_url,
        auth_url=world.auth_url,
        header=world.header,
        people=[person["slug"] for person in world.people[:LISTED_PEOPLE]],
        people_count=len(world.people),
    )


def list_people(
    ctx: ToolContext,
    slug: Annotated[
        str | None, Field(description="Only this person; null for the first 20.")
    ] = None,
    world: World = None,
) -> KnownPeople:
    """Lists people with their tokens, user names and passwords, and OAuth applications."""
    chosen = world_of(ctx, world)
    people = [person for person in chosen.people if slug in {None, person["slug"]}]
    return KnownPeople(
        people=[_person(person, chosen) for person in people[:LISTED_PEOPLE]],
        count=len(chosen.people),
        applications=chosen.applications,
    )


def _person(person: JsonObject, world: MockWorld) -> KnownPerson:
    email = next((it for it in person["emails"] if it["primary"]), person["emails"][0])
    tokens = [token for token in world.tokens if token["person"] == person["slug"]]
    return KnownPerson(
        slug=person["slug"],
        display_name=person["display_name"],
        email=email["email"],
        hash=email["hash"],
        about=person["about"] or "",
        username=person.get("username"),
        password=person.get("password"),
        tokens=[f"{it['token']} ({it['kind']}: {' '.join(it['scopes'])})" for it in tokens],
    )


def issue_token(
    ctx: ToolContext,
    person: Annotated[str, Field(description="Slug of the person; list_people lists them.")],
    scopes: Annotated[list[str] | None, Field(description="Scopes to grant; null for all.")] = None,
    expires_in: Annotated[
        int | None, Field(description="Lifetime in seconds of the world's time; null for none.")
    ] = None,
    kind: Annotated[str, Field(description="oauth or api_key.")] = "oauth",
    world: World = None,
) -> IssuedToken:
    """Issues a bearer token for a person, without a sign-in."""
    body = _given(person=person, kind=kind, scopes=scopes, expires_in=expires_in)
    issued = world_of(ctx, world).admin.call("POST", "/tokens", json=body)
    return IssuedToken(
        token=issued["token"],
        person=issued["person"],
        scopes=issued["scopes"],
        expires=issued.get("expires"),
    )


def set_clock(
    ctx: ToolContext,
    now: Annotated[
        str | None, Field(description="The time to show, in ISO 8601 with an offset.")
    ] = None,
    advance_seconds: Annotated[float, Field(description="Seconds to move forward.")] = 0,
    frozen: Annotated[
        bool | None, Field(description="Whether the clock stands still; null leaves it.")
    ] = None,
    world: World = None,
) -> WorldClock:
    """Moves or stops the world's clock, so that tokens expire and rate limits renew. Without arguments it only reads it."""
    admin = world_of(ctx, world).admin
    changes = _given(now=now, frozen=frozen)
    if changes:
        admin.call("PUT", "/clock", json=changes)
    if advance_seconds:
        admin.call("POST", "/clock/advance", json={"seconds": advance_seconds})
    clock = admin.call("GET", "/clock")
    return WorldClock(now=clock["now"], frozen=clock["frozen"])


def set_faults(
    ctx: ToolContext,
    faults: Annotated[
        list[dict[str, Any]] | None,
        Field(
            description="The faults that there are then; an empty list lifts all, null keeps them. Members, each optional: operation"
            " (operationId), person, times, share (0 to 1), delay (as {type: fixed, milliseconds: 500}), status, effect (reset, truncate, slow,"
            " malformed-json, wrong-content-type, missing-field, null-field, wrong-type, extra-field, stale-field,"
            " fail-after), field, seconds."
        ),
    ] = None,
    stubs: Annotated[
        list[dict[str, Any]] | None,
        Field(
            description="Responses in place of the mock's own, which the document must allow; null keeps them. Members: operation,"
            " when (path, query, header, body, person), response (status, headers, body, or merge, which changes"
            " members of the mock's own body; of a stream events, interval in seconds, then (end or stay);"
            " or a list, sent in order), times, delay, before_validation, allow_invalid."
        ),
    ] = None,
    world: World = None,
) -> SetFaults:
    """Replaces the injected failures and the stubs of the world: statuses, delays, broken connections, bodies."""
    admin = world_of(ctx, world).admin
    wanted = _given(**{"/faults": faults, "/stubs": stubs})
    earlier = [f"{path}/{it['id']}" for path in wanted for it in admin.call("GET", path)]
    with ExitStack() as undoing:  # if one is refused, the earlier faults and stubs are kept
        for path, bodies in wanted.items():
            for body in bodies:
                made = admin.call("POST", path, json=body)
                undoing.callback(admin.call, "DELETE", f"{path}/{made['id']}")
        undoing.pop_all()
    for place in earlier:
        admin.call("DELETE", place)
    return SetFaults(faults=admin.call("GET", "/faults"), stubs=admin.call("GET", "/stubs"))


SHOWN: Final = 4000
"""Most characters of a body in a result, as an agent pays for each."""

SECONDS: Final = 90
"""Timeout of a request, above the longest delay of a fault."""

_SHOWN_HEADERS: Final = frozenset(
    {"allow", "content-length", "content-type", "location", "retry-after", "www-authenticate"}
)
_SHOWN_PREFIXES: Final = ("x-mock-", "x-ratelimit-", "ratelimit-", "x-rate-limit-")


def send_request(ctx: ToolContext, request: AgentRequest, world: World = None) -> SentRequest:
    """Sends a request to the mock and returns the response; redirects are not followed."""
    prepared = outgoing(request, world_of(ctx, world))
    transport = ctx.request_context.lifespan_context.transport
    # the client is not closed, as this would close the connections of other requests
    client = httpx.Client(transport=transport, timeout=SECONDS, trust_env=False)
    try:
        response = client.send(prepared)
    except httpx.HTTPError as error:
        msg = f"No response: {str(error) or type(error).__name__}. A fault may have reset it; set_faults with an empty list lifts all."
        raise ToolError(msg) from error
    text = _text(response)
    headers = {
        name: value
        for name, value in response.headers.items()
        if name in _SHOWN_HEADERS or name.startswith(_SHOWN_PREFIXES)
    }
    return SentRequest(
        url=str(prepared.url),
        status=response.status_code,
        headers=headers,
        body=text[:SHOWN],
        is_cut=len(text) > SHOWN,
    )


def outgoing(request: AgentRequest, world: MockWorld) -> httpx.Request:
    """Builds the HTTP request to a world.

    Raises:
        ToolError: The request has two bodies, or a part of it is not base64 or not a valid header.
    """
    bodies = (request.json_body, request.body, request.body_base64, request.files or None)
    if sum(body is not None for body in bodies) > 1:
        msg = "A request has one body: give json_body, body, body_base64 or files."
        raise ToolError(msg)
    base = world.base_url if request.site == "resource" else world.auth_url
    headers = dict(request.headers)
    if request.token is not None:
        headers["Authorization"] = f"Bearer {request.token}"
    files = [(name, ("upload", decoded(text))) for name, text in request.files.items()]
    try:
        return httpx.Request(
            request.method.upper(),
            base + path_below(base, request.path),
            headers=headers,
            json=request.json_body,
            content=content(request.body, request.body_base64),
            files=files or None,
        )
    except (httpx.InvalidURL, UnicodeEncodeError) as error:
        msg = f"The request cannot be sent: {error}. Percent-encode the path, and use ASCII in headers."
        raise ToolError(msg) from error


def path_below(base: str, path: str) -> str:
    """Returns a path below the base URL, also for a path with the base path and for a whole URL.

    Args:
        base: The base URL, whose path ends with that of the document, such as ``/__world/w/v3``.
        path: The path or URL from the agent.
    """
    site, whole = urlsplit(base), urlsplit(path)
    if whole.netloc:
        path = path.partition(whole.netloc)[2]
    own = site.path.rstrip("/")
    served = own.removeprefix(PREFIX).partition("/")[2] if own.startswith(PREFIX) else own
    for prefix in filter(None, (own, f"/{served}".replace("//", "/").rstrip("/"))):
        if path == prefix or path.startswith((f"{prefix}/", f"{prefix}?")):
            return path.removeprefix(prefix)
    return path


def content(text: str | None, encoded: str | None) -> bytes | None:
    """Returns the bytes of a body that is text or base64; None without one."""
    if text is not None:
        return text.encode()
    return None if encoded is None else decoded(encoded)


def decoded(text: str) -> bytes:
    """Decodes base64.

    Raises:
        ToolError: The text is not base64.
    """
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        msg = f"{text[:40]!r} is not base64 ({error}); text goes into `body`."
        raise ToolError(msg) from error


def _text(response: httpx.Response) -> str:
    kind = response.headers.get("content-type", "")
    try:
        return response.content.decode()
    except UnicodeDecodeError:
        return f"({len(response.content)} bytes of {kind or 'no type'})"


def explain_request(
    ctx: ToolContext,
    request_id: Annotated[
        int | None, Field(description="Id in the journal; null for the latest that matches.")
    ] = None,
    operation: Annotated[str | None, Field(description="Only this operationId.")] = None,
    status: Annotated[
        str | None, Field(description="Only this status, or class such as 4XX.")
    ] = None,
    world: World = None,
) -> Explanation:
    """Explains why the mock responded as it did: to the latest request, or to the latest one that matches.

    Requests of the application under test count as well as those of send_request.
    """
    chosen = world_of(ctx, world)
    admin = chosen.admin
    if request_id is None:
        wanted = _given(limit=1, operation=operation, status=status)
        latest = admin.call("GET", "/requests", params=wanted)["requests"]
        if not latest:
            msg = "No request of this world matches; send one with send_request, or drop a filter."
            raise ToolError(msg)
        request_id = latest[0]["id"]
    return _explanation(admin.call("GET", f"/requests/{request_id}"), chosen.base_url)


def _test_of(entry: JsonObject, base: str) -> str:
    """Returns a pytest test that sends the request of an exchange again, and expects its status."""
    # both take long to import
    from understudy.exchange.curl import call_arguments  # noqa: PLC0415 - see above
    from understudy.exchange.masking import MASK  # noqa: PLC0415 - see above
    from understudy.exchange.messages import Request  # noqa: PLC0415 - see above

    request = entry["request"]
    kept = (
        (name, text.replace(MASK, "a-token"))
        for name, text in request["headers"].items()
        if name in {"accept", "content-type"} or MASK in text
    )
    sent = Request(
        request["method"],
        (base + path_below(base, request["url"])).replace(MASK, "a-token"),
        tuple(kept),
        base64.b64decode(request.get("bodyAsBase64") or ""),
    )
    variables = {base: "BASE_URL", "a-token": "TOKEN"}
    name = re.sub(r"\W+", "_", (entry.get("operation") or "request").lower())
    return (
        "import os\n\nimport httpx\n\n\n"
        f"def test_{name}_is_{entry['response']['status']}():\n"
        f"    response = httpx.request({call_arguments(sent, variables)})\n"
        f"    assert response.status_code == {entry['response']['status']}, response.text\n"
    )


def _explanation(entry: JsonObject, base: str) -> Explanation:
    why, request = entry["explanation"], entry["request"]
    refusal = why.get("refusal") or {}
    breach = refusal.get("breach") or {}
    operation = why.get("operation") or {}
    scopes = f"; scopes {' '.join(why['scopes'])}" if why["scopes"] else ""
    return Explanation(
        id=entry["id"],
        request=f"{request['method']} {request['url']}",
        status=entry["response"]["status"],
        operation=operation.get("id"),
        identity=f"{why['person'] or 'anonymous'} ({why['identity']}{scopes})",
        refusal=refusal.get("message"),
        where=breach.get("where"),
        expected=breach.get("expected"),
        document=breach.get("document") or operation.get("document"),
        rules=[f"{rule['id']}: {rule['statement']}" for rule in why["rules"]],
        fault=why["fault"],
        stub=entry["stub"],
        notes=why["notes"],
        test=_test_of(entry, base),
    )


def exercised(ctx: ToolContext, world: World = None) -> ExercisedParts:
    """Tells which statuses and identities of each operation the world's requests have not used yet."""
    report = world_of(ctx, world).admin.call("GET", "/exercised")
    parts = [
        UnusedParts(
            operation=operation["operation"],
            requests=operation["requests"],
            never=[part for part, is_used in operation["parts"].items() if not is_used],
        )
        for operation in report["operations"]
    ]
    return ExercisedParts(
        exercised=report["exercised"],
        declared=report["declared"],
        operations=[part for part in parts if part.never],
    )


MOST_CASES = 20
"""Most edge cases in a result."""

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
    """Returns the tools that need a document.

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
        # the evaluator takes a second to import, which other tools need not wait for
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
        actual=finding.received,
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
