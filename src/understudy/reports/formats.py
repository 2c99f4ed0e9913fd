"""The formats of ``--report``, each a function that writes the report of any command."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Final

from understudy.reports.code_hosts import gitlab, sarif
from understudy.reports.content import Report
from understudy.reports.html import html
from understudy.reports.junit import junit
from understudy.reports.markdown import markdown
from understudy.terminal import printable


def json(report: Report) -> str:
    """Returns the report as JSON."""
    return report.records["json"]()


def har(report: Report) -> str:
    """Returns all traffic of a run as an HTTP archive (HAR 1.2)."""
    return report.records["har"]()


def _printable(write: Callable[[Report], str]) -> Callable[[Report], str]:
    """Returns a format with control characters escaped, which terminals obey; JSON stays valid."""

    @wraps(write)
    def shown(report: Report) -> str:
        return printable(write(report))

    return shown


FORMATS: Final[Mapping[str, Callable[[Report], str]]] = {
    write.__name__: _printable(write) for write in (json, junit, html, sarif, har, gitlab, markdown)
}
"""The formats, in the order of the option's help text."""
