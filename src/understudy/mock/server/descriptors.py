"""Keeps some file descriptors free when connections use up the others.

An event loop that has none left accepts a connection and closes it without a word, so a client sees
its request fail for no reason, and no log says why. A response and one line of the log cost a few
descriptors, which are kept for them, and for files such as templates and the database.
"""

import logging
import math
import sys
from asyncio import BaseTransport

import orjson

from understudy.errors import LimitExceeded
from understudy.limits import SPARE_DESCRIPTORS
from understudy.mock.server.episodes import Episode

if sys.platform != "win32":
    import resource

_log = logging.getLogger(__name__)


def _no_descriptor() -> bytes:
    message = "Too many connections are open; close some, or raise ulimit -n for the mock."
    problem = LimitExceeded(SPARE_DESCRIPTORS.status, SPARE_DESCRIPTORS.name, message)
    body = orjson.dumps({"error": problem.message, "code": problem.code})
    head = (
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nx-mock-limit: {SPARE_DESCRIPTORS.name}\r\n"
        "retry-after: 1\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


NO_DESCRIPTOR = _no_descriptor()
"""The response to a connection for which too few descriptors are left, as it is sent."""


class DescriptorWatch:
    """Refuses connections while few descriptors are left, and logs that once an episode."""

    def __init__(self) -> None:
        self._refusals = Episode()

    def has_room(self, transport: BaseTransport) -> bool:
        """Tells whether a connection may stay.

        The system gives a connection the lowest free descriptor, so its number says how many are
        in use.
        """
        highest = _descriptors() - SPARE_DESCRIPTORS.most
        if transport.get_extra_info("socket").fileno() < highest:
            return True
        if self._refusals.begins():
            _log.error(
                "Fewer than %d file descriptors are left: connections beyond %d are answered with "
                "503 until others end. Close idle connections, or raise the limit with ulimit -n.",
                SPARE_DESCRIPTORS.most,
                highest,
            )
        return False


def _descriptors() -> float:
    """Returns how many descriptors this process may have."""
    if sys.platform == "win32":
        return math.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else soft


WATCH = DescriptorWatch()
"""The one watch of this process, whose connections share its descriptors."""
