"""Keeps requests that were worked on, until the store has numbered them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from understudy.fleet.flat_replies import exercised_row
from understudy.fleet.journal_rows import journal_row
from understudy.mock.server.history import RequestChanges
from understudy.mock.server.journaling import settle_numbered
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.worlds import World


class WorkedRequest(NamedTuple):
    """A request that was worked on, as it concerns one world.

    Attributes:
        context: The request.
        is_own: Whether it is in the journal of this world.
        changes: What it changed, for the history of the world; None for nothing.
        log: What it changed, for other replicas to repeat; empty where they load the whole world.
        undoing: How to undo what it changed; empty for nothing, and for what cannot be undone.
    """

    context: RequestContext
    is_own: bool
    changes: RequestChanges | None
    log: bytes
    undoing: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The part of the message to the store that is about this request."""
        context = self.context
        return {
            "entry": journal_row(context) if self.is_own else b"",
            "exercised": exercised_row(context.exercised) if self.is_own else "",
            "is_changed": self.changes is not None,
            "log": self.log,
            "history": self.undoing,
        }


def settle_requests(
    world: World, requests: Sequence[WorkedRequest], total: int, *, is_continued: bool
) -> None:
    """Numbers requests that were committed, and attributes their changes to them.

    Args:
        world: The world.
        requests: The requests of one commit, in their order.
        total: The number of the last of them in the journal of the store.
        is_continued: Whether the copy of the journal lacks nothing before them; else they are loaded
            with what it lacks.
    """
    for request, numbers in _numbered(requests, total):
        context = request.context
        if request.is_own:
            context.number = numbers[0] + 1
            if is_continued:
                world.journal.add(context)
        if request.changes is not None:
            call = context.method, context.path
            settle_numbered(world, context.started, call, numbers, request.changes)


def _numbered(
    requests: Iterable[WorkedRequest], total: int
) -> Iterator[tuple[WorkedRequest, tuple[int, int | None]]]:
    """Yields each request with the number of the last one before it, and its own."""
    last = total - sum(request.is_own for request in requests)
    for request in requests:
        yield request, (last, last + 1 if request.is_own else None)
        last += request.is_own
