"""A small world with two applications, and requests to the authorization server's parts."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from understudy.engine.call import Call
from understudy.engine.clock import Clock
from understudy.engine.worlds import World
from understudy.records.applications import APPLICATIONS, Application
from understudy.records.people import PEOPLE, Email, Person

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CALLBACK = "http://127.0.0.1:5000/callback"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

SERVER = Application("server-app", "server-secret", "Server App", "ada", (CALLBACK,))
OTHER = Application("other-app", "other-secret", "Other App", "ben", ("http://other.example.com/",))


class Time:
    """A clock that only moves when told."""

    def __init__(self) -> None:
        self.now = START

    def advance(self, span: timedelta) -> None:
        self.now += span


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def world(time: Time) -> World:
    people = (
        Person("ada", "owner", (Email("ada@example.com"),), password="ada-password"),
        Person(
            "ben",
            "two-step owner",
            (Email("ben@example.com"),),
            password="ben-password",
            application_password="abcd efgh",
        ),
    )
    baseline: dict[str, dict[str, Any]] = {
        PEOPLE.name: {person.slug: person for person in people},
        APPLICATIONS.name: {app.client_id: app for app in (SERVER, OTHER)},
    }
    return World("test", baseline, clock=Clock(lambda: time.now))


@pytest.fixture
def call(world: World) -> Callable[..., Call]:
    def make(**members: Any) -> Call:
        return Call(world, "http://127.0.0.1:8081", {}, **members)

    return make
