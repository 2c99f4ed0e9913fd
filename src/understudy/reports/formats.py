"""The formats of ``--report``: each a function of a report, whichever command filled it."""

from collections.abc import Callable, Mapping
from typing import Final

from understudy.reports.code_hosts import gitlab, sarif
from understudy.reports.content import Report
from understudy.reports.html import html
from understudy.reports.junit import junit
from understudy.reports.markdown import markdown


def json(report: Report) -> str:
    """Returns the report as JSON."""
    return report.records["json"]()


def har(report: Report) -> str:
    """Returns all traffic of a run as an HTTP archive (HAR 1.2)."""
    return report.records["har"]()


FORMATS: Final[Mapping[str, Callable[[Report], str]]] = {
    "json": json,
    "junit": junit,
    "html": html,
    "sarif": sarif,
    "har": har,
    "gitlab": gitlab,
    "markdown": markdown,
}
"""The formats, in the order of the option's help text."""
