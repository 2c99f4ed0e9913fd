"""Reports: an outcome in, a text out; each format in its own module."""

from collections.abc import Callable, Mapping
from typing import Final

from understudy.verify.outcome import Outcome
from understudy.verify.reports.gitlab import gitlab
from understudy.verify.reports.har import har
from understudy.verify.reports.html import html
from understudy.verify.reports.json import json
from understudy.verify.reports.junit import junit
from understudy.verify.reports.sarif import sarif

Secrets = Mapping[str, str]
"""Each secret, and the name that stands for it."""

FORMATS: Final[Mapping[str, Callable[[Outcome, Secrets], str]]] = {
    "json": json,
    "junit": junit,
    "html": html,
    "sarif": sarif,
    "har": har,
    "gitlab": gitlab,
}
"""In the order in which they are offered."""
