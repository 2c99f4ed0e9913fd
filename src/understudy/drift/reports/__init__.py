"""Writes how two deployments and their documents differ: each format is a function of the report."""

from collections.abc import Callable, Mapping
from typing import Final

from understudy.drift.reports.content import DriftReport
from understudy.drift.reports.html import html
from understudy.drift.reports.json import json
from understudy.drift.reports.markdown import markdown
from understudy.drift.reports.sarif import sarif

FORMATS: Final[Mapping[str, Callable[[DriftReport], str]]] = {
    "json": json,
    "html": html,
    "sarif": sarif,
    "markdown": markdown,
}
"""The formats of ``--report``, in the order of its help text."""
