"""Reads which tests of the mock cannot hold on replicas, and why."""

from pathlib import Path

import yaml

EXCEPTIONS = Path(__file__).with_name("one_process.yaml")


def exceptions() -> dict[str, str]:
    """Returns the tests that cannot hold on replicas, with the reason of each."""
    by_reason: dict[str, list[str]] = yaml.safe_load(EXCEPTIONS.read_text())
    return {test: reason for reason, tests in by_reason.items() for test in tests}
