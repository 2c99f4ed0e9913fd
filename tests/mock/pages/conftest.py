"""A small world, and a way to ask for its pages without a socket."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from understudy.mock.pages.page_routing import pages
from understudy.mock.server.clock import Clock
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead, put_context
from understudy.mock.server.worlds import World
from understudy.mock.store.people import PEOPLE, Email, Person, Profile
from understudy.mock.store.tokens import TOKENS, Token

BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


class Page(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


Ask = Callable[..., Page]


@pytest.fixture
def world() -> World:
    world = World("default", {}, clock=Clock(lambda: datetime(2026, 5, 1, tzinfo=UTC)))
    profile = Profile(display_name="Ada Winterbourne", job_title="Cartographer")
    emails = (Email("ada@example.com"),)
    world.put(PEOPLE, "ada", Person("ada", "The person to begin with.", emails, profile))
    world.put(TOKENS, "ada-full", Token("ada-full", "ada", scopes=("auth",), about="Does it all."))
    return world


def request(
    world: World,
    path: str,
    method: str = "GET",
    accept: str = BROWSER,
    host: str = "127.0.0.1:8080",
    client: str = "127.0.0.1",
) -> dict[str, Any]:
    """Returns the scope of a request as it reaches the pages."""
    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", host.encode()), (b"accept", accept.encode())],
        "client": (client, 50000),
    }
    put_context(scope, RequestContext.of(RequestHead.of(scope), Peer.of(scope), world))
    return scope


async def receive() -> Any:
    return {"type": "http.request", "body": b""}


@pytest.fixture
def ask(world: World) -> Ask:
    """Asks as a browser does, unless told otherwise; what is refused in the API's shape raises."""
    site = pages("/v3", ("people",))

    def get(*asked: str, **otherwise: str) -> Page:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def answer() -> None:
            await site(request(world, *asked, **otherwise), receive, send)

        asyncio.run(answer())
        headers = {name.decode(): text.decode() for name, text in sent[0]["headers"]}
        body = b"".join(message.get("body", b"") for message in sent[1:])
        return Page(sent[0]["status"], headers, body.decode())

    return get
