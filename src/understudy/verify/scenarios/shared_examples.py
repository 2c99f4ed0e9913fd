"""Shares what broke a scenario between machines, in a Valkey or Redis server."""

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.database import ExampleDatabase
from hypothesis.extra.redis import RedisExampleDatabase

from understudy.verify.shared_ledger import opened_store


@contextmanager
def shared_examples(url: str, deployment: str, scenario: str) -> Iterator[ExampleDatabase]:
    """Opens the examples of a scenario that broke a rule of a deployment, on any machine.

    They are what was drawn and hold no secret. One that was not tried for eight days expires.

    Args:
        url: URL of the store.
        deployment: Base URL of the deployment.
        scenario: Name of the scenario.
    """
    prefix = f"understudy:examples:{deployment.rstrip('/')}:{scenario}:"
    with opened_store(url) as store:
        yield RedisExampleDatabase(store, key_prefix=prefix.encode())
