"""Defines the state of a world at one moment."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from understudy.mock.engine.clock import ClockSetting
from understudy.mock.engine.faults import Fault
from understudy.mock.engine.records import Baseline
from understudy.mock.engine.windows import Window


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
