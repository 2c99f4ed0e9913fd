"""Fires cases at a deployment through the one gateway, and adds to each what came of it.

What the target does not permit is not sent, and says so. Each answer is judged twice: by what the
case expects, and by the rules that ``understudy verify`` judges every exchange by.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from urllib.parse import quote, urlencode

from understudy.deployments.exchange import Exchange, Request
from understudy.deployments.refusals import NotPermitted, OutOfTime, Refusal, Unreachable
from understudy.deployments.target import ALL_SCOPES
from understudy.generate import pictures
from understudy.generate.cases import Case
from understudy.generate.test_data import TestData
from understudy.interface.operations import DELETE_AVATAR
from understudy.interface.scopes import AUTH
from understudy.verify.findings import ANSWERS, DOCUMENT
from understudy.verify.history import LEFT_OPEN
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import GIVE_UP, Run

SOURCE = "edge case"
AUTHORIZE_PATH = "/oauth2/authorize"
SLOWED_DOWN = 429
OF_REFUSALS = frozenset(
    {
        *("error-members", "error-shape", "token-error-shape", "token-not-cached"),
        *("authorize-error-page", "authorize-error-redirect", "authorize-page-not-framed"),
    }
)
"""What a refusal is held to as well, whatever it refuses."""

SHOWN = 4
"""One in so many valid authorization requests is left to a person, so that the page is judged too."""

ALWAYS = frozenset({ANSWERS.id, DOCUMENT.id})
"""What every answer is held to, whatever was asked: there is one, and the document allows it."""

BETWEEN_REQUESTS = ("rate-limit-", "avatar-operations-uncounted")
"""Begins the rules that count from one request to the next, where nothing odd may come between."""

PAUSE = timedelta(seconds=61)
"""After which whoever guessed too often may go on (rule guessing-slowed)."""


@dataclass
class Firing:
    """Fires cases.

    Attributes:
        run: A run of verify, with its gateway and its judge.
        subjects: What the cases are about; ``prepare`` completes them.
        image_id: The avatar that stands for the subjects' now.
        secrets: Values of the variables now; a code is good once.
        lost: How many requests in a row nobody answered.
    """

    run: Run
    subjects: TestData
    image_id: str = ""
    secrets: dict[str, str] = field(default_factory=dict)
    lost: int = 0

    @property
    def _visit(self) -> ProbeClient:
        return ProbeClient(self.run.gateway, SOURCE)

    def prepare(self) -> TestData:
        """Makes what cases need: an avatar to change, and a token that an application was issued.

        Returns:
            The subjects; what is not permitted is left as it was, and its cases fail to be sent.
        """
        self.image_id = self._avatar() or self.subjects.image_id
        secrets = {**self.subjects.secrets, **self._client_token()}
        self.subjects = replace(self.subjects, image_id=self.image_id, secrets=secrets)
        self.secrets = dict(secrets)
        return self.subjects

    def fire(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yields the cases with their outcome, as they are answered."""
        for case in cases:
            yield replace(case, outcome=self._outcome(case))

    def _outcome(self, case: Case) -> str:
        if self.lost >= GIVE_UP:
            return f"not sent: nobody answered {GIVE_UP} requests in a row"
        if "code" in case.request.variables:
            self.secrets = {**self.subjects.secrets, **self._code()}
        lacking = set(case.request.variables) - set(self.secrets)
        if lacking:
            return f"not sent: the target has no {', '.join(sorted(lacking))}"
        if is_tidied(case.request.target):
            return "not sent: the wire would tidy its address up"
        try:
            exchange = self._sent(case)
        except OutOfTime:
            raise
        except Unreachable as refusal:
            self.lost += 1
            return f"failed: no answer, {refusal}"
        except Refusal as refusal:
            return f"not sent: {refusal}"
        self.lost = 0
        return self._judged(case, exchange)

    def _sent(self, case: Case) -> Exchange:
        source = LEFT_OPEN if case.kind == "open" else SOURCE
        exchange = self.run.gateway.send(self._request(case), source)
        is_slowed = exchange.status == SLOWED_DOWN and case.kind == "valid"
        if is_slowed and self.run.gateway.allowance.pause >= PAUSE:
            self.run.gateway.time.wait(PAUSE)
            exchange = self.run.gateway.send(self._request(case), SOURCE)
        if exchange.operation == DELETE_AVATAR and exchange.response.is_success:
            self.image_id = self._avatar() or self.image_id
        return exchange

    def _judged(self, case: Case, exchange: Exchange) -> str:
        if exchange.status == SLOWED_DOWN and case.kind == "valid":
            return "not judged: the deployment slows this caller down (429)"
        fault = case.expected.fault(exchange.status, exchange.response.header("location"))
        found = self._broken(case, exchange)
        if fault and not found and self._is_assumed(case.expected.because):
            return f"not judged: {case.expected.because}, an assumption of ours, is not shared: {fault}"
        faults = [fault, *found] if fault else found
        return f"failed: {'; '.join(faults)}" if faults else f"passed: {exchange.status}"

    def _is_assumed(self, because: str) -> bool:
        """Tells whether a reason is an assumption that the target is not held to."""
        evaluator = self.run.evaluator
        ruled = evaluator.rules.get(because.removeprefix("rule "))
        return (
            not evaluator.is_held_to_assumptions and ruled is not None and ruled.status == "assumed"
        )

    def _broken(self, case: Case, exchange: Exchange) -> list[str]:
        """Returns what the rules say of the last answer.

        Prose rules judge requests that mean something; of one that is refused for its writing they
        would ask for what it was about, so only those of the refusal itself count there.
        """
        by_prose = case.kind == "valid"
        held = ALWAYS if exchange.response.is_success else ALWAYS | OF_REFUSALS
        return [
            f"rule {rule}: {verdict.expected}, came {verdict.actual}"
            for rule, verdict in self.run.evaluator.broken
            if rule in held or (by_prose and not rule.startswith(BETWEEN_REQUESTS))
        ]

    def _request(self, case: Case) -> Request:
        request, target = case.request.filled(self.secrets), self.run.deployment.target
        base = target.base_url if request.site == "resource" else target.auth_url or ""
        path = request.target
        for written in (str, _encoded, lambda text: _encoded(text).lower()):
            path = path.replace(written(self.subjects.image_id), written(self.image_id))
        is_approved = case.kind == "valid" and case.expected.location != "with error"
        is_shown = int(case.id[-1], 16) % SHOWN == 0
        is_asking = request.path == AUTHORIZE_PATH and not is_shown
        if is_approved and is_asking and self._approval:
            path = f"{path}&{self._approval}"
        headers = tuple((name.lower(), text) for name, text in request.headers)
        return Request(request.method, base.rstrip("/") + path, headers, request.body or b"")

    @property
    def _approval(self) -> str:
        """What approves an authorization request at once, so that its redirect can be judged."""
        target = self.run.deployment.target
        return (target.application.approve or "") if target.permit.tokens else ""

    def _code(self) -> dict[str, str]:
        """Returns a code that was not exchanged yet, where the target has a way to get one."""
        if not self._approval:
            return {}
        asked = {
            "client_id": self.subjects.client_id,
            "redirect_uri": self.subjects.redirect_uri,
            "response_type": "code",
            "scope[0]": AUTH,
        }
        path = f"{AUTHORIZE_PATH}?{urlencode(asked)}&{self._approval}"
        try:
            told = self._visit.auth("GET", path).redirect_parameters
        except Refusal:
            return {}
        return {"code": told["code"]} if "code" in told else {}

    def _avatar(self) -> str | None:
        """Uploads a picture, where that is permitted, or else takes one that is there."""
        file = ("a.png", pictures.png(), "image/png")
        try:
            made = self._visit.send(
                "POST", "/me/avatars", "owner", files={"data": file}
            ).json_object
        except Refusal:
            made = {}
        if isinstance(made.get("image_id"), str):
            return str(made["image_id"])
        try:
            listed = self._visit.get("/me/avatars", "owner").body
        except Refusal:
            return None
        is_list = isinstance(listed, list) and listed and isinstance(listed[0], dict)
        return str(listed[0].get("image_id")) if is_list else None

    def _client_token(self) -> dict[str, str]:
        app = self.run.deployment.target.application
        named = ("client_id", "client_secret", "username", "password")
        form = {name: getattr(app, name) for name in named}
        if not all(form.values()) or self.run.deployment.target.auth_url is None:
            return {}
        try:
            grant = {"grant_type": "password", **form}
            said = self._visit.auth("POST", "/oauth2/token", form=grant).json_object
        except (NotPermitted, Refusal):
            return {}
        token = said.get("access_token")
        return (
            {"client_token": self._visit.learn(token, ALL_SCOPES)} if isinstance(token, str) else {}
        )


def _encoded(text: str) -> str:
    return "".join(f"%{octet:02X}" for octet in text.encode())


def is_tidied(target: str) -> bool:
    """Tells whether the wire's library would write an address otherwise (dots, stray percent signs)."""
    path, _, query = target.partition("?")
    has_dots = "/./" in path or "/../" in path or path.startswith("//")
    is_odd = re.search(r"%(?![0-9A-Fa-f]{2})", target) is not None
    return has_dots or is_odd or quote(query, safe="%=&+/:?@!$'()*,;~-._") != query
