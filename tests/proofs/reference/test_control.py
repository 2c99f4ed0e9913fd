"""Nothing is found on the reference, which was written apart from the mock and chose otherwise."""

import json
import os
from contextlib import closing
from typing import Any

import pytest
from tests.proofs.reference.customer import told
from tests.proofs.reference.serving import wall_clock

from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out


@pytest.fixture
def clock():
    """Returns the time of the machine, which verify holds the times of edits to."""
    return wall_clock


@pytest.fixture
def target_file(addresses, tmp_path):
    facts: dict[str, Any] = dict(told(addresses))
    lines = [
        *(f"{key} = {json.dumps(facts[key])}" for key in ("base_url", "auth_url")),
        *('mode = "full"', 'document = "published"'),
        *("[permit]", "uploads = true", "tokens = true"),
    ]
    for table in ("credentials", "application", "known"):
        lines += [
            f"[{table}]",
            *(f"{key} = {json.dumps(value)}" for key, value in facts[table].items()),
        ]
    path = tmp_path / "reference.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_nothing_is_found_on_the_reference(target_file):
    deployment = open_deployment(DeploymentOptions(target_file=target_file), os.environ)
    with closing(deployment):
        outcome = carry_out(deployment, RunOptions(is_preflighted=True))
    assert [finding.summary for finding in outcome.findings] == []
    assert (outcome.stopped, outcome.internal_errors) == ("", ())
    assert sum(rule.status == "passed" for rule in outcome.rules) >= 125
