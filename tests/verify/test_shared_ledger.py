"""The hour's budget in a store: it holds for every process that shares it, killed ones included."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import redis
import trustme
from tests.house.documentation import ROOT
from tests.verify.ledger_store import served

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.errors import StartupError
from understudy.store_address import is_store, store_address
from understudy.verify.deployment import Deployment, deployment_of, ledger_of
from understudy.verify.gateway import RESERVE
from understudy.verify.ledger import ANONYMOUS, Ledger
from understudy.verify.permits import BudgetSpent
from understudy.verify.rules import qr_codes
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.shared_ledger import SharedLedger
from understudy.verify.target import Budget, Credentials, Target, load_target

REGISTERED = qr_codes
NOW = datetime(2026, 1, 1, tzinfo=UTC)
GUIDE = ROOT / "docs" / "how-to" / "verify-a-deployment.md"
RUNS = ROOT / "docs" / "explanation" / "runs.md"
BASE_URL = "http://127.0.0.1:9/v3"
LIMIT = 120

RACING = f"""
import os, signal, sys
from datetime import UTC, datetime
from understudy.verify.shared_ledger import SharedLedger

def race(place):
    ledger = SharedLedger(sys.argv[1], "{BASE_URL}")
    os.read(start, 1)
    for number in range({LIMIT}):
        if number == 10:
            os.read(rest, 1)  # until four of the eight are killed
        if not ledger.take("token a", datetime.now(UTC), {LIMIT}, {RESERVE}):
            return
        if place < 3 and number == 3:
            os.kill(os.getpid(), signal.SIGKILL)  # counted, and perhaps not sent
        os.write(1, b"sent\\n")

start, go = os.pipe()
rest, go_on = os.pipe()
racers = []
for place in range(8):
    racers.append(os.fork())
    if not racers[-1]:
        race(place)
        os._exit(0)
os.write(go, b"........")
os.kill(racers[3], signal.SIGKILL)  # wherever it is
def end(racer):
    return os.waitstatus_to_exitcode(os.waitpid(racer, 0)[1])

ends = [end(racer) for racer in racers[:4]]
os.write(go_on, b"....")
ends += [end(racer) for racer in racers[4:]]
print("ends", *ends)
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("store")) as (address, _):
        yield address


@pytest.fixture
def url(address: str) -> Iterator[str]:
    """The URL of an empty store."""
    with closing(redis.Redis.from_url(f"redis://{address}/0")) as store:
        store.flushall()
        yield f"valkey://{address}/0"


@pytest.fixture
def store(url: str) -> Iterator[Any]:
    with closing(redis.Redis.from_url(url.replace("valkey", "redis"))) as store:
        yield store


def spent(ledger: SharedLedger | Ledger, limit: int, reserve: int = 0) -> int:
    """Takes what is left, and returns how much that was."""
    number = 0
    while ledger.take(ANONYMOUS, NOW, limit, reserve):
        number += 1
    return number


def test_eight_racing_processes_never_exceed_the_budget_though_half_are_killed(url, store):
    raced = subprocess.run(
        [sys.executable, "-c", RACING, url], capture_output=True, text=True, check=True
    )
    *lines, ends = raced.stdout.splitlines()
    sent = lines.count("sent")
    assert ends == "ends -9 -9 -9 -9 0 0 0 0"
    counted = store.zcard(_key("token a", "sent"))
    assert 0 < sent <= counted <= LIMIT - RESERVE
    with closing(SharedLedger(url, BASE_URL)) as later:
        assert not later.take("token a", NOW, LIMIT, RESERVE)
        for run in store.zrange(_key("token a", "leases"), 0, -1):
            store.zadd(_key("token a", "leases"), {run: 0})
        while later.take("token a", NOW, LIMIT, RESERVE):
            pass
    assert store.zcard(_key("token a", "sent")) == LIMIT - RESERVE


def _key(bucket: str, kind: str) -> str:
    return f"understudy:ledger:{{{BASE_URL}}}:{bucket}:{kind}"


def test_what_one_run_keeps_for_undoing_is_left_alone_by_the_others_until_it_ends(url):
    with closing(SharedLedger(url, BASE_URL)) as other:
        with closing(SharedLedger(url, BASE_URL)) as first:
            assert first.take(ANONYMOUS, NOW, 10, 4)
            assert spent(other, 10) == 5
            first.add(ANONYMOUS, NOW, is_restoring=True)
            assert spent(other, 10) == 0
        assert spent(other, 10) == 3


def test_deployments_are_counted_by_themselves(url):
    with (
        closing(SharedLedger(url, BASE_URL)) as one,
        closing(SharedLedger(url, "http://127.0.0.1:10/v3")) as two,
    ):
        one.add(ANONYMOUS, NOW)
        assert (one.used(ANONYMOUS, NOW), two.used(ANONYMOUS, NOW)) == (1, 0)


def test_requests_are_dropped_after_an_hour(url, store):
    with closing(SharedLedger(url, BASE_URL)) as ledger:
        assert spent(ledger, 2) == 2
        freed = ledger.frees(ANONYMOUS)
        (oldest, score), _ = store.zrange(_key(ANONYMOUS, "sent"), 0, -1, withscores=True)
        assert freed == datetime.fromtimestamp(score / 1000, UTC) + timedelta(hours=1)
        store.zadd(_key(ANONYMOUS, "sent"), {oldest: score - 3_600_000})
        assert spent(ledger, 2) == 1


def test_a_store_that_ends_refuses_all_but_what_restores(tmp_path):
    with served(tmp_path) as (address, process):
        ledger = SharedLedger(f"redis://{address}", BASE_URL)
        process.kill()
        process.wait()
        with closing(ledger):
            with pytest.raises(
                BudgetSpent, match=f"the ledger redis://{address}/0 does not respond"
            ):
                ledger.take("token a", NOW, 10, 0)
            with pytest.raises(BudgetSpent):
                ledger.add("token a", NOW)
            ledger.add("token a", NOW, is_restoring=True)


def test_a_password_may_be_in_the_environment_and_is_never_shown(tmp_path, monkeypatch):
    with served(tmp_path, "--requirepass", "s3cret") as (address, _):
        with pytest.raises(StartupError, match="invalid username-password pair") as refused:
            SharedLedger(f"valkey://:wr0ng@{address}/0", BASE_URL)
        assert "wr0ng" not in str(refused.value)
        monkeypatch.setenv("UNDERSTUDY_STATE_PASSWORD", "s3cret")
        with closing(SharedLedger(f"valkey://{address}/0", BASE_URL)) as ledger:
            assert ledger.used(ANONYMOUS, NOW) == 0


def test_the_rights_that_the_guide_names_are_enough(url, store):
    words = RUNS.read_text().partition("and the commands ")[2].partition(". A clock")[0]
    commands = [f"+{name.lower().replace(' ', '|')}" for name in re.findall(r"`([A-Z ]+)`", words)]
    assert len(commands) > 10
    user, password = "ci", "s3cret"
    rights = ["reset", "on", f">{password}", "~understudy:ledger:*", *commands]
    store.execute_command("ACL", "SETUSER", user, *rights)
    with closing(SharedLedger(url.replace("://", f"://{user}:{password}@"), BASE_URL)) as ledger:
        assert ledger.take(ANONYMOUS, NOW, 10, 4)
        ledger.add(ANONYMOUS, NOW, is_restoring=True)


def test_a_store_is_reached_by_tls(tmp_path, monkeypatch):
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    files = [f"--tls-{name}-file {tmp_path / name}.pem".split() for name in ("cert", "key")]
    monkeypatch.setenv("UNDERSTUDY_STATE_CA", str(tmp_path / "ca.pem"))
    options = [
        "--tls-port",
        "PORT",
        "--port",
        "0",
        "--tls-auth-clients",
        "no",
        *files[0],
        *files[1],
    ]
    with (
        served(tmp_path, *options) as (address, _),
        closing(SharedLedger(f"valkeys://{address}/0", BASE_URL)) as ledger,
    ):
        assert spent(ledger, 3) == 3


def test_a_store_that_is_not_there_is_said_in_one_line():
    with pytest.raises(StartupError, match=r"the ledger valkey://127\.0\.0\.1:9/0 cannot be used"):
        SharedLedger("valkey://127.0.0.1:9/0", BASE_URL)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("valkey://user:secret@host:1/2", "valkey://user@host:1/2"),
        ("rediss://:secret@host/0", "rediss://host:6379/0"),
    ],
)
def test_a_url_is_shown_without_its_password(url, shown):
    assert str(store_address(url)) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("valkey://h/0", True), ("REDISS://h", True), ("staging.ledger", False)),
        *(("http://h/0", False), ("valkey", False)),
    ],
)
def test_a_ledger_is_a_file_unless_it_is_the_url_of_a_store(text, expected):
    assert is_store(text) is expected


def test_the_ledger_of_the_guide_is_kept_in_a_store(tmp_path):
    (block,) = re.findall(r"```toml\n(ledger = .*?)```", GUIDE.read_text(), re.DOTALL)
    path = tmp_path / "staging.toml"
    path.write_text(f'base_url = "{BASE_URL}"\n{block}')
    deployment = deployment_of(load_target(path, {}), path)
    deployment.close()
    assert deployment.shared_ledger == "valkey://ci@store.example/0"


def test_a_target_s_ledger_is_opened_where_its_runs_look_for_it(url, tmp_path):
    target = Target(BASE_URL, ledger=url)
    deployment = deployment_of(target, tmp_path / "staging.toml")
    deployment.close()
    assert (deployment.ledger, deployment.shared_ledger) == (None, url)
    with closing(ledger_of(deployment)) as ledger:
        assert isinstance(ledger, SharedLedger)


def test_two_runs_of_verify_share_an_hour(url):
    target = msgspec.structs.replace(
        TARGET, budget=Budget(anonymous=5, token=0), credentials=Credentials()
    )
    mock = in_process.mock()
    wire = in_process.InProcess(mock)
    time = replace(in_process.time_of(mock), advance=None)
    deployment = Deployment(target, wire, time, shared_ledger=url)
    outcomes = [
        carry_out(deployment, RunOptions(("qr-default-size", "qr-size-exact"))) for _ in "ab"
    ]
    wire.close()
    assert [outcome.requests for outcome in outcomes] == [5, 0]
    reasons = {it.reason for it in outcomes[1].rules if it.status == "not_checked"}
    assert [reason.partition(";")[0] for reason in reasons] == [
        "the hour's budget for requests without a token is used up ([budget] anonymous = 5)"
    ]
