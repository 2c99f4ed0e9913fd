"""Counts the requests of the last hour in a store that runs on several machines share.

A script in the store counts each request before it is sent, so that the limit holds however many
processes race for it, and requests of a killed process are counted. A run's reserve for undoing is
a lease: other runs respect it until the run uses it, ends, or is killed.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Final

import redis
from hypothesis.database import ExampleDatabase
from hypothesis.extra.redis import RedisExampleDatabase

from understudy.errors import StartupError
from understudy.store_address import StoreAddress, store_address
from understudy.verify.ledger import ANONYMOUS, HOUR
from understudy.verify.permits import BudgetSpent

PATIENCE: Final = 5.0
"""Seconds that a store may take to respond."""


def opened_store(address: StoreAddress) -> redis.Redis:
    """Returns a client of a store; nothing is sent to it yet."""
    return redis.Redis(
        address.host,
        address.port,
        address.database,
        username=address.user,
        password=address.password,
        socket_timeout=PATIENCE,
        socket_connect_timeout=PATIENCE,
        ssl=address.is_tls,
        ssl_ca_certs=address.authority,
    )


def expect_store(url: str, option: str) -> None:
    """Checks that a store responds.

    Args:
        url: URL of the store.
        option: The option that names it.

    Raises:
        StartupError: The store does not respond, or refuses.
    """
    address = store_address(url, option)
    try:
        with opened_store(address) as store:
            store.ping()
    except (redis.RedisError, OSError) as error:
        msg = f"{option}: {address} cannot be used: {str(error).rstrip('.')}."
        raise StartupError(msg) from error


LEASE: Final = timedelta(minutes=5)
"""Time after a run's last request until other runs may use its reserve for undoing."""

_COUNT: Final = """
local sent, leases, amounts = KEYS[1], KEYS[2], KEYS[3]
local run, id, mode = ARGV[1], ARGV[2], ARGV[3]
local limit, reserve, hour, lease = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], ARGV[7]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', sent, '-inf', now - hour)
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do
  redis.call('HDEL', amounts, ended)
end
redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
local kept = redis.call('HGETALL', amounts)
local others = 0
for place = 1, #kept, 2 do
  if kept[place] ~= run then others = others + kept[place + 1] end
end
local used = redis.call('ZCARD', sent)
if mode == 'read' or (mode == 'take' and limit - used - others <= reserve) then
  local first = redis.call('ZRANGE', sent, 0, 0, 'WITHSCORES')
  return {0, used, first[2] or tostring(now)}
end
redis.call('ZADD', sent, now, id)
if mode == 'restore' and tonumber(redis.call('HGET', amounts, run) or '0') > 0 then
  redis.call('HINCRBY', amounts, run, -1)
end
if mode == 'take' and reserve > 0 then
  redis.call('ZADD', leases, now + lease, run)
  redis.call('HSET', amounts, run, reserve)
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, hour + lease) end
return {1, used + 1, tostring(now)}
"""
"""Counts a request, if one is left; replies with 1 or 0, the count, and the time of the first."""


class SharedLedger:
    """Counts the requests of the last hour in a store.

    Args:
        url: URL of the store; the password may be in the environment instead.
        deployment: Base URL of the deployment, which has a separate count.

    Raises:
        StartupError: The store cannot be reached, or refuses.
    """

    def __init__(self, url: str, deployment: str) -> None:
        address = store_address(url, "ledger")
        self._name = str(address)
        self._prefix = f"understudy:ledger:{{{deployment.rstrip('/')}}}"
        self._run = os.urandom(8).hex()
        self._ids = count()
        self._used: dict[str, int] = {}
        self._first: dict[str, datetime] = {}
        self._store = opened_store(address)
        self._script: Callable[..., Any] = self._store.register_script(_COUNT)
        try:
            self._count(ANONYMOUS, "read")
        except (redis.RedisError, OSError) as error:
            self._store.close()
            reason = str(error).rstrip(".")
            msg = f"the ledger {self._name} cannot be used: {reason}; start that store, or correct `ledger`."
            raise StartupError(msg) from error

    def used(self, bucket: str, now: datetime) -> int:  # noqa: ARG002 - the store has its own time
        """Returns the number of requests of the last hour, as the store last said."""
        if bucket not in self._used:
            self._counted(bucket, "read")
        return self._used[bucket]

    def take(self, bucket: str, now: datetime, limit: int, reserve: int) -> bool:  # noqa: ARG002 - as above
        """Counts a request if the hour has more left than this and other runs keep for undoing.

        Raises:
            BudgetSpent: The store does not respond, so nothing can be counted.
        """
        return self._counted(bucket, "take", limit, reserve)

    def add(self, bucket: str, now: datetime, *, is_restoring: bool = False) -> None:  # noqa: ARG002 - as above
        """Counts a request even if none is left; one that restores needs no response of the store.

        Raises:
            BudgetSpent: The store does not respond, and the request restores nothing.
        """
        try:
            self._counted(bucket, "restore" if is_restoring else "add")
        except BudgetSpent:
            if not is_restoring:
                raise

    def frees(self, bucket: str) -> datetime | None:
        """Returns when the oldest request of the hour is dropped from the count."""
        first = self._first.get(bucket)
        return None if first is None else first + HOUR

    def forget_from(self, now: datetime) -> None:
        """Does nothing: requests are not counted in a store if the clock can be moved."""

    def close(self) -> None:
        """Ends the run's leases and the connection."""
        try:
            for bucket in self._used:
                _, leases, amounts = self._keys(bucket)
                self._store.zrem(leases, self._run)
                self._store.hdel(amounts, self._run)
        except redis.RedisError:
            pass  # they expire by themselves
        self._store.close()

    def _counted(self, bucket: str, mode: str, limit: int = 0, reserve: int = 0) -> bool:
        try:
            return self._count(bucket, mode, limit, reserve)
        except redis.RedisError as error:
            msg = f"the ledger {self._name} does not respond: {error}"
            raise BudgetSpent(msg) from error

    def _count(self, bucket: str, mode: str, limit: int = 0, reserve: int = 0) -> bool:
        spans = (_milliseconds(HOUR), _milliseconds(LEASE))
        arguments = (self._run, f"{self._run}:{next(self._ids)}", mode, limit, reserve, *spans)
        is_counted, used, first = self._script(keys=self._keys(bucket), args=arguments)
        self._used[bucket] = int(used)
        self._first[bucket] = datetime.fromtimestamp(float(first) / 1000, UTC)
        return bool(is_counted)

    def _keys(self, bucket: str) -> list[str]:
        return [f"{self._prefix}:{bucket}:{kind}" for kind in ("sent", "leases", "amounts")]


def _milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


@contextmanager
def shared_examples(url: str, deployment: str, scenario: str) -> Iterator[ExampleDatabase]:
    """Opens the examples of a scenario that broke a rule of a deployment, on any machine.

    They are Hypothesis's choices, and hold no secret. They expire after eight days without a trial.

    Args:
        url: URL of the store.
        deployment: Base URL of the deployment.
        scenario: Name of the scenario.
    """
    prefix = f"understudy:examples:{deployment.rstrip('/')}:{scenario}:"
    with opened_store(store_address(url, "--examples")) as store:
        yield RedisExampleDatabase(store, key_prefix=prefix.encode())
