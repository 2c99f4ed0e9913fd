"""Defines the state of a world at one moment."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from understudy.mock.server.clock import ClockSetting
from understudy.mock.server.faults import Fault
from understudy.mock.server.records import Baseline
from understudy.mock.server.windows import Window


class Snapshot(NamedTuple):
    """The state of a world at one moment, without its journal; immutable."""

    baseline: Baseline
    overlay: Mapping[str, Mapping[str, Any]]
    clock: ClockSetting | None
    seed: int
    issued: int
    choices: Mapping[str, str]
    windows: Mapping[str, Window]
    limits: Mapping[str, int]
    faults: Mapping[str, Fault]
