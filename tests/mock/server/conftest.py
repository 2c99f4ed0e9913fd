"""A small service of notes, served by the whole stack, and ways to ask it something.

The document is written once, in 3.0 (``notes.yaml``); its 3.1 twin says ``nullable`` and files in
3.1's words.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.errors import NotFound, Problem
from understudy.interface.rules import Option, Switch, choose
from understudy.mock.policies import POLICIES
from understudy.mock.server.api import Api
from understudy.mock.server.call import Call, HandlerResponse, Principal, Upload
from understudy.mock.server.clock import Clock
from understudy.mock.server.parameters import ABSENT
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.stack import Site, SiteConfig
from understudy.mock.server.world_selection import Worlds
from understudy.mock.server.worlds import DEFAULT, World
from understudy.openapi.loader import load

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
QUOTA = 3

NOTES = Path(__file__).with_name("notes.yaml").read_text()

NOTES_31 = (
    NOTES.replace("openapi: 3.0.3", "openapi: 3.1.0")
    .replace("{type: boolean, nullable: true}", "{type: [boolean, 'null']}")
    .replace("{type: integer, nullable: true,", "{type: [integer, 'null'],")
    .replace("{type: string, format: binary}", "{contentMediaType: application/octet-stream}")
)

PRINCIPALS = {
    "ada-token": Principal("ada", "oauth", frozenset({"auth", "read"}), "ada-token"),
    "ben-token": Principal("ben", "oauth", frozenset({"auth"}), "ben-token"),
    "ada-key": Principal("ada", "api_key", frozenset(), "ada-key"),
    "old-token": Principal("ada", "oauth", frozenset({"auth", "read"}), "old-token"),
}

SWITCHES = {
    name: Switch(name, options[0], tuple(Option(it, "one reading") for it in options))
    for name, options in {
        "scopes": ("checked", "ignored"),
        "invalid-optional-token": ("refused", "anonymous"),
        "rate-limits": ("on", "off", "warn"),
        "unknown-profile-members": ("refuse", "ignore"),
    }.items()
}


class Time:
    """A clock that only moves when told."""

    def __init__(self) -> None:
        self.now = START

    def advance(self, span: timedelta) -> None:
        self.now += span


def drops_unknown_members(choices: Mapping[str, str], _handler: object) -> bool:
    return choices.get("unknown-profile-members") == "ignore"


def authenticate(_world: World, token: str, now: datetime) -> Principal | None:
    expired = token == "old-token" and now >= START + timedelta(hours=2)
    return None if expired else PRINCIPALS.get(token)


def error_response(problem: Problem) -> HandlerResponse:
    body = {"error": problem.message, "code": problem.code}
    return HandlerResponse(body, problem.status, headers=problem.headers)


def list_notes(  # noqa: PLR0913 - one of each kind
    _call: Call,
    *,
    size: Any = ABSENT,
    colour: Any = ABSENT,
    ratio: Any = ABSENT,
    starred: Any = ABSENT,
    search: Any = ABSENT,
    tag: Any = ABSENT,
    ids: Any = ABSENT,
    filter_: Any = ABSENT,
    scope: Any = ABSENT,
    x_depth: Any = ABSENT,
    theme: Any = ABSENT,
) -> HandlerResponse:
    asked = {name: value for name, value in locals().items() if value is not ABSENT}
    return HandlerResponse({name: value for name, value in asked.items() if name != "_call"})


def told(_call: Call, *, body: Any = None) -> HandlerResponse:
    return HandlerResponse({"body": body})


def get_note(_call: Call, note_id: int) -> HandlerResponse:
    return HandlerResponse({"id": note_id})


def delete_note(_call: Call, _note_id: int) -> HandlerResponse:
    return HandlerResponse(None, 204)


async def put_picture(_call: Call, _note_id: str, *, body: dict[str, Any]) -> HandlerResponse:
    seen = {k: v.content.hex() if isinstance(v, Upload) else v for k, v in body.items()}
    return HandlerResponse(seen)


def whose(call: Call) -> HandlerResponse:
    return HandlerResponse(
        {"person": call.principal and call.principal.person, "site": call.site_url}
    )


def failing(_call: Call) -> HandlerResponse:
    msg = "a shelf fell down"
    raise RuntimeError(msg)


HANDLERS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("GET", "/notes"): list_notes,
    ("POST", "/notes"): told,
    ("GET", "/notes/{id}"): get_note,
    ("DELETE", "/notes/{id}"): delete_note,
    ("POST", "/notes/{id}/picture"): put_picture,
    ("POST", "/forms"): told,
    ("GET", "/shelf"): whose,
    ("GET", "/shelf/own"): whose,
    ("GET", "/failing"): failing,
}


async def nowhere(_scope: Scope, _receive: Receive, _send: Send) -> None:
    msg = ""
    raise NotFound(msg)


HOST = ((b"Host", b"mock.test"),)
"""What a request says that says nothing else."""


@dataclass(repr=False)
class Service:
    """The stack around a document, a world with a clock of its own, and what was recorded."""

    text: str
    directory: Path
    time: Time = field(default_factory=Time)
    recorded: list[RequestContext] = field(default_factory=list)
    site: Mapping[str, Any] = field(default_factory=dict)
    api: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        path = self.directory / "notes.yaml"
        path.write_text(self.text)
        document = self.document = load(path)
        settings: dict[str, Any] = {
            "document": document,
            "base_path": document.base_path,
            "handlers": HANDLERS,
            "error_response": error_response,
            "authenticate": authenticate,
            "scopes": {("GET", "/shelf/own"): frozenset({"auth", "read"})},
            "limited": frozenset({("GET", "/shelf")}),
            "policies": replace(POLICIES, drops_unknown_members=drops_unknown_members),
            "quota": lambda principal: QUOTA + 1 if principal else QUOTA,
            **self.api,
        }
        self.world = World(
            DEFAULT, {}, clock=Clock(lambda: self.time.now), choices=dict(self.choices)
        )
        site: dict[str, Any] = {
            "apis": (Api(**settings),),
            "worlds": Worlds(self.world),
            "elsewhere": nowhere,
            "choose": lambda texts: choose(SWITCHES, texts),
            "records": (self.recorded.append,),
            **self.site,
        }
        self.application: ASGIApp = Site(SiteConfig(**site))

    def ask(self, method: str, target: str, **request: Any) -> httpx.Response:
        """Sends one request, as a client would."""

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.application)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://mock.test"
            ) as client:
                return await client.request(method, target, **request)

        return asyncio.run(ask())

    def get(self, target: str, **request: Any) -> httpx.Response:
        return self.ask("GET", target, **request)

    def post(self, target: str, **request: Any) -> httpx.Response:
        return self.ask("POST", target, **request)

    def bare(
        self,
        method: str,
        path: str,
        query: bytes = b"",
        headers: tuple[tuple[bytes, bytes], ...] = (),
        body: bytes = b"",
        http_version: str = "1.1",
    ) -> httpx.Response:
        """Sends what no client library would let through."""
        request = httpx.Request(method, "http://mock.test", content=body)
        sent: list[Any] = []
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": http_version,
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode("utf-8", "surrogateescape"),
            "query_string": query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in headers or HOST],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8080),
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.application(scope, receive, send))  # type: ignore[arg-type]  # a coroutine
        start, *rest = sent
        content = b"".join(message.get("body", b"") for message in rest)
        return httpx.Response(
            start["status"], headers=start["headers"], content=content, request=request
        )


Serve = Callable[..., Service]


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """Serves a document of the test's own."""

    def serve(text: str = NOTES, **settings: Any) -> Service:
        return Service(text, tmp_path, **settings)

    return serve


@pytest.fixture(scope="module", params=[NOTES, NOTES_31], ids=["3.0", "3.1"])
def notes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The service of notes; for tests that leave nothing behind in it."""
    return Service(request.param, tmp_path_factory.mktemp("notes"))
