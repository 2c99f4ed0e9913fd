"""An app signs in, and does all else, through the proxy as at the deployment."""

import threading

import httpx
import msgspec
import pytest
from tests.record.proxied import ADA, AUTH_PROXY, PROXY, MockedDeployment, Session, proxied

from understudy.api.asgi_exchange import exchanged
from understudy.api.bundled_target import TARGET
from understudy.api.in_process import time_of
from understudy.exchange.messages import Exchange, Identity, Request, Response
from understudy.interface.operations import LIST_AVATARS, OWN_PROFILE
from understudy.verify.clock import machine_time
from understudy.verify.deployment import Deployment
from understudy.verify.history import History
from understudy.verify.recorded_traffic import TokenAccounts
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.target import Target

RULES = (
    *("authorize-client-known", "redirect-uri-registered", "scope-indexed-array"),
    *("denial-access-denied", "password-grant-owner-only", "avatar-urls-resolve"),
)
HOSTS = ("api.staging.example", "auth.staging.example")


class ThroughProxy(httpx.BaseTransport):
    """Sends the requests of verify to the proxy."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        application = self._session.recording.applications[request.url.port or 80]
        request.read()
        with self._lock:
            response = self._session.run(exchanged(application, request))
        response.read()
        return response


def test_a_browser_signs_in_and_follows_links_through_the_proxy():
    deployment = MockedDeployment(admin_hosts=HOSTS)
    with proxied(deployment) as session:
        target = msgspec.structs.replace(
            TARGET, is_mock=False, base_url=f"{PROXY}/v3", auth_url=AUTH_PROXY
        )
        client = Deployment(target, ThroughProxy(session), time_of(deployment.mock))
        outcome = carry_out(client, RunOptions(rules=RULES))
    assert [finding.summary for finding in outcome.findings] == []
    assert outcome.count("passed") == len(RULES)
    assert session.findings == []
    assert session.recording.judge.proxy_failures == {}


def listed(number: int, token: str, image_id: str) -> Exchange:
    body = b'[{"image_id": "%s"}]' % image_id.encode()
    return seen(number, token, LIST_AVATARS, body)


def seen(number: int, token: str, operation: str, body: bytes) -> Exchange:
    identity = Identity(token, "unknown", token)
    request, response = Request("GET", "https://x.example/"), Response(200, (), body)
    return Exchange(number, "passed", identity, request, response, machine_time(), operation)


@pytest.fixture
def accounts() -> TokenAccounts:
    return TokenAccounts(Target(base_url="https://x.example"))


def test_two_tokens_that_show_one_avatar_open_one_account(accounts: TokenAccounts) -> None:
    history = History(Target(base_url="https://x.example"))
    first = accounts.assigned(listed(1, "first", "a" * 32), history)
    history.add(first)
    second = accounts.assigned(listed(2, "second", "a" * 32), history)
    third = accounts.assigned(listed(3, "third", "b" * 32), history)
    assert [each.identity.account for each in (first, second, third)] == ["first", "first", "third"]


def test_two_tokens_that_show_one_hash_open_one_account(accounts: TokenAccounts) -> None:
    history = History(Target(base_url="https://x.example"))
    body = b'{"hash": "%s"}' % (b"c" * 64)
    names = [
        accounts.assigned(seen(number, token, OWN_PROFILE, body), history).identity.account
        for number, token in enumerate(("first", "second"))
    ]
    assert names == ["first", "first"]


def test_a_second_sign_in_of_one_person_is_no_stranger():
    deployment = MockedDeployment()
    with proxied(deployment) as session:
        session.request("GET", f"{PROXY}/v3/me/avatars", headers=ADA)
        other = {"Authorization": "Bearer ada-read-only"}
        session.request("GET", f"{PROXY}/v3/me/avatars", headers=other)
    assert session.findings == []
