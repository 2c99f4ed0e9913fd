"""Undoing: whatever happens to a run, the account is as it was before."""

import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from filelock import FileLock
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import time_of
from understudy.api.opening import restore
from understudy.errors import StartupError
from understudy.verify.clock import Time
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.findings import Outcome
from understudy.verify.ledger import ANONYMOUS, Ledger
from understudy.verify.pictures import picture, upload
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import RunOptions, start
from understudy.verify.runner import carry_out
from understudy.verify.target import Budget, Permit, Target

OWN = replace(TARGET, mode="own", permit=Permit(uploads=True))
EDITS = ("profile-patch-partial",)
Judge = Callable[..., Outcome]


@pytest.fixture
def account(gateway: Any) -> Callable[[], Any]:
    """Returns the test account's profile and avatars, without the time of the last edit."""

    def read() -> Any:
        client = ProbeClient(gateway(TARGET), "test")
        profile = {**client.get("/me/profile", "owner").json_object}
        profile.pop("last_profile_edit", None)
        return profile, client.get("/me/avatars", "owner").body

    return read


@pytest.fixture
def judge(mock: Any, wire: Any, tmp_path: Path) -> Judge:
    """Judges the mock as a deployment whose clock cannot be moved, with a journal and a ledger."""

    def run(target: Target = OWN, rules: tuple[str, ...] = EDITS, **more: Any) -> Outcome:
        clock = mock.world.clock
        time = Time(lambda: clock.now(), lambda _span: None)  # noqa: PLW0108 - it may be replaced
        journal, ledger = tmp_path / "t.journal", tmp_path / "t.ledger"
        deployment = Deployment(target, wire, time, journal=journal, ledger=ledger, **more)
        return carry_out(deployment, RunOptions(rules))

    return run


@pytest.fixture
def killed(mock: Any, wire: Any, tmp_path: Path) -> Path:
    """The journal of a run that was killed after an edit and an upload."""
    journal = tmp_path / "t.journal"
    run = start(Deployment(OWN, wire, time_of(mock), journal=journal), RunOptions(EDITS))
    client = ProbeClient(run.gateway, "test")
    client.send("PATCH", "/me/profile", "owner", json={"location": "left behind"})
    return journal


def test_the_next_run_undoes_what_a_killed_one_left(
    account: Any, request: pytest.FixtureRequest, judge: Judge
) -> None:
    before = account()
    journal = request.getfixturevalue("killed")
    assert account() != before
    outcome = judge(rules=("qr-default-size",))
    assert outcome.not_restored == ()
    assert account() == before
    assert not journal.exists()


def test_the_journal_is_written_where_it_has_something_new_to_say(
    mock: Any, wire: Any, tmp_path: Path
) -> None:
    journal = tmp_path / "t.journal"
    deployment = Deployment(OWN, wire, time_of(mock), journal=journal)
    client = ProbeClient(start(deployment, RunOptions(EDITS)).gateway, "test")
    client.send("PATCH", "/me/profile", "owner", json={"location": "here"})
    first = journal.read_bytes()
    assert b'"profile":{' in first
    client.send("PATCH", "/me/profile", "owner", json={"location": "there"})
    assert journal.read_bytes() == first
    upload(client, picture())
    states = journal.read_bytes().splitlines()
    assert len(states) > 1
    assert len(set(states)) == len(states)


@pytest.mark.parametrize("name", ["t.journal", "t.ledger"])
def test_a_second_run_refuses_to_start_while_the_first_uses_the_files(
    judge: Judge, wire: Any, tmp_path: Path, name: str
) -> None:
    with (
        FileLock(tmp_path / f"{name}.lock"),
        pytest.raises(StartupError, match=f"{name} is in use by another run of understudy"),
    ):
        judge(rules=("qr-default-size",))
    assert wire.seen == []
    assert judge(rules=("qr-default-size",)).rules[0].status == "passed"


def test_a_cleanup_refuses_to_undo_what_a_run_is_just_doing(killed: Path) -> None:
    target = killed.with_suffix(".toml")
    target.write_text(f'base_url = "{OWN.base_url}"\n')
    with (
        FileLock(f"{killed}.lock"),
        pytest.raises(StartupError, match="is in use by another run of understudy"),
    ):
        restore(killed, target, {})
    assert killed.exists()


def test_a_run_that_may_not_write_refuses_to_start_and_keeps_the_journal(
    killed: Path, judge: Judge
) -> None:
    content = killed.read_bytes()
    with pytest.raises(StartupError, match=r"the mode is observe\. Run `understudy cleanup"):
        judge(replace(OWN, mode="observe"))
    assert killed.read_bytes() == content


def test_a_journal_of_another_deployment_is_kept(killed: Path, judge: Judge) -> None:
    journal = orjson.loads(killed.read_bytes()) | {"base_url": "https://staging.example.com/v3"}
    killed.write_bytes(orjson.dumps(journal))
    with pytest.raises(StartupError, match=r"left changes at https://staging\.example\.com/v3"):
        judge()
    assert killed.exists()


def test_a_journal_that_cannot_be_undone_stops_the_next_run_and_is_kept(
    killed: Path, judge: Judge, wire: Any
) -> None:
    inner = wire.inner

    def refusing(request: httpx.Request) -> httpx.Response:
        is_update = request.method == "PATCH"
        return httpx.Response(503) if is_update else inner.handle_request(request)

    wire.inner = httpx.MockTransport(refusing)
    with pytest.raises(StartupError, match='location is "left behind" and was'):
        judge()
    assert killed.exists()


def test_runs_that_share_an_hour_keep_enough_of_it_for_undoing(account: Any, judge: Judge) -> None:
    before = account()
    target = replace(OWN, budget=Budget(token=30))
    outcomes = [judge(target) for _ in range(5)]
    assert [outcome.not_restored for outcome in outcomes] == 5 * [()]
    assert account() == before


def test_two_ledgers_of_one_file_count_together(tmp_path: Path, mock: Any) -> None:
    now, path = mock.world.clock.now(), tmp_path / "t.ledger"
    first, second = Ledger(path, now), Ledger(path, now)
    first.add(ANONYMOUS, now)
    second.add(ANONYMOUS, now)
    assert first.used(ANONYMOUS, now) == second.used(ANONYMOUS, now) == 2
    third = Ledger(path, now)
    third.add(ANONYMOUS, now)
    assert first.used(ANONYMOUS, now) == 3


def test_a_limit_is_used_up_only_when_nothing_is_left_to_undo(judge: Judge) -> None:
    target = replace(OWN, permit=Permit(uploads=True, exhaust_rate_limit=True))
    outcome = judge(target, ("rate-limit-authenticated", *EDITS))
    assert outcome.not_restored == ()
    assert [(rule.rule.id, rule.status) for rule in outcome.rules] == [
        ("profile-patch-partial", "passed"),
        ("rate-limit-authenticated", "passed"),
    ]
    updates = [each.number for each in outcome.exchanges if each.source == "undo"]
    assert max(updates) < min(each.number for each in outcome.exchanges if each.status == 429)


@pytest.mark.parametrize("most", [1, 7, 20, 38, 60])
def test_the_most_requests_include_those_that_undo(
    account: Any, judge: Judge, wire: Any, most: int
) -> None:
    before = account()
    wire.seen.clear()
    outcome = judge(rules=(), allowance=Allowance(requests=most))
    assert outcome.requests == len(wire.seen) <= most
    assert outcome.not_restored == ()
    assert account() == before


def test_restoring_the_clock_is_not_followed_by_a_wait_for_the_interval(gateway: Any) -> None:
    moved: list[timedelta] = []
    judged = gateway(TARGET)
    now = judged.time.now()
    times = iter([now + timedelta(days=400), now + timedelta(days=400)])
    judged.budget._time = Time(lambda: next(times, now), moved.append)
    client = ProbeClient(judged, "test")
    client.get("/openapi")
    judged.budget.forget_later_than(now)
    client.get("/openapi")
    assert moved == []


def escaping(inner: httpx.BaseTransport) -> httpx.BaseTransport:
    """A deployment that escapes the texts that an update sets."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "PATCH" and request.url.path.endswith("/me/profile"):
            escaped = request.read().replace(b"&", b"&amp;")
            headers = {n: t for n, t in request.headers.items() if n != "content-length"}
            request = httpx.Request("PATCH", request.url, headers=headers, content=escaped)
        return inner.handle_request(request)

    return httpx.MockTransport(answer)


def test_a_text_that_cannot_be_restored_is_a_finding_with_both_values(
    gateway: Any, judge: Judge, wire: Any
) -> None:
    own = {"company": "Merrow & Dale"}
    ProbeClient(gateway(TARGET), "test").send("PATCH", "/me/profile", "owner", json=own)
    wire.inner = escaping(wire.inner)
    outcome = judge()
    assert 'owner: company is "Merrow &amp; Dale" and was "Merrow & Dale"' in outcome.not_restored
    findings = [(finding.expected, finding.actual) for finding in outcome.findings]
    assert (
        'company "Merrow & Dale", as before the run and as the last update sets it',
        'company "Merrow &amp; Dale"; it stays so',
    ) in findings


def test_what_no_client_can_undo_is_named(judge: Judge) -> None:
    target = replace(OWN, permit=Permit(tokens=True))
    outcome = judge(target, ("profile-patch-partial", "code-single-use"))
    edit, tokens = outcome.remaining
    assert edit == "the time of the last profile edit"
    assert "issued token" in tokens


class Late(httpx.BaseTransport):
    """A deployment that carries an upload out after the run that sent it was interrupted.

    It waits for the next request too, as one that reads the lists, which comes only if the run does
    not wait for the response.
    """

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner
        self._interrupted, self._has_next = threading.Event(), threading.Event()
        self.uploads: list[threading.Thread] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Responds; the first upload interrupts the main thread."""
        if self.uploads:
            response = self._inner.handle_request(request)
            self._has_next.set()
            return response
        if request.method != "POST" or not request.url.path.endswith("/me/avatars"):
            return self._inner.handle_request(request)
        response_to: Future[httpx.Response] = Future()

        def carry_out_upload() -> None:
            self._interrupted.wait()
            self._has_next.wait(0.3)
            response_to.set_result(self._inner.handle_request(request))

        self.uploads.append(threading.Thread(target=carry_out_upload))
        self.uploads[0].start()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        return response_to.result()

    def interrupt(self, _number: int, _frame: Any) -> None:
        """Handles the signal.

        Raises:
            KeyboardInterrupt: Always.
        """
        self._interrupted.set()
        raise KeyboardInterrupt


def test_a_write_that_is_under_way_when_the_run_is_ended_is_undone(
    account: Any, mock: Any, wire: Any, tmp_path: Path
) -> None:
    before, late = account(), Late(wire)
    deployment = Deployment(OWN, late, time_of(mock), journal=tmp_path / "t.journal")
    earlier = signal.signal(signal.SIGINT, late.interrupt)
    try:
        outcome = carry_out(deployment, RunOptions(("avatar-upload-status",)))
    finally:
        signal.signal(signal.SIGINT, earlier)
    for thread in late.uploads:
        thread.join()
    assert late.uploads
    assert outcome.stopped == "stopped by Ctrl-C or SIGTERM"
    assert outcome.not_restored == ()
    assert account() == before


class Outage(httpx.BaseTransport):
    """A deployment that carries out an update and then does not respond for some seconds."""

    def __init__(self, inner: httpx.BaseTransport, clock: Any, seconds: int) -> None:
        self._inner, self._clock, self._span = inner, clock, timedelta(seconds=seconds)
        self._ends: Any = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Responds, or fails as a host does that is down.

        Raises:
            httpx.ConnectError: It is down.
        """
        if self._ends is not None and self._clock.now() < self._ends:
            msg = "connection refused"
            raise httpx.ConnectError(msg)
        response = self._inner.handle_request(request)
        if request.method == "PATCH" and self._ends is None:
            self._ends = self._clock.now() + self._span
        return response


@pytest.mark.parametrize(("seconds", "is_restored"), [(20, True), (300, False)])
def test_undoing_waits_a_while_for_a_deployment_to_come_back(
    account: Any, mock: Any, wire: Any, seconds: int, *, is_restored: bool
) -> None:
    before = account()
    down = Outage(wire, mock.world.clock, seconds)
    outcome = carry_out(Deployment(OWN, down, time_of(mock)), RunOptions(EDITS))
    assert (outcome.not_restored == ()) is is_restored
    assert (account() == before) is is_restored
