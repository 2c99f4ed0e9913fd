"""Files that a mock is started with, one value or key replaced: each is read, or refused in one line.

They are fixtures, stubs, the profile of a deployment, overlays, state models and seed data. Whatever is
taken leaves a mock whose responses are no errors of its own.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random  # noqa: TID251 - drawn from the seed
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import httpx
import yaml
from tests.proofs.attack.files.attempts import ROOT, Attempt, FileList
from tests.proofs.attack.files.calls import LARGE
from tests.proofs.attack.files.capsules import AS_ADA, READS, mutated, places
from tests.proofs.attack.files.targets import LONGEST

from understudy.api.bundled_target import SITE
from understudy.api.in_process import InProcess, mock
from understudy.errors import StartupError
from understudy.mock.settings import Settings, settings_like

_BERTHS = ROOT / "examples" / "berths.yaml"

DAMAGED = 0.1
"""The share of files whose text is damaged."""

_MARKS = ("\x85", "&a *a", "{", "!!python/x ", "\t", "<<: ", "\x00", "---\n")

_STUB = {
    "operation": "getProfile",
    "when": {"path": {"profileIdentifier": "ben"}, "query": {"a": {"contains": "b"}}},
    "response": [{"status": 200, "headers": {"x-a": "b"}, "merge": {"company": "c"}}],
    "times": 2,
    "delay": "1ms",
}
_PROFILE = {
    "vocabulary": {
        "scopes": {"read": "gallery:read", "manage": "gallery:edit"},
        "qr_types": {"user": "person", "service": "logo", "none": "plain"},
        "rate_limit_headers": "X-Gallery-RateLimit",
        "profile_statuses": {"not_found": "not-found"},
        "user_info": {
            "path": "/rest/v1/me",
            "members": {"ID": "sub", "login": "preferred_username"},
        },
        "token_endpoint": {"basic": True, "multipart": True},
    },
    "choose": {"rate-limits": "off", "avatar-delete-status": "200"},
}
_OVERLAY = {
    "overlay": "1.0.0",
    "info": {"title": "Mended", "version": "1"},
    "actions": [
        {"target": "$.info", "update": {"version": "1.0"}},
        {"target": "$.paths.*.put", "remove": True},
    ],
}


class Kind(NamedTuple):
    """A kind of file.

    Attributes:
        content: What is right.
        settings: Writes a content into a directory, and returns settings that name it.
    """

    content: Any
    settings: Callable[[Path, str], Settings]


def _fixture(name: str, place: Path, text: str) -> Settings:
    shutil.copytree(ROOT / "fixtures", place / "fixtures")
    path = place / "fixtures" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return Settings(fixtures=place / "fixtures")


def _profile(place: Path, text: str) -> Settings:
    return settings_like(_written(place, text))


def _of_berths(setting: str, place: Path, text: str) -> Settings:
    path = _written(place, text)
    value: Any = (path,) if setting == "overlays" else path
    return Settings(document=_BERTHS, **{setting: value})


def _written(place: Path, text: str) -> Path:
    path = place / "file.yaml"
    path.write_text(text)
    return path


def _bundled(name: str) -> Kind:
    content = yaml.safe_load((ROOT / "fixtures" / name).read_bytes())
    return Kind(content, partial(_fixture, name))


KINDS: Mapping[str, Kind] = {
    "person": _bundled("people/ada.yaml"),
    "tokens": _bundled("tokens.yaml"),
    "application": _bundled("applications/server-app.yaml"),
    "stubs": Kind([_STUB, _STUB], partial(_fixture, "stubs/one.yaml")),
    "profile": Kind(_PROFILE, _profile),
    "overlay": Kind(_OVERLAY, partial(_of_berths, "overlays")),
    "state model": Kind(
        {"collections": {"/berths": {"unique": ["name"], "stateless": False}}},
        partial(_of_berths, "state_model"),
    ),
    "seed data": Kind(
        {"berths": [{"name": "One", "length": 12.5}, {"name": "Two"}]},
        partial(_of_berths, "seed_data"),
    ),
}
"""What the file is to its right content, and how a mock is started with it."""

_OF_BERTHS = ("/berths", "/berths/1", "/berths?name=One")


def attempts(count: int, seed: int) -> Iterator[Attempt]:
    """Yields each kind as it is, then mutated files of each in turn, and damaged text of some."""
    chance = Random(seed)
    for name, kind in KINDS.items():
        yield Attempt(f"{name} as it is", partial(_right, kind))
    for number, (name, kind) in zip(range(count - len(KINDS)), cycle(KINDS.items()), strict=False):
        what, changed = mutated(kind.content, [*places(kind.content)], chance, LARGE)
        text = yaml.safe_dump(changed, allow_unicode=True)
        if chance.random() < DAMAGED:
            at = chance.randrange(len(text))
            what = f"other text at {at}"
            text = text[:at] + chance.choice(_MARKS) + text[at:]
        yield Attempt(f"{number}: {name} {what:.80}", partial(started, kind, text))


def _right(kind: Kind) -> Iterator[str]:
    yield from started(kind, yaml.safe_dump(kind.content), is_right=True)


def started(kind: Kind, text: str, *, is_right: bool = False) -> Iterator[str]:
    """Starts a mock with a file, and yields what should not have come of it."""
    with TemporaryDirectory() as directory:
        try:
            served = mock(kind.settings(Path(directory), text))
        except StartupError as error:
            refusal = str(error)
            if is_right or "\n" in refusal.rstrip() or len(refusal) > LONGEST:
                yield f"a refusal of {len(refusal)} characters: {refusal[:300]!r}"
            return
        with InProcess(served) as wire, httpx.Client(transport=wire, base_url=SITE) as client:
            for path in (*READS, *_OF_BERTHS):
                yield from _failed(client.get(path))
            for path in AS_ADA:
                yield from _failed(client.get(path, headers={"authorization": "Bearer ada-full"}))


def _failed(response: httpx.Response) -> Iterator[str]:
    if response.is_server_error:
        yield f"{response.url} is {response.status_code}: {response.text[:200]!r}"


FILES = FileList(attempts, count=1_000, seconds=5.0, megabytes=400)
