"""Lists what the time of a world will end next: codes, tokens and windows (``openapi/admin.yaml``)."""

from collections.abc import Iterator
from datetime import datetime
from heapq import nsmallest
from typing import Any, Literal, NamedTuple

from understudy.mock.server.call import Call, HandlerResponse
from understudy.mock.server.clock import written
from understudy.mock.server.handlers import Handlers
from understudy.mock.server.windows import WINDOW
from understudy.mock.server.worlds import World
from understudy.mock.store.applications import CODES
from understudy.mock.store.tokens import TOKENS


class Upcoming(NamedTuple):
    """Something that ends at a moment.

    Attributes:
        at: The moment.
        kind: An authorization code or a token that expires, or a window of the rate limit.
        of: The person, or the principal whose requests are counted.
        client_id: The application of a code or a token; None where it has none.
        token: The token; None of the others, as a code that is seen could be exchanged.
    """

    at: datetime
    kind: Literal["code", "token", "window"]
    of: str
    client_id: str | None = None
    token: str | None = None


def list_upcoming(call: Call, *, limit: int = 20) -> HandlerResponse:
    """Responds to ``GET /clock/upcoming``, the soonest first."""
    world = call.world
    now = world.clock.now()
    coming = (each for each in _upcoming(world) if each.at > now)
    return HandlerResponse([_as_json(each) for each in nsmallest(limit, coming, key=_moment)])


def _upcoming(world: World) -> Iterator[Upcoming]:
    for _, code in world.items(CODES):
        yield Upcoming(code.expires, "code", code.person, code.client_id)
    for _, token in world.items(TOKENS):
        if token.expires is not None:
            end = datetime.fromisoformat(token.expires)
            yield Upcoming(end, "token", token.person, token.client_id, token.token)
    for name, window in world.windows.items():
        yield Upcoming(window.opened + WINDOW, "window", name)


def _moment(each: Upcoming) -> datetime:
    return each.at


def _as_json(each: Upcoming) -> dict[str, Any]:
    return {**each._asdict(), "at": written(each.at)}


HANDLERS: Handlers = {("GET", "/clock/upcoming"): list_upcoming}
