"""A mock that is judged over sockets: its clock is moved where that is permitted, and put back."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result
from tests import patient
from tests.cli.conftest import Running
from tests.proofs.mutants.edge import Edge
from tests.proofs.reference import broken

from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.cli import main
from understudy.mock.server.clock import machine_time
from understudy.verify.admin_client import AdminClient
from understudy.verify.deployment import Deployment
from understudy.verify.probe_client import ProbeClient
from understudy.verify.run import RunOptions, start
from understudy.verify.runner import carry_out

AGEING = "code-lifetime,implicit-token-two-weeks,code-token-no-expiry,rate-limit-anonymous"
TARGET = """
base_url = "{site}/v3"
auth_url = "{auth}"
mode = "own"
[credentials]
access_token = "ada-full"
[application]
client_id = "server-app"
client_secret = "server-app-secret"
redirect_uri = "http://127.0.0.1:5000/callback"
username = "ada"
password = "ada-password"
approve = "mock_approve=ada"
[known]
slug = "ada"
[permit]
uploads = true
tokens = true
exhaust_rate_limit = true
clock = {clock}
"""


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("timed"), "--log", "off")
    yield running
    running.stop()


@pytest.fixture
def admin(mock: Running) -> Iterator[AdminClient]:
    client = AdminClient(mock.base_url.removesuffix("/v3"))
    yield client
    client.call("DELETE", "/clock")
    client.close()


def written(tmp_path: Path, site: str, auth: str, clock: str = "true") -> str:
    path = tmp_path / "target.toml"
    path.write_text(TARGET.format(site=site, auth=auth, clock=clock))
    return str(path)


@pytest.fixture
def target(tmp_path: Path, mock: Running) -> str:
    return written(tmp_path, mock.base_url.removesuffix("/v3"), mock.auth_url)


def verify(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["verify", "--cases", "0", *arguments], env={"CI": ""})


def opened(target: str) -> Deployment:
    return open_deployment(DeploymentOptions(Path(target)), {})


def shown(admin: AdminClient) -> datetime:
    return datetime.fromisoformat(admin.call("GET", "/clock")["now"])


def test_rules_of_time_are_judged_and_the_clock_goes_with_the_machine_again(target, admin):
    done = verify("--target", target, "--rules", AGEING)
    assert done.exit_code == 0, done.output
    assert "4 rules passed, 0 failed, 0 not checked" in done.output
    assert abs(shown(admin) - machine_time()) < timedelta(minutes=2)


def test_a_frozen_clock_is_frozen_again_at_the_same_instant(target, admin):
    before = admin.call("PUT", "/clock", json={"now": "2026-03-01T12:00:00Z", "frozen": True})
    done = verify("--target", target, "--rules", "code-lifetime")
    assert done.exit_code == 0, done.output
    assert admin.call("GET", "/clock") == before


def test_what_was_edited_in_the_moved_time_is_put_back_too(target, tmp_path):
    done = verify("--target", target, "--rules", "code-lifetime,profile-patch-partial")
    assert done.exit_code == 0, done.output
    assert not (tmp_path / "target.journal").exists()
    assert not (tmp_path / "target.ledger").exists()


def test_the_last_edit_is_not_left_in_the_moved_time(target, mock):
    rules = "code-token-no-expiry,profile-patch-partial,rate-limit-authenticated"
    done = verify("--target", target, "--rules", rules)
    assert done.exit_code == 0, done.output
    owner = {"Authorization": "Bearer ada-full"}
    profile = patient.get(f"{mock.base_url}/me/profile", headers=owner).json()
    assert datetime.fromisoformat(profile["last_profile_edit"]) <= machine_time()


def test_the_clock_of_a_killed_run_is_restored_by_the_next_one(target, admin, tmp_path):
    with closing(opened(target)) as deployment:
        gateway = start(deployment, RunOptions()).gateway
        ProbeClient(gateway, "test").advance(timedelta(days=400))
    # nothing is undone, as after a kill
    done = verify("--target", target, "--rules", "qr-default-size")
    assert done.exit_code == 0, done.output
    assert abs(shown(admin) - machine_time()) < timedelta(minutes=2)
    assert not (tmp_path / "target.journal").exists()


def test_a_deployment_that_breaks_a_rule_of_time_is_found_out(target, admin):
    def never_ending(request, send):
        response = send(request)
        response.read()
        is_own = str(request.url).endswith("/me/profile")
        return httpx.Response(200, json={}) if is_own else response

    with closing(opened(target)) as deployment:
        wire = Edge(deployment.transport, never_ending)
        options = RunOptions(("implicit-token-two-weeks",))
        outcome = carry_out(replace(deployment, transport=wire), options)
    assert {finding.rule.id for finding in outcome.findings} == {"implicit-token-two-weeks"}
    assert abs(shown(admin) - machine_time()) < timedelta(minutes=2)


def test_without_the_permission_the_clock_is_left_alone(mock, tmp_path):
    path = written(tmp_path, mock.base_url.removesuffix("/v3"), mock.auth_url, clock="false")
    done = verify("--target", path, "--rules", "code-lifetime")
    assert "  1  the deployment's time cannot be moved" in done.output


def test_where_there_is_no_mock_the_run_does_not_begin(tmp_path):
    with broken.html() as addresses:
        path = written(tmp_path, addresses.site, addresses.site)
        done = verify("--target", path, "--rules", AGEING)
    assert done.exit_code == 2
    assert "[permit] clock = true: no mock has its clock at" in done.output
    assert f"{addresses.site}/__admin/clock. Leave the key out" in done.output


def test_a_plan_asks_no_clock(tmp_path):
    path = written(tmp_path, "http://127.0.0.1:9", "http://127.0.0.1:9")
    done = verify("--target", path, "--rules", "code-lifetime", "--plan")
    assert done.exit_code == 0
    assert "6 requests  code-lifetime" in done.output


def test_the_clock_of_a_killed_run_is_cleaned_up(target, admin, tmp_path):
    with closing(opened(target)) as deployment:
        gateway = start(deployment, RunOptions()).gateway
        ProbeClient(gateway, "test").advance(timedelta(days=400))
    # nothing is put back, as after a kill
    assert shown(admin) > datetime.now(UTC) + timedelta(days=399)  # noqa: TID251 - the machine's
    done = CliRunner().invoke(main, ["cleanup", str(tmp_path / "target.journal")])
    assert done.exit_code == 0, done.output
    assert abs(shown(admin) - machine_time()) < timedelta(minutes=2)
    assert not (tmp_path / "target.journal").exists()
