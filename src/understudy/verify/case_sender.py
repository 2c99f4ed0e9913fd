"""Sends the catalogue's cases through the gateway: a phase of verify, and `generate --send`.

Cases that the target does not permit are not sent, and their outcome says so. Each response is
judged twice: by the expectation of its case, and by the rules of ``understudy verify``.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from understudy.cases import uploads
from understudy.cases.model import (
    Case,
    CaseRequest,
    ExpectedResponse,
    Mismatch,
    SequenceStep,
    broken_assertions,
    captured,
)
from understudy.cases.plans import Planner
from understudy.cases.selection import in_turn, plans
from understudy.cases.test_data import AVATAR_ID, CODE, TestData
from understudy.errors import StartupError
from understudy.exchange.messages import Exchange, Request
from understudy.interface.operations import DELETE_AVATAR
from understudy.openapi.operations import first_of, operations, security_schemes
from understudy.verify.browsing import code, password_form, post, token_in
from understudy.verify.checks import CheckResult, expect
from understudy.verify.findings import ANSWERS, DOCUMENT, GENERATED
from understudy.verify.history import LEFT_OPEN
from understudy.verify.permits import BudgetSpent, NotPermitted, OutOfTime, Refusal, Unreachable
from understudy.verify.pictures import avatars, upload
from understudy.verify.probe_client import CLIENT_HEADERS, ProbeClient
from understudy.verify.run import GIVE_UP, ItemsForCases, Phase, Run
from understudy.verify.target import data_for_target, named_in_target

SOURCE = "edge case"
AUTHORIZE_PATH = "/oauth2/authorize"

PLAIN = ExpectedResponse(("2XX",), "")
"""The response expected to a plain request: any success, with no reason to judge it by."""

REFUSAL_RULES = frozenset(
    {
        "error-members",
        "error-shape",
        "token-error-shape",
        "token-not-cached",
        "authorize-error-page",
        "authorize-error-redirect",
        "authorize-page-not-framed",
    }
)
"""Rules that also judge every refusal."""

PAGE_SHARE = 4
"""One of this many valid authorization requests is not approved, so that its page is judged."""

ALWAYS = frozenset({ANSWERS.id, DOCUMENT.id})
"""Rules that judge every case: a response arrives, and the document allows it."""

BETWEEN_REQUESTS = ("rate-limit-", "avatar-operations-uncounted")
"""Prefixes of the rules that relate consecutive requests, which edge cases would disturb."""

UNAVAILABLE = (NotPermitted, BudgetSpent, OutOfTime)
"""Refusals to create what cases need, which then go without; ``Unreachable`` ends the run."""

PAUSE = timedelta(seconds=61)
"""Time after which a client that guessed too often may go on (rule guessing-slowed)."""


@dataclass
class CaseSender:
    """Sends cases.

    Attributes:
        run: A run of verify, with its gateway and its evaluator.
        test_data: The deployment's test data; ``prepare`` completes it.
        image_id: The existing avatar that cases use instead of the one of ``test_data``.
        secrets: Current values of the variables; the code is replaced for each case.
        carried: Values that the steps of the current sequence captured, by variable.
        unanswered: Consecutive requests without a response.
        has_response: Whether the deployment responded to a case.
        doubts: By operation, why a 404 of it proves nothing; empty if it can be judged.
        exchange: The exchange of the last case; None if it was not sent or not answered.
        mismatch: How its response differs from the one that the case expects, if it does.
        items: Replaces made-up identifiers by those of existing items; None to keep them.
    """

    run: Run
    test_data: TestData
    image_id: str = ""
    secrets: dict[str, str] = field(default_factory=dict)
    carried: dict[str, str] = field(default_factory=dict)
    unanswered: int = 0
    has_response: bool = False
    doubts: dict[str, str] = field(default_factory=dict)
    exchange: Exchange | None = None
    mismatch: Mismatch | None = None
    items: ItemsForCases | None = None

    @property
    def _probe_client(self) -> ProbeClient:
        return ProbeClient(self.run.gateway, SOURCE)

    def prepare(self) -> TestData:
        """Creates what cases need: an avatar to change, and a token issued to the application.

        Returns:
            The completed test data; what the target does not permit is left as it was.

        Raises:
            StartupError: Nothing responds at the deployment's address.
        """
        if not self.run.has_interface:  # another service has no avatars or client tokens
            self.secrets = dict(self.test_data.secrets)
            return self.test_data
        try:
            self.image_id = self._avatar() or self.test_data.image_id
            secrets = {**self.test_data.secrets, **self._client_token()}
        except Unreachable as error:
            raise self._nothing_responds(error) from error
        self.test_data = replace(self.test_data, image_id=self.image_id, secrets=secrets)
        self.secrets = dict(secrets)
        return self.test_data

    def send(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Sends each case and yields it with its outcome."""
        for case in cases:
            yield replace(case, outcome=self._outcome(case))

    def _outcome(self, case: Case) -> str:
        self.exchange = self.mismatch = None
        if CODE in case.request.variables:
            self.secrets = {**self.test_data.secrets, **self._code()}
        obstacle = self._obstacle(case)
        if obstacle:
            return f"not sent: {obstacle}"
        try:
            exchange = self._sent(case)
        except OutOfTime:
            raise
        except Unreachable as error:
            self.run.report(self.run.evaluator.unanswered(error.exchange, str(error)))
            if not self.has_response:
                raise self._nothing_responds(error) from error
            self.unanswered += 1
            return f"failed: no response from {self._address(case)}, {error}"
        except Refusal as refusal:
            return f"not sent: {refusal}"
        self.unanswered, self.has_response = 0, True
        self.exchange = exchange
        outcome = self._judged(case, exchange)
        return self._judged_step(case.step, exchange, outcome) if case.step else outcome

    def _obstacle(self, case: Case) -> str:
        """Returns why a case cannot be sent, or an empty string."""
        if self.unanswered >= GIVE_UP:
            return f"{GIVE_UP} requests in a row got no response"
        if case.step is not None and case.step.number == 1:
            self.carried.clear()
        if not self.carried.keys() >= set(case.items):
            return "an earlier step of the sequence created no item"
        missing = set(case.request.variables) - {AVATAR_ID, *case.items, *self.secrets}
        if missing:
            return f"the target has no {', '.join(map(named_in_target, sorted(missing)))}"
        if case.request.is_normalised_by_clients:
            return "the HTTP client would normalise its URL"
        return ""

    def _sent(self, case: Case) -> Exchange:
        source = LEFT_OPEN if case.kind == "open" else SOURCE
        exchange = self.run.gateway.send_surely(self._request(case), source)
        is_slowed = exchange.status == HTTPStatus.TOO_MANY_REQUESTS and case.kind == "valid"
        if is_slowed and self.run.gateway.allowance.pause >= PAUSE:
            self.run.gateway.time.wait(PAUSE)
            exchange = self.run.gateway.send(self._request(case), SOURCE)
        if exchange.operation == DELETE_AVATAR and exchange.response.is_success:
            self.image_id = self._avatar() or self.image_id
        return exchange

    def _judged(self, case: Case, exchange: Exchange) -> str:
        if exchange.status == HTTPStatus.TOO_MANY_REQUESTS and case.kind == "valid":
            return "not judged: the deployment slows this caller down (429)"
        mismatch = case.expected.mismatch(exchange.status, exchange.response.header("location"))
        self.mismatch = mismatch
        findings = self._findings(case, exchange)
        if mismatch and not findings and self._is_assumed(case.expected.because):
            return f"not judged: {case.expected.because} is assumed by understudy: {mismatch}"
        reasons = [str(mismatch), *findings] if mismatch else findings
        if reasons:
            return f"failed: {'; '.join(reasons)}"
        doubt = self._doubt(case) if exchange.status == HTTPStatus.NOT_FOUND else ""
        return f"not judged: {doubt}" if doubt else f"passed: {exchange.status}"

    def _judged_step(self, step: SequenceStep, exchange: Exchange, outcome: str) -> str:
        """Returns the outcome of a step, and stores the values that later steps need.

        Args:
            step: The step.
            exchange: Its request and response.
            outcome: The outcome by its status and by the document.
        """
        # an expected refusal, such as 409, has nothing to capture
        is_refused = bool(step.captures) and not exchange.response.is_success
        if outcome.startswith("failed") or is_refused:
            return outcome
        values = captured(step, exchange.body, exchange.response.header("location"))
        self.carried.update(values)
        names = (it.variable for it in step.captures)
        missing = [f"a value for {name}" for name in names if name not in values]
        broken = [*missing, *broken_assertions(step, exchange.body, self.carried)]
        return f"failed: the response does not show: {'; '.join(broken)}" if broken else outcome

    def _doubt(self, case: Case) -> str:
        """Returns why a 404 does not show what the case tests, or an empty text.

        The deployment may lack the operation altogether; then a plain request gets 404 too.
        """
        if case.plain is None:
            return ""
        if case.operation not in self.doubts:
            self.doubts[case.operation] = self._doubt_about_operation(case, case.plain)
        return self.doubts[case.operation]

    def _doubt_about_operation(self, case: Case, request: CaseRequest) -> str:
        plain = replace(case, request=request, kind="valid", expected=PLAIN)
        try:
            is_unknown = request == case.request or self._sent(plain).status == HTTPStatus.NOT_FOUND
        except Refusal as refusal:
            return f"the plain request of {case.operation}, which may get 404 too, is not sent: {refusal}"
        if is_unknown:
            return f"the plain request of {case.operation} is answered with 404 too"
        return ""

    def _address(self, case: Case) -> str:
        target = self.run.deployment.target
        return target.base_url if case.request.site == "resource" else target.auth_url or ""

    def _nothing_responds(self, error: Unreachable) -> StartupError:
        return StartupError(
            f"{error} Start {self.run.deployment.target.base_url}, or name another with --base-url "
            "or --target."
        )

    def _is_assumed(self, because: str) -> bool:
        """Tells whether a reason is an assumption that does not bind the target."""
        evaluator = self.run.evaluator
        rule = evaluator.rules.get(because.removeprefix("rule "))
        is_open = rule is not None and (rule.status == "assumed" or bool(rule.choice))
        return is_open and not evaluator.is_held_to_assumptions

    def _findings(self, case: Case, exchange: Exchange) -> list[str]:
        """Returns the findings of the rules on the last response.

        Prose rules judge well-formed requests; a request that is refused for how it is written is
        judged only by the rules about refusals.
        """
        is_judged_by_prose = case.kind == "valid"
        always = ALWAYS if exchange.response.is_success else ALWAYS | REFUSAL_RULES
        return [
            f"rule {rule}: expected {result.expected}, actual {result.actual}"
            for rule, result in self.run.evaluator.broken
            if rule in always or (is_judged_by_prose and not rule.startswith(BETWEEN_REQUESTS))
        ]

    def _request(self, case: Case) -> Request:
        placed = case.request if self.items is None else self.items.placed(case)
        request = placed.filled({**self.secrets, AVATAR_ID: self.image_id, **self.carried})
        path = request.target
        is_approved = case.kind == "valid" and case.expected.location != "with error"
        is_shown = int(case.id[-1], 16) % PAGE_SHARE == 0
        is_authorization = request.path == AUTHORIZE_PATH and not is_shown
        if is_approved and is_authorization and self._approval:
            path = f"{path}&{self._approval}"
        named = [(name.lower(), text) for name, text in request.headers]
        usual = (it for it in CLIENT_HEADERS if it[0] not in dict(named))
        url = self._address(case).rstrip("/") + path
        return Request(request.method, url, (*usual, *named), request.body or b"")

    @property
    def _approval(self) -> str:
        """Query that approves an authorization request, so that its redirect can be judged."""
        target = self.run.deployment.target
        return (target.application.approve or "") if target.permit.tokens else ""

    def _code(self) -> dict[str, str]:
        """Returns a new authorization code, where the target can approve without a person."""
        if not self._approval or self.run.deployment.target.auth_url is None:
            return {}
        try:
            return {"CODE": code(self._probe_client)}
        except Refusal:
            return {}

    def _avatar(self) -> str | None:
        """Uploads an avatar, where that is permitted, or else returns an existing one."""
        if not self._probe_client.has("owner"):
            return None
        try:
            avatar = upload(self._probe_client, uploads.png()).json_object
        except UNAVAILABLE:
            avatar = {}
        if isinstance(avatar.get("image_id"), str):
            return str(avatar["image_id"])
        try:
            listed = avatars(self._probe_client).body
        except UNAVAILABLE:
            return None
        is_list = isinstance(listed, list) and listed and isinstance(listed[0], dict)
        return str(listed[0].get("image_id")) if is_list else None

    def _client_token(self) -> dict[str, str]:
        app = self.run.deployment.target.application
        named = ("client_id", "client_secret", "username", "password")
        is_complete = all(getattr(app, name) for name in named)
        if not is_complete or self.run.deployment.target.auth_url is None:
            return {}
        try:
            issued = post(self._probe_client, password_form(app))
            return {"CLIENT_TOKEN": token_in(self._probe_client, issued)}
        except UNAVAILABLE:
            return {}


LENIENT: Final = frozenset(
    {"type", "format", "content-type", "additionalProperties", "uniqueItems"}
)
"""Keywords that many good services do not enforce: accepting a breach is a note, not a finding."""


def catalogue_cases(count: int) -> Phase:
    """Returns the phase that sends the first cases of each operation of another service.

    The interface itself gets no cases here: probes and Schemathesis cover its operations.

    Args:
        count: The most cases of each operation.
    """

    def phase(run: Run) -> None:
        if run.has_interface or not operations(run.document):
            return
        target = run.deployment.target
        sender = CaseSender(run, data_for_target(target))
        sender.items = None if run.state is None else run.state.items(run)
        planner = Planner(run.document, "resource", sender.prepare())
        repeated: set[str] = set()
        # what was read before this phase, since the cases may use up the requests
        _repeat_without_credential(run, repeated)
        refusing: set[str] = set()
        cases = in_turn(plans([planner]), count, run.options.seed)
        for case in sender.send(_accessible_first(cases, refusing)):
            if sender.exchange is not None:
                if sender.exchange.status in _FORBIDDEN and case.kind == "valid":
                    refusing.add(case.operation)
                if sender.items is not None:
                    sender.items.take(case, sender.exchange)
                _record(run, case, sender.exchange, sender.mismatch)
            if sender.unanswered >= GIVE_UP:
                return
        _repeat_without_credential(run, repeated)

    return phase


_FORBIDDEN: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


def _accessible_first(cases: Iterable[Case], refusing: Collection[str]) -> Iterator[Case]:
    """Yields the cases of operations that refuse the credential after all others, of which more is learnt.

    Args:
        cases: The cases of all operations, in turn.
        refusing: The operations that have refused a valid case so far; it grows meanwhile.
    """
    later: list[Case] = []
    for case in cases:
        if case.operation in refusing:
            later.append(case)
        else:
            yield case
    yield from later


def _repeat_without_credential(run: Run, repeated: set[str]) -> None:
    """Repeats the owner's successful reads without the credential that the document requires.

    Args:
        run: The run.
        repeated: The operations that were repeated so far; extended.
    """
    schemes = security_schemes(run.document)
    for exchange in list(run.exchanges):
        operation = run.gateway.routes.operation(exchange.operation)
        is_read = exchange.request.method == "GET" and exchange.response.is_success
        # a document may require a scheme that it does not declare, of which no credential is known
        is_open = operation is None or {} in operation.security or not first_of(operation, schemes)
        is_owners = exchange.identity.name == "owner"
        if is_open or not (is_read and is_owners) or exchange.operation in repeated:
            continue
        repeated.add(exchange.operation)
        again = run.gateway.send(run.gateway.without_token(exchange.request), SOURCE)
        expected = "a refusal, as the document requires a credential"
        is_refused = not again.response.is_success
        result = expect(is_refused, expected, f"status {again.status} without it")
        run.report(run.evaluator.judge(GENERATED.id, result, again))


def _record(run: Run, case: Case, exchange: Exchange, mismatch: Mismatch | None) -> None:
    """Records whether the response to a case is the expected one, as a result of the rule."""
    if (
        exchange.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    ):  # a failure of the server is a finding by itself
        return
    expected = f"{mismatch.expected} ({case.part}, {case.source})" if mismatch else ""
    actual = f"{mismatch.actual}: {case.description}" if mismatch else ""
    # A valid request may be refused for a reason that no document says.
    is_doubtful = case.kind != "invalid" or case.source in LENIENT
    result = CheckResult(not mismatch, expected, actual, is_choice=is_doubtful)
    run.report(run.evaluator.judge(GENERATED.id, result, exchange))
