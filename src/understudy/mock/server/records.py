"""Names the records that worlds hold: their kinds, the shared ones, and the change of one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Collection(Generic[Record]):
    """The name of one kind of record, and its type; the records themselves live in worlds.

    Attributes:
        name: What the state is kept under.
        type: Of the records.
        is_transient: Whether the oldest record makes room for a new one once there are too many.
    """

    name: str
    type: Any = Any
    is_transient: bool = False


class RecordChange(NamedTuple):
    """One record of one collection, replaced by another or (None) removed."""

    collection: str
    key: str
    record: Any


Baseline = Mapping[str, Mapping[str, Any]]
"""Collection name to key to record; shared by all worlds and never changed."""
