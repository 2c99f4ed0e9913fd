"""The target file of the reference, which tests of commands are given, is what a customer knows."""

import json
import tomllib
from pathlib import Path

from tests.proofs.reference.customer import told
from tests.proofs.reference.service import Addresses

TARGET = Path(__file__).with_name("target.toml")


def test_the_target_file_names_what_a_customer_is_told():
    target = tomllib.loads(TARGET.read_text())
    expected = json.loads(json.dumps(told(Addresses("http://127.0.0.1:9080", target["auth_url"]))))
    assert {name: target[name] for name in expected} == expected
