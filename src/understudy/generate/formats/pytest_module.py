"""A self-contained pytest module: it needs pytest and the standard library, not understudy.

It uses ``http.client``, since other clients change requests: they encode URLs and join headers.
"""

from collections.abc import Iterable
from typing import Any

from understudy.cases.model import ENCODED, VARIABLES, Case, CaseRequest
from understudy.generate.formats import export

_USAGE = "Run: TOKEN=... pytest this file. BASE_URL names another deployment."

_HEAD = """import base64
import http.client
import json
import os
import re
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
"""


def write(cases: Iterable[Case], settings: export.ExportSettings) -> export.OutputPieces:
    """Yields the module."""
    yield export.line(f'"""{export.TITLE}.\n\n{_USAGE}\n"""\n')
    yield export.line(_HEAD)
    names = "|".join(VARIABLES)
    yield export.line(f"VARIABLE = {quoted(f'~~({names})({ENCODED})?~~')}")
    yield export.line(f"DEFAULTS = {quoted({k: v for k, v in settings.variables.items() if v})}")
    is_in_sequences, cases = export.looked_ahead(cases)
    steps = export.script("steps.py-tpl")
    yield export.line(f"\nSEQUENCES = {{}}\n\n\n{steps}" if is_in_sequences else "")
    yield export.line("\n\n" + export.script("pytest_functions.py-tpl"))
    set_ups: dict[str, tuple[Any, ...]] = {}
    for case in cases:
        if case.set_up is not None:
            set_ups.setdefault(case.set_up.variable, _request(case.set_up.request))
        yield export.line(f"    # {export.comment(case)}\n    {quoted(_row(case))},")
    tests = export.script(f"pytest_{'sequences' if is_in_sequences else 'cases'}.py-tpl")
    blank = "\n" if is_in_sequences else "\n\n"
    yield export.line(f"]\nSET_UPS = {quoted(set_ups)}\n{blank}{tests}")


def quoted(value: object) -> str:
    """Returns a value as a Python literal in ASCII."""
    return ascii(value)


def _row(case: Case) -> tuple[Any, ...]:
    """Returns a case as a tuple: its title, expectation, set-up, request, and step if any."""
    set_up = None
    if case.set_up is not None:
        share = "shared" if case.set_up.is_shared else "own"
        set_up = (share, case.set_up.variable, case.set_up.member)
    expected = (export.status_pattern(case), case.expected.location)
    row = (
        export.title(case),
        case.operation,
        *expected,
        set_up,
        *_request(case.request),
    )
    if case.step is None:
        return row
    return (*row, {"sequence": case.step.sequence, **case.step.as_json()})


def _request(request: CaseRequest) -> tuple[Any, ...]:
    """Returns a request as a tuple, its body as runs of bytes in base64."""
    body = None
    if request.body is not None:
        body = [(run.in_base64, run.times) for run in export.byte_runs(request.body)]
    site = export.BASE_URL_NAMES[request.site]
    return (site, request.method, request.target, list(request.headers), body)
