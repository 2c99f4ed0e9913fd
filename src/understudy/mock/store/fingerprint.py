"""Computes what replicas must have in common: fixtures, documents, and options that shape worlds."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from understudy.mock.settings import Settings

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
