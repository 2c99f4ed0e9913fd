"""Replicas are let go of wherever garbage is collected, in the thread that runs them too."""

from contextlib import closing
from threading import Event
from typing import cast

from tests.patient import PATIENCE
from tests.proofs.fleet.replicated import abandon
from tests.proofs.fleet.round_robin import LoopThread

from understudy.mock.app import Mock


class Closing:
    def __init__(self) -> None:
        self.is_closed = Event()

    async def close(self) -> None:
        self.is_closed.set()


def test_a_replica_is_closed_in_its_own_thread_without_waiting_for_itself() -> None:
    replica = Closing()

    async def collect_garbage() -> None:
        abandon(thread, [cast("Mock", replica)])

    with closing(LoopThread()) as thread:
        thread.begin(collect_garbage()).result(PATIENCE)
        assert replica.is_closed.wait(PATIENCE)
