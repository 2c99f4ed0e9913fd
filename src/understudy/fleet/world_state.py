"""Describes what a replica knows of a world, and what the store replies about one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from msgspec import Struct

TAG_BYTES = 16
"""Bytes of a tag: who committed, and which of its commits."""

NO_ENTRY = b"none"
"""Stands for the last entry of an empty journal."""

UNKNOWN_ENTRY = b"unknown"
"""Stands for the last entry of a journal that has to be loaded again."""


class LoggedChange(Struct, array_like=True):
    """The changes of one commit in a world, as other replicas repeat them.

    Attributes:
        rows: Collection, key and record; None for one that was removed.
        settings: The settings after it; empty where they are as before.
        at: The world's time of the request.
        method: Of the request.
        path: Of the request.
        is_journalled: Whether the request is in the journal.
    """

    rows: list[tuple[str, str, bytes | None]]
    settings: bytes
    at: datetime
    method: str
    path: str
    is_journalled: bool


class WorldState(NamedTuple):
    """The reply of the store on a world that is not as the replica believes (``lua/shared.lua``)."""

    name: bytes
    kind: bytes
    id: bytes = b""
    tag: bytes = b""
    content: Sequence[bytes] = ()
    whole: Sequence[Any] | None = None
    windows: Sequence[bytes] | None = None
    counted: int = -1
    journal: Sequence[Any] | None = None


@dataclass(slots=True)
class WorldCopy:
    """The knowledge that a replica has of a world beside its state.

    Attributes:
        id: Tells it from others that had its name; empty until it is loaded.
        tag: Names the commit that it is up to date with.
        windows: The rate-limit windows as the store has them.
        counted: How often the store has counted requests; -1 where windows are missing here.
        journal: The tag of the last entry of the journal.
        idle: How long it lives without a request.
        changed: How many changes there were when it was loaded, which its history lacks; 0: none.
    """

    id: bytes = b""
    tag: bytes = b""
    windows: dict[str, bytes] = field(default_factory=dict)
    counted: int = -1
    journal: bytes = NO_ENTRY
    idle: timedelta | None = None
    changed: int = 0
