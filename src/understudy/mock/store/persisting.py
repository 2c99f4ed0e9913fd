"""Chooses where worlds are kept: in memory, in a directory, or in a store that replicas share."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from understudy import plugins
from understudy.errors import StartupError
from understudy.installation import missing_extra
from understudy.mock.server.transactions import SharedStore
from understudy.mock.server.world_selection import Worlds
from understudy.mock.server.worlds import World
from understudy.mock.settings import Settings
from understudy.mock.store.collections import COLLECTIONS

Join = Callable[[World, str, Settings, Mapping[str, str]], tuple[Worlds, SharedStore]]
"""Joins the default world to a store by its URL, with the settings, and what replicas have in common."""


def persisted(
    default: World, settings: Settings, pinned: Callable[[], Mapping[str, str]]
) -> tuple[Worlds, "SharedStore | None"]:
    """Returns the worlds of a mock, as its settings have them kept, and the store that they share.

    Args:
        default: The world at the plain base address, as it begins.
        settings: The settings of the mock.
        pinned: Returns what replicas must have in common, by name.

    Raises:
        StartupError: The state cannot be used.
    """
    capacity, requires_name = settings.journal, settings.require_world
    if isinstance(settings.state, str):
        return _replica(default, settings.state, settings, pinned)
    worlds = Worlds(default, requires_name=requires_name, capacity=capacity)
    if settings.state is not None:
        from understudy.mock.store.sqlite import SqliteStore  # noqa: PLC0415 - SQLite is for this alone

        is_repair = settings.state_repair
        store = SqliteStore(settings.state, COLLECTIONS, default.baseline, is_repair=is_repair)
        store.restore(worlds)
    return worlds, None


def _replica(
    default: World, url: str, settings: Settings, pinned: Callable[[], Mapping[str, str]]
) -> tuple[Worlds, "SharedStore"]:
    if settings.reload or settings.state_repair:
        option = "--reload" if settings.reload else "--state-repair"
        msg = f"{option} cannot be used with a store that replicas share; leave it out."
        raise StartupError(msg)
    try:  # a client of the store is installed and imported only for those who have one
        joined: Join = plugins.find("stores", url.partition("://")[0].lower())
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    return joined(default, url, settings, pinned())


_OPTIONS = (
    "seed",
    "choices",
    "handlers",
    "tokens",
    "infer",
    "journal",
    "require_world",
    "user_info",
)
"""Settings that decide what a world begins with, or how it responds."""


def fingerprint(settings: Settings, fixtures: Path, documents: Iterable[Path]) -> Mapping[str, str]:
    """Returns the name of each file and option to its digest.

    Args:
        settings: The settings of the mock.
        fixtures: The directory of its fixtures.
        documents: The files of the document in force.
    """
    optional = {
        "--vocabulary": settings.vocabulary,
        "--state-model": settings.state_model,
        "--seed-data": settings.seed_data,
    }
    files = [("--document", path) for path in documents]
    files += [("--overlay", path) for path in settings.overlays]
    files += [(option, path) for option, path in optional.items() if path is not None]
    digests = {
        f"fixtures/{path.relative_to(fixtures).as_posix()}": _digest(path.read_bytes())
        for path in sorted(fixtures.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }
    for option, path in files:
        paths = sorted(path.rglob("*")) if path.is_dir() else [path]
        for each in paths:
            if each.is_file():
                digests[f"{option} {each.name}"] = _digest(each.read_bytes())
    for option in _OPTIONS:
        value = getattr(settings, option)
        shown = sorted(value.items()) if isinstance(value, Mapping) else value
        digests[f"--{option.replace('_', '-')}"] = str(shown)
    return digests


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
