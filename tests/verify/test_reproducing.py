"""What a finding offers to run is run, at a deployment that is broken: the finding is seen again."""

import os
import re
import subprocess
import sys
from base64 import b64encode

import pytest
from msgspec.structs import replace
from tests.proofs.mutants import (
    avatars,
    generous,
    implicit,
    own_profile,
    profiles,
    qr_codes,
    tokens,
    uploads,
)
from tests.proofs.mutants.edge import MUTANTS
from tests.proofs.mutants.verifying import verified
from tests.verify import served
from tests.verify.exchanges import exchange_of

from understudy.api.bundled_target import TARGET
from understudy.exchange.messages import Request
from understudy.verify.catalogue import catalogue
from understudy.verify.clock import machine_clock
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Finding
from understudy.verify.reproducing import commands, snippet
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.target import Budget, Credentials, Target
from understudy.verify.transport import DeploymentTransport

REGISTERED = (avatars, generous, implicit, own_profile, profiles, qr_codes, tokens, uploads)
BROKEN = [
    ("a_code_works_twice", "code-single-use", '"access_token"'),
    ("an_update_clears_what_it_was_not_given", "profile-patch-partial", '"pronunciation":""'),
    ("the_token_type_is_mac", "token-answer", '"mac"'),
    ("ratings_are_never_changed", "avatar-patch-rating-and-alt-text", '"rating":"G"'),
]


def found(address: str, rule: str, **changes: object) -> tuple[Finding, Target]:
    """Returns the first finding of a rule at an address, with other keys in the target."""
    target = replace(
        TARGET,
        base_url=f"{address}/v3",
        auth_url=address,
        permit=replace(TARGET.permit, exhaust_rate_limit=False),
        budget=Budget(1000, 1000),
        **changes,
    )
    with DeploymentTransport() as wire:
        outcome = carry_out(Deployment(target, wire, machine_clock()), RunOptions((rule,)))
    (finding, *_) = outcome.findings
    return finding, target


def run(command: list[str], target: Target) -> str:
    variables = {name: secret for secret, name in target.secrets().items()}
    done = subprocess.run(
        command,
        env={**os.environ, **variables, "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("mutant", "rule", "telling"), BROKEN)
def test_the_commands_and_the_program_show_the_finding_again(mutant, rule, telling):
    with served.mutant(mutant) as address:
        finding, target = found(address, rule)
        secrets = target.secrets()
        shell = "\n".join(commands(finding, secrets))
        shown = run(["bash", "-c", f"set -e\n{shell}"], target)
        printed = run([sys.executable, "-c", snippet(finding, secrets)], target)
    assert "masked-" not in shell
    wanted = str(finding.exchange.status)
    assert re.findall(r"^HTTP/1\.\d (\d+)", shown, re.M)[-1] == wanted
    assert re.findall(r"^(\d+) ", printed, re.M)[-1] == wanted
    assert re.search(telling, shown.splitlines()[-1])
    assert re.search(telling, printed.splitlines()[-1])


@pytest.mark.parametrize("token", ["mia:tea", "a:b", "a-token-without-a-name"])
def test_http_basic_is_made_from_the_credential_of_the_target(token):
    target = Target(base_url="http://127.0.0.1:1", credentials=Credentials(access_token=token))
    pair = token if ":" in token else f"{token}:{token}"
    header = f"Basic {b64encode(pair.encode()).decode()}"
    request = Request("GET", "http://127.0.0.1:1/beds", (("authorization", header),))
    finding = Finding(
        catalogue()["answers"], "no failure", "500", (exchange_of("", request=request),)
    )
    shell = "\n".join(commands(finding, target.secrets())).replace("curl", "echo")
    program = snippet(finding, target.secrets()).replace(
        "httpx.request(", "(lambda *words, **sent: print(sent))("
    )
    program = re.sub("^print.*status.*$", "", program, flags=re.M)
    assert header not in shell + program
    assert header in run(["bash", "-c", shell], target)
    assert header in run([sys.executable, "-c", program], target)


CAUSES = [
    (
        "every_token_reads_the_profile_of_the_first_account",
        "me-needs-oauth-token",
        ("PATCH", "owner"),
    ),
    (
        "a_deletion_by_another_account_is_refused_and_carried_out",
        "avatar-list-of-caller",
        ("DELETE", "other"),
    ),
    ("setting_for_one_address_sets_for_all", "avatar-email-assign", ("POST", "owner")),
    ("a_profile_update_resets_the_ratings", "avatar-patch-partial", ("PATCH", "owner")),
]


@pytest.mark.parametrize(("name", "rule", "cause"), CAUSES)
def test_the_request_that_caused_a_change_is_among_the_steps(name, rule, cause):
    (broken,) = (one for one in MUTANTS if one.name == name)
    causes = [
        {(step.request.method, step.identity.name) for step in finding.steps}
        for finding in verified(broken, (rule,)).findings
        if re.search("as before|not deleted", finding.expected)
    ]
    assert causes
    assert all(cause in steps for steps in causes)


def test_a_finding_that_took_a_consent_signs_in_afresh():
    by_pages = replace(TARGET.application, approve=None, deny=None)
    with served.mutant("a_code_works_twice") as address:
        finding, target = found(address, "code-single-use", application=by_pages)
        secrets = target.secrets()
        shell = "\n".join(commands(finding, secrets))
        shown = run(["bash", "-c", f"set -e\n{shell}"], target)
        printed = run([sys.executable, "-c", snippet(finding, secrets)], target)
    assert "/sign-in" in shell
    assert not re.search(r"(csrf|ticket|session)=[0-9a-f]{8}", shell)
    assert '"access_token"' in shown.splitlines()[-1]
    assert '"access_token"' in printed.splitlines()[-1]


@pytest.mark.parametrize(("mutant", "rule", "telling"), BROKEN)
def test_at_a_deployment_that_is_whole_they_show_otherwise(mutant, rule, telling):
    with served.mutant(mutant) as address:
        finding, target = found(address, rule)
    with served.mutant(None) as address:
        whole = replace(target, base_url=f"{address}/v3", auth_url=address)
        lines = "\n".join(commands(finding, target.secrets()))
        shown = run(
            ["bash", "-c", re.sub(r"http://127\.0\.0\.1:\d+/(?=v3|oauth2)", f"{address}/", lines)],
            whole,
        )
    assert not re.search(telling, shown.splitlines()[-1])
