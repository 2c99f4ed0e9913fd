"""A service that understudy knows by its document alone, with bugs as people report them of real ones."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import structs

from understudy.api.judging import phases_of
from understudy.api.opening import logged_in, open_deployment
from understudy.api.options import DeploymentOptions
from understudy.cli.exit_codes import ExitCode
from understudy.cli.reporting import ending
from understudy.collections.requests import named_values
from understudy.errors import StartupError
from understudy.exchange.messages import Exchange, Identity, Request, Response
from understudy.openapi.loader import load
from understudy.verify.clock import machine_clock, machine_time
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Finding, Outcome
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.target import Credentials, Target, target_of

BASE = "http://127.0.0.1:9000"
SHELVES = """
openapi: 3.0.3
info: {title: Shelves, version: "1"}
paths:
  /shelves:
    get:
      parameters: [{name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 50}}]
      responses: {"200": {description: ok, content: {application/json: {schema: {type: array}}}}}
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, required: [width], properties: {width: {type: integer}}}
      responses: {"201": {description: ok}}
  /shelves/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
"""


class Shelves:
    """A sound service, whose document names no refusal, as most do not."""

    most = 50
    largest = 2**53

    def respond(self, request: httpx.Request) -> httpx.Response:
        path, method = request.url.path, request.method
        if (path, method) == ("/shelves", "GET"):
            return self.listed(request.url.params.get_list("limit"))
        if (path, method) == ("/shelves", "POST"):
            return self.created(request)
        is_read = method == "GET" and path.startswith("/shelves/")
        return self.read(path.removeprefix("/shelves/")) if is_read else httpx.Response(405)

    def listed(self, limits: list[str]) -> httpx.Response:
        limit = limits[-1] if limits else "10"
        is_whole = limit.lstrip("-").isascii() and limit.lstrip("-").isdigit()
        if is_whole and 1 <= int(limit) <= self.most:
            return httpx.Response(200, json=[])
        return httpx.Response(400, json={"error": "limit"})

    def created(self, request: httpx.Request) -> httpx.Response:
        try:
            body = json.loads(request.content)
        except (ValueError, RecursionError):
            body = None
        width: Any = body.get("width") if isinstance(body, dict) else None
        is_width = isinstance(width, int) and not isinstance(width, bool)
        is_json = request.headers.get("content-type", "").startswith("application/json")
        if not (is_width and is_json) or width < 10:
            return httpx.Response(400, json={"error": "width must be at least 10"})
        return httpx.Response(201, json={"id": 1, "width": width})

    def read(self, name: str) -> httpx.Response:
        if name.isdecimal() and int(name) > self.largest:
            return httpx.Response(500, json={"error": f"Integer {name} is too large to convert"})
        return httpx.Response(404, json={"error": "no such shelf"})


class TakesOneTooMany(Shelves):
    most = 51


class RefusesTheMaximum(Shelves):
    most = 49


class CrashesOnLargeIds(Shelves):
    largest = 2**63 - 1


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "shelves.yaml"
    path.write_text(SHELVES)
    return path


def judged(service: Shelves, document: Path, *, is_whole: bool = False) -> Outcome:
    wire = httpx.MockTransport(service.respond)
    target = Target(base_url=BASE, mode="full", document=str(document))
    deployment = Deployment(target, wire, machine_clock(), document=load(document))
    phases = phases_of(None, deployment.document, is_mock=False)
    return carry_out(deployment, RunOptions(phases=phases if is_whole else phases[:1]))


def judged_with_token(
    service: Shelves, folder: Path, cases: int, token: str = "{token: {type: http, scheme: bearer}}"
) -> Outcome:
    """Returns a run at a service whose document demands a bearer token, which is given."""
    path = folder / "locked.yaml"
    path.write_text(
        f"{SHELVES}security: [{{token: []}}]\ncomponents: {{securitySchemes: {token}}}\n"
    )
    target = Target(base_url=BASE, mode="full", credentials=Credentials(access_token="own"))
    wire = httpx.MockTransport(service.respond)
    deployment = Deployment(target, wire, machine_clock(), document=load(path))
    (catalogue, *_) = phases_of(cases, deployment.document, is_mock=False)
    return carry_out(deployment, RunOptions(phases=(catalogue,)))


def named(findings: tuple[Finding, ...]) -> set[tuple[str, str]]:
    return {(it.rule.id, it.exchange.operation) for it in findings}


def test_a_sound_service_breaks_nothing_and_its_undeclared_refusals_are_one_note_each(document):
    class Large(Shelves):
        largest = 10**400

    outcome = judged(Large(), document)
    assert [it.summary for it in outcome.findings] == []
    undeclared = [it.actual for it in outcome.notes if it.rule.id == "document"]
    assert sorted(set(undeclared)) == sorted(undeclared)
    assert "status 404 is not in the document" in undeclared


def test_a_service_that_knows_no_operation_of_the_document_is_not_judged_by_it(document):
    class Other(Shelves):
        def respond(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(404, text=f"there is no {request.url.path}")

    with pytest.raises(StartupError, match="has no operation of the document: each of"):
        judged(Other(), document)


def test_a_server_may_say_that_it_knows_no_such_method(document):
    class Strict(Shelves):
        unknown = 0

        def respond(self, request: httpx.Request) -> httpx.Response:
            if request.method in {"GET", "POST"}:
                return super().respond(request)
            self.unknown += 1
            return httpx.Response(501)

    service = Strict()
    assert ("answers", "") not in {
        (it.rule.id, it.exchange.operation) for it in judged(service, document).findings
    }
    assert service.unknown


def test_a_bound_that_is_off_by_one_is_found_by_few_requests(document):
    outcome = judged(TakesOneTooMany(), document)
    assert ("generated", "GET /shelves") in named(outcome.findings)
    (found,) = [it for it in outcome.findings if it.rule.id == "generated"]
    assert "limit=51" in found.exchange.request.url
    assert found.exchange.number < 20


def test_a_maximum_that_is_refused_is_found_beside_the_next_value_that_is_accepted(document):
    findings = judged(RefusesTheMaximum(), document).findings
    (found,) = [it for it in findings if it.rule.id == "inferred-bound-accepted"]
    assert found.expected == "limit 50 accepted, as maximum allows it"
    queries = [it.request.url.partition("?")[2] for it in found.steps]
    assert queries == ["limit=49", "limit=50"]


def test_a_crash_is_one_finding_whatever_number_its_message_names(document):
    outcome = judged(CrashesOnLargeIds(), document)
    assert named(outcome.findings) == {("answers", "GET /shelves/{}")}
    assert len(outcome.findings) == 1


def test_an_operation_that_never_answers_is_waited_for_twice_and_the_others_are_judged(document):
    class Hanging(Shelves):
        largest = 10**400
        waits = 0

        def read(self, name: str) -> httpx.Response:
            if "/" in name:
                return httpx.Response(404)
            self.waits += 1
            msg = "it took too long"
            raise httpx.ReadTimeout(msg)

    service = Hanging()
    outcome = judged(service, document, is_whole=True)
    assert service.waits == 2
    (found,) = [it for it in outcome.findings if it.rule.id == "answers"]
    assert found.exchange.operation == "GET /shelves/{}"
    assert outcome.exchanges[-1].number > found.exchange.number


def test_the_key_of_a_service_is_sent_where_its_document_takes_it(tmp_path):
    class Locked(Shelves):
        largest = 10**400

        def respond(self, request: httpx.Request) -> httpx.Response:
            is_open = request.headers.get("x-api-key") == "own-key"
            return super().respond(request) if is_open else httpx.Response(401)

    path = tmp_path / "locked.yaml"
    key = "{type: apiKey, in: header, name: X-Api-Key}"
    path.write_text(
        f"{SHELVES}security: [{{key: []}}]\ncomponents: {{securitySchemes: {{key: {key}}}}}\n"
    )
    (tmp_path / "target.toml").write_text(
        f'base_url = "{BASE}"\n[credentials]\napi_key = "own-key"\n'
    )
    options = DeploymentOptions(tmp_path / "target.toml", document=path)
    opened = open_deployment(options, {})
    opened.close()
    deployment = replace(opened, transport=httpx.MockTransport(Locked().respond))
    (catalogue, *_) = phases_of(1, opened.document, is_mock=False)
    outcome = carry_out(deployment, RunOptions(phases=(catalogue,)))
    assert [it.summary for it in outcome.findings] == []
    created = [it for it in outcome.exchanges if it.request.method == "POST"]
    assert {it.identity.name for it in created if it.response.is_success} == {"owner"}
    without = structs.replace(opened.target, credentials=Credentials())
    locked = carry_out(replace(deployment, target=without), RunOptions(phases=(catalogue,)))
    reasons = {it.reason for it in locked.rules if it.status == "not_checked"}
    refused = "POST /shelves was refused: status 401; [credentials] access_token is not given"
    assert f"/shelves: {refused}" in reasons


def test_a_read_that_needs_no_credential_although_the_document_does_is_found(tmp_path):
    outcome = judged_with_token(Shelves(), tmp_path, 1)
    found = {(it.exchange.operation, it.actual) for it in outcome.findings}
    assert ("GET /shelves", "status 200 without it") in found


def test_a_credential_that_the_document_requires_without_declaring_it_is_not_missed(tmp_path):
    outcome = judged_with_token(Shelves(), tmp_path, 1, "{}")
    assert "status 200 without it" not in {it.actual for it in outcome.findings}


def test_a_run_whose_token_ends_is_not_green(tmp_path):
    class Session(Shelves):
        largest = 10**400
        left = 8

        def respond(self, request: httpx.Request) -> httpx.Response:
            is_own = request.headers.get("authorization") == "Bearer own"
            self.left -= is_own
            return super().respond(request) if is_own and self.left > 0 else httpx.Response(401)

    outcome = judged_with_token(Session(), tmp_path, 20)
    assert outcome.findings == ()
    assert "[credentials] access_token was refused with 401 from request " in outcome.stopped
    assert ending(outcome, frozenset({"findings"}), 0).code == ExitCode.INCOMPLETE


def test_a_bound_is_found_although_each_name_is_taken_once(tmp_path):
    class Named(Shelves):
        largest = 10**400

        def __init__(self) -> None:
            self.names: set[str] = set()

        def created(self, request: httpx.Request) -> httpx.Response:
            made = super().created(request)
            name = json.loads(request.content).get("name") if made.status_code == 201 else None
            if not isinstance(name, str) or len(name) > 40:
                return httpx.Response(400)
            if name in self.names:
                return httpx.Response(409)
            self.names.add(name)
            return httpx.Response(201, json={"id": len(self.names), "name": name, "width": 10})

    path = tmp_path / "named.yaml"
    members = (
        "{name: {type: string, maxLength: 40}, width: {type: integer, minimum: 10, maximum: 20}}"
    )
    path.write_text(
        SHELVES.replace(
            "[width], properties: {width: {type: integer}}", f"[name, width], properties: {members}"
        ).replace(
            '{"201": {description: ok}}', '{"201": {description: ok}, "409": {description: taken}}'
        )
    )
    outcome = judged(Named(), path)
    assert ("generated", "POST /shelves") in named(outcome.findings)


def test_no_hour_bounds_another_service_but_a_limit_that_can_be_chosen(document: Path):
    options = DeploymentOptions(base_url=BASE, document=document)
    deployment = open_deployment(options, {})
    deployment.close()
    assert deployment.allowance.requests == 400
    assert deployment.target.mode == "full"
    chosen = open_deployment(
        DeploymentOptions(base_url=BASE, document=document, max_requests=7), {}
    )
    chosen.close()
    assert chosen.allowance.requests == 7


@pytest.mark.parametrize(
    ("said", "sent", "first"),
    [
        ("width must be at least 10", {"width": 3}, {"width": 10}),
        ('{"detail": "Width is between 1 and 5"}', {"width": 30}, {"width": 5}),
        ("state must be one of 'open', 'shut'", {"state": "a"}, {"state": "open"}),
        ("something is wrong", {"width": 3}, None),
    ],
)
def test_a_refused_creation_is_tried_again_with_what_the_refusal_names(said, sent, first):
    request = Request("POST", f"{BASE}/shelves", (), b"")
    exchange = Exchange(
        1,
        "a",
        Identity("owner", "oauth"),
        request,
        Response(400, (), said.encode()),
        machine_time(),
    )
    assert next(named_values(exchange, sent), None) == first


def logging_in(
    table: dict[str, Any], answer: httpx.Response
) -> tuple[Deployment, list[httpx.Request]]:
    """Returns a deployment that was logged in to, and the requests that it took."""
    sent: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return answer

    target = target_of({"base_url": BASE, "login": table}, {"WORD": "s3same"}, "target.toml")
    deployment = Deployment(target, httpx.MockTransport(respond), machine_clock())
    return logged_in(deployment), sent


@pytest.mark.parametrize(
    ("table", "answer", "body"),
    [
        (
            {"path": "/login", "json": {"password": "env:WORD"}, "token": "data/token"},
            {"data": {"token": "t-1"}},
            b'{"password":"s3same"}',
        ),
        (
            {"path": f"{BASE}/token", "form": {"grant_type": "client_credentials"}},
            {"access_token": "t-1"},
            b"grant_type=client_credentials",
        ),
    ],
)
def test_a_token_is_had_by_a_login_or_a_grant(table, answer, body):
    deployment, (request,) = logging_in(table, httpx.Response(200, json=answer))
    assert (request.method, request.content) == ("POST", body)
    assert deployment.target.credentials.access_token == "t-1"
    assert deployment.target.secrets()["t-1"] == "OWNER_TOKEN"
    assert ("s3same" in deployment.target.secrets()) == ("json" in table)


def test_a_login_that_gives_no_token_says_where_it_was_looked_for():
    with pytest.raises(
        StartupError, match=r"\[login\] POST .*/login answers 401 without a text at"
    ):
        logging_in({"path": "/login"}, httpx.Response(401, json={}))
