"""Calls of the admin API with one member replaced: whatever is taken leaves a world that can be read."""

from collections.abc import Iterator
from functools import partial
from random import Random  # noqa: TID251 - drawn from the seed
from typing import Any

from tests.mock.admin.conftest import Driver, Time
from tests.mock.renewal import renew
from tests.proofs.attack.files.attempts import Attempt, FileList
from tests.proofs.attack.files.capsules import left_behind, mutated, places

from understudy.mock.server.clock import Clock
from understudy.mock.settings import Settings

TIME = "2026-03-01T12:00:00Z"
PATTERN = {"urlPathPattern": "/v3/.*", "headers": {"accept": {"matches": "a+"}}, "person": "ada"}

CALLS: tuple[tuple[str, str, Any], ...] = (
    (
        "POST",
        "/worlds",
        {"name": "a", "people": ["ada"], "seed": 1, "choices": {"scopes": "ignored"}},
    ),
    ("POST", "/snapshots", {"name": "a"}),
    ("PATCH", "/clock", {"now": TIME, "frozen": True}),
    ("POST", "/clock/advance", {"seconds": 60}),
    ("POST", "/faults", {"operation": "getProfile", "status": 503, "share": 0.5, "times": 2}),
    (
        "POST",
        "/faults",
        {"person": "ada", "delay": 0.01, "effect": "missing-field", "field": "hash"},
    ),
    (
        "POST",
        "/stubs",
        {
            "operation": "getProfile",
            "when": {"query": {"a": {"contains": "b"}}, "header": {"x": "y"}, "body": {"a": 1}},
            "response": [{"status": 200, "headers": {"x-a": "b"}, "merge": {"company": "c"}}],
            "times": 2,
            "delay": "1ms",
        },
    ),
    ("POST", "/requests/count", PATTERN),
    ("POST", "/requests/find", PATTERN),
    ("POST", "/tokens", {"person": "ada", "scopes": ["auth"], "expires_in": 60}),
    ("PUT", "/limits/ada", {"limit": 9, "used": 3}),
    ("PATCH", "/choices", {"avatar-delete-status": "200"}),
    (
        "POST",
        "/applications",
        {"owner": "ada", "name": "a", "redirect_uris": ["https://a.example/b"]},
    ),
    (
        "PUT",
        "/people/eve/fixture",
        {
            "slug": "eve",
            "about": "x",
            "emails": [{"email": "eve@example.com"}],
            "profile": {
                "display_name": "Eve",
                "links": [{"label": "a", "url": "https://a.example"}],
                "last_profile_edit": TIME,
            },
        },
    ),
)
"""Method, path and body of calls that are taken as they are."""

LARGE: tuple[Any, ...] = (
    *("x" * 100_000, ["x"] * 5_000, {str(number): number for number in range(5_000)}, -(2**63)),
    *(
        2**63 - 1,
        1e308,
        "a{1000}" * 100,
        "(" * 500,
        [[[[[[[[[]]]]]]]]],
        "\x1b[2J\u202e",
        "\r\nX: 1",
    ),
)
"""Values that are longer or deeper than the ones of capsules."""


def attempts(count: int, seed: int) -> Iterator[Attempt]:
    """Yields calls with one member, or the name of one, replaced."""
    time, chance = Time(), Random(seed)
    driver = Driver(Settings(), time)
    for number in range(count):
        method, path, body = CALLS[number % len(CALLS)]
        what, changed = mutated(body, [*places(body)], chance, LARGE)
        name = f"{number}: {method} {path} {what:.80}"
        yield Attempt(name, partial(called, driver, time, (method, path, changed)))


def called(driver: Driver, time: Time, call: tuple[str, str, Any]) -> Iterator[str]:
    """Calls a mock as it began, reads everything, and yields what fails."""
    method, path, body = call
    renew(driver.mock, Clock(lambda: time.now))
    answer = driver.ask(method, f"/__admin{path}", json=body)
    if answer.status_code >= 500:
        yield f"it is {answer.status_code}: {answer.text[:200]}"
    if len(answer.content) > 20_000 and not answer.is_success:
        yield f"the refusal has {len(answer.content)} bytes"
    if answer.is_success:
        yield from left_behind(driver)


FILES = FileList(attempts, count=600, seconds=2.0, megabytes=150)
