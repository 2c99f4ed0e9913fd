"""Names every list of hostile files: a new one is a module with a ``FILES``, and a line here."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from tests.proofs.attack.files.attempts import FileList

_NAMES: Final = (
    "archives",
    "calls",
    "capsules",
    "documents",
    "pictures",
    "served",
    "states",
    "targets",
    "upstreams",
)


def _list(name: str) -> Callable[[], FileList]:
    def load() -> FileList:
        files: FileList = import_module(f"tests.proofs.attack.files.{name}").FILES
        return files

    return load


LISTS: Final[Mapping[str, Callable[[], FileList]]] = {name: _list(name) for name in _NAMES}
"""Name of each list to what loads it, so that a process loads no other."""
