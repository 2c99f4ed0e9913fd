"""Mutated capsules: whatever is accepted must leave a world that can be read, exported and saved."""

import io
import json
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import PurePosixPath
from random import Random  # noqa: TID251 - drawn from the seed
from typing import Any

from tests.mock.admin.conftest import Driver, Time
from tests.mock.renewal import renew
from tests.mock.service.test_image_processing import picture
from tests.proofs.attack.files.attempts import Attempt, FileList

from understudy.mock.server.clock import Clock
from understudy.mock.settings import Settings

ZIP = {"content-type": "application/zip"}

JUNK: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        1,
        2**31,
        2**63,
        10**30,
        -(10**30),
        1.5,
        1e308,
        "",
        " ",
        "x",
        "ada",
        "nobody",
    ),
    *("\x1b[2J", "\x00", "\r\nX: 1", "../../PWN", "/etc/passwd", "C:\\x", "javascript:alert(1)"),
    *(
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "2026-01-01T00:00:00",
        "http://[",
        "é",
    ),
    *(
        "{{understudy token 1}}",
        "{{understudy issued 1 hex 999999999}}",
        "{{understudy",
        "9" * 5000,
    ),
    *([], [[]], {}, {"a": 1}, [None], {"": ""}),
)
"""Values that stand in the place of another, whatever its type."""

READS = (
    *("/", "/ada", "/apps", "/openapi", "/v3/profiles/ada", "/v3/profiles/ben", "/__admin/export"),
    *("/__admin/capsule", "/__admin/worlds", "/__admin/people", "/__admin/people/ada"),
    *("/__admin/people/ada/fixture", "/__admin/people/ada/avatar", "/__admin/applications"),
    *(
        "/__admin/requests",
        "/__admin/requests/1",
        "/__admin/requests/har",
        "/__admin/requests/unmatched",
    ),
    *(
        "/__admin/requests/unmatched/near-misses",
        "/__admin/changes",
        "/__admin/clock",
        "/__admin/faults",
    ),
    *("/__admin/limits", "/__admin/choices", "/__admin/upcoming", "/__admin/sessions"),
    *("/__admin/exercised", "/__admin/snapshots", "/__admin/rules"),
)
"""What is read of a world that a capsule has changed."""

AS_ADA = ("/v3/me/profile", "/v3/me/avatars")
SIGN_IN = {"username": "ada", "password": "ada-password"}


def lived_in(driver: Driver) -> bytes:
    """Returns a capsule of a world that has a record of nearly every kind."""
    application = driver.admin("POST", "/applications", {"owner": "ada", "name": "Mine"})
    driver.admin("POST", "/tokens", {"person": "ben", "expires_in": 3600})
    driver.admin("POST", "/faults", {"status": 503, "operation": "getProfile", "times": 1})
    driver.admin("PUT", "/limits/ada", {"limit": 900, "used": 3})
    driver.admin("PATCH", "/choices", {"avatar-delete-status": "200"})
    driver.ask("PATCH", "/v3/me/profile", json={"location": "Two"}, token="ada-full")
    driver.ask("POST", "/v3/me/avatars", files={"data": ("a.png", picture())}, token="ada-full")
    site = "http://127.0.0.1:8081"
    form = {"grant_type": "password", **SIGN_IN, "client_id": application["client_id"]}
    for secret in ("wrong", application["client_secret"]):
        driver.ask("POST", f"{site}/oauth2/token", data={**form, "client_secret": secret})
    driver.get("/v3/profiles/ada")
    driver.get("/nowhere")
    return driver.get("/__admin/capsule").content


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the path to every value within a value of JSON."""
    below: Any = ()
    if isinstance(value, dict):
        below = value.items()
    elif isinstance(value, list):
        below = enumerate(value)
    for key, member in below:
        yield (*above, key)
        yield from places(member, (*above, key))


def mutated(
    capsule: Any, spots: list[tuple[Any, ...]], chance: Random, more: tuple[Any, ...] = ()
) -> tuple[str, Any]:
    """Returns a capsule with one value, or one key, replaced; and what was done."""
    *steps, last = chance.choice(spots)
    junk = chance.choice((*JUNK, *more))
    changed = deepcopy(capsule)
    parent = changed
    for step in steps:
        parent = parent[step]
    if isinstance(parent, dict) and isinstance(junk, str) and chance.random() < 0.3:
        parent[junk] = parent.pop(last)
        return f"{[*steps, last]} renamed to {junk[:30]!r}", changed
    parent[last] = junk
    return f"{[*steps, last]} = {str(junk)[:30]!r}", changed


def attempts(count: int, seed: int) -> Iterator[Attempt]:
    """Yields mutated capsules."""
    time, chance = Time(), Random(seed)
    driver = Driver(Settings(), time)
    with zipfile.ZipFile(io.BytesIO(lived_in(driver))) as archive:
        capsule = json.loads(archive.read("capsule.json"))
    every = [spot for spot in places(capsule) if spot != ("format",)]
    state = [spot for spot in every if spot[0] in {"changes", "settings"}]
    for number in range(count):
        what, changed = mutated(capsule, state if number % 3 else every, chance)
        yield Attempt(f"{number}: {what}", partial(opened, driver, time, changed))


def opened(driver: Driver, time: Time, capsule: Any) -> Iterator[str]:
    """Opens a capsule in a mock as it began, reads everything, and yields what fails."""
    renew(driver.mock, Clock(lambda: time.now))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("capsule.json", json.dumps(capsule))
    answer = driver.ask("POST", "/__admin/capsule", content=packed.getvalue(), headers=ZIP)
    if answer.status_code >= 500:
        yield f"opening it is {answer.status_code}: {answer.text[:200]}"
    if not answer.is_success:
        if ":" not in answer.json()["detail"]:
            yield f"the refusal names no place: {answer.text[:200]}"
        return
    yield from left_behind(driver)


def left_behind(driver: Driver) -> Iterator[str]:
    """Reads everything of a world, and yields what fails."""
    driver.mock.world.faults.clear()
    for path in READS:
        yield from _failed(path, driver.get(path))
    for path in AS_ADA:
        yield from _failed(path, driver.get(path, token="ada-full"))
    yield from _failed("sign-in", driver.ask("POST", "http://127.0.0.1:8081/sign-in", data=SIGN_IN))
    export = driver.get("/__admin/export")
    if export.is_success:  # else it failed above
        yield from _leading_out(export.content)
    for application in driver.admin("GET", "/applications"):
        if any(uri.startswith("javascript:") for uri in application["redirect_uris"]):
            yield "a redirect address runs a script"


def _failed(path: str, answer: Any) -> Iterator[str]:
    if answer.status_code >= 500:
        yield f"{path} is {answer.status_code} afterwards: {answer.text[:200]}"


def _leading_out(export: bytes) -> Iterator[str]:
    """Yields the entries of an export that would lead out of the directory they are unpacked into."""
    with zipfile.ZipFile(io.BytesIO(export)) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
                yield f"the export has an entry {name!r}"


FILES = FileList(attempts, count=600, seconds=2.0, megabytes=150)
