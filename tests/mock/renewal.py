"""Makes a mock as it began: building one takes as long as fifty requests, so tests share them."""

from understudy.mock.app import Mock
from understudy.mock.server.clock import Clock
from understudy.mock.server.journal import CAPACITY, Journal, WorldHistory
from understudy.mock.server.world_selection import Worlds


def renew(mock: Mock, clock: Clock | None = None) -> Mock:
    """Returns a mock without anything that happened to it, and the clock that it is to go by."""
    world = mock.world
    world.clock = clock or Clock()
    world.become(mock.world.beginning)
    world.journal = Journal(CAPACITY)
    world.history = WorldHistory()
    world.history.begin(world.identifiers.count, world.settings)
    Worlds.__init__(mock.worlds, world)  # in place, as its applications hold it
    return mock
