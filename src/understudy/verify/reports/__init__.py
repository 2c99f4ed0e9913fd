"""Reports: each format has a module with a function from an outcome to a text."""

from collections.abc import Callable, Mapping
from typing import Final

from understudy.verify.outcome import Outcome
from understudy.verify.reports.gitlab import gitlab
from understudy.verify.reports.html import html
from understudy.verify.reports.json import json
from understudy.verify.reports.junit import junit
from understudy.verify.reports.markdown import markdown
from understudy.verify.reports.sarif import sarif
from understudy.verify.reports.traffic_archive import traffic_archive

Secrets = Mapping[str, str]
"""Each secret, and the variable that replaces it."""

FORMATS: Final[Mapping[str, Callable[[Outcome, Secrets], str]]] = {
    "json": json,
    "junit": junit,
    "html": html,
    "sarif": sarif,
    "har": traffic_archive,
    "gitlab": gitlab,
    "markdown": markdown,
}
"""The formats of ``--report``, in the order of its help text."""
