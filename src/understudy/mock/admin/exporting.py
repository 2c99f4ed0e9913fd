"""Exports a world as fixtures and imports one (``openapi/admin.yaml``).

Both take long for a large world, so they run in a thread of their own, one at a time: others are
not kept waiting, and many imports do not use up the threads that check uploads.
"""

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from understudy.limits import IMPORT_SECONDS
from understudy.mock.fixtures.archive import pack_world, unpack_fixtures
from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.handlers import Handlers
from understudy.mock.store.vocabulary import vocabulary_of

Value = TypeVar("Value")

_WORKER: Final = ThreadPoolExecutor(1, "understudy-archives")


async def export_world(call: Call) -> HandlerResponse:
    """Exports the world as a zip file for ``serve --fixtures`` (``GET /export``).

    Raises:
        LimitExceeded: It takes too long.
    """
    name = f'attachment; filename="{call.world.name}.zip"'
    headers = (("content-disposition", name),)
    world = call.world.copy()
    packed = await in_worker(lambda: pack_world(world))
    return HandlerResponse(packed, 200, "application/zip", headers)


async def import_world(call: Call, *, body: bytes) -> HandlerResponse:
    """Replaces the world by the fixtures in a zip file, or leaves it as it is (``POST /import``).

    Raises:
        BadRequest: The body is not such a zip file, or a fixture in it cannot be used.
        LimitExceeded: It holds too much, or takes too long.
    """
    words = vocabulary_of(call.world)
    baseline = await in_worker(lambda: unpack_fixtures(body, words))
    snapshot = call.world.snapshot()
    call.world.become(snapshot._replace(baseline=baseline, overlay={}))
    return HandlerResponse(status=204)


async def in_worker(work: Callable[[], Value]) -> Value:
    """Returns the result of long work, done in the thread for archives.

    Raises:
        LimitExceeded: It takes too long.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(IMPORT_SECONDS.most):
            return await loop.run_in_executor(_WORKER, _without_collection, work)
    except TimeoutError:
        raise IMPORT_SECONDS.exceeded() from None


def _without_collection(work: Callable[[], Value]) -> Value:
    """Works while garbage collection is paused.

    A pass over a million young objects stops every thread for more than a second, again and again.
    """
    if not gc.isenabled():
        return work()
    gc.disable()
    try:
        return work()
    finally:
        gc.enable()


HANDLERS: Handlers = {("GET", "/export"): export_world, ("POST", "/import"): import_world}
