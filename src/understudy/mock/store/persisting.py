"""Chooses the store of worlds: memory, an SQLite directory, or a store that replicas share."""

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

Join = Callable[[World, str, Settings, Mapping[str, str]], tuple[Worlds, SharedStore]]
"""Connects the default world to a shared store: takes the world, the store's URL, the settings, and
the digests of the files and options that must be equal at all replicas."""


def persisted(
    default: World, settings: Settings, pinned: Callable[[], Mapping[str, str]]
) -> tuple[Worlds, "SharedStore | None"]:
    """Returns the worlds of a mock in the store of its settings, and the store if replicas share it.

    Args:
        default: The default world in its initial state.
        settings: The settings of the mock.
        pinned: Returns the digests of the files and options that must be equal at all replicas.

    Raises:
        StartupError: The store cannot be used.
    """
    capacity, requires_name = settings.journal, settings.require_world
    if isinstance(settings.state, str):
        return _replica(default, settings.state, settings, pinned)
    worlds = Worlds(default, requires_name=requires_name, capacity=capacity)
    if settings.state is not None:
        from understudy.mock.store.sqlite import SqliteStore  # noqa: PLC0415 - only --state needs it

        is_repair = settings.state_repair
        store = SqliteStore(settings.state, default.baseline, is_repair=is_repair)
        store.restore(worlds)
    return worlds, None


def _replica(
    default: World, url: str, settings: Settings, pinned: Callable[[], Mapping[str, str]]
) -> tuple[Worlds, "SharedStore"]:
    if settings.reload or settings.state_repair:
        option = "--reload" if settings.reload else "--state-repair"
        msg = f"{option} cannot be used with a store that replicas share; leave it out."
        raise StartupError(msg)
    try:  # the client library of the store is an optional dependency
        joined: Join = plugins.find("stores", url.partition("://")[0].lower())
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    return joined(default, url, settings, pinned())


_OPTIONS = (
    "seed",
    "choices",
    "handlers",
    "tokens",
    "accept",
    "infer",
    "journal",
    "require_world",
    "user_info",
)
"""Settings that decide the initial state of a world or its responses."""


def fingerprint(settings: Settings, fixtures: Path, documents: Iterable[Path]) -> Mapping[str, str]:
    """Returns the digests of the files and options that must be equal at all replicas, by name."""
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
        for file in paths:
            if file.is_file():
                name = f"{option} {file.name}"
                # files of one name, from several directories, have one digest together
                digests[name] = _digest(digests.get(name, "").encode() + file.read_bytes())
    for option in _OPTIONS:
        value = getattr(settings, option)
        shown = sorted(value.items()) if isinstance(value, Mapping) else value
        digests[f"--{option.replace('_', '-')}"] = str(shown)
    return digests


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
