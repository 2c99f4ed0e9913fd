"""A k6 script that sends each case once an iteration and checks the response.

Secrets come from the environment (``k6 run -e TOKEN=…``). A body that is not text is in base64 and is
sent as bytes.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from understudy.cases.model import ENCODED, VARIABLES, Case, CaseRequest, SetUp
from understudy.generate.formats import export

_BROKEN_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")

_HEAD = """import http from 'k6/http';
import encoding from 'k6/encoding';
import { check } from 'k6';
"""

_NO_WORLDS = """const world = {};

function enterWorld() {}"""


def write(cases: Iterable[Case], settings: export.ExportSettings) -> export.OutputPieces:
    """Yields the script."""
    yield export.line(f"// {export.TITLE}. Run: k6 run -e TOKEN=... this file\n{_HEAD}\n")
    names = "|".join(VARIABLES)
    yield export.line(f"const variable = /~~({names})({ENCODED})?~~/g;")
    yield export.line(f"const defaults = {export.javascript(settings.variables)};\nconst cases = [")
    set_ups: dict[str, dict[str, Any]] = {}

    def pieces(case: Case, _: SetUp | None) -> Iterator[export.OutputPiece]:
        if case.set_up is not None:
            set_ups.setdefault(case.set_up.variable, _request(case.set_up.request))
        yield export.line(f"  // {export.comment(case)}\n  {export.javascript(_row(case))},")

    yield from export.written(cases, _reason, pieces)
    worlds = export.script("k6_worlds.js") if settings.is_in_worlds else _NO_WORLDS
    yield export.line(
        f"];\nconst setUps = {export.javascript(set_ups)};\n{export.script('steps.js')}"
    )
    yield export.line(f"\n{export.script('k6.js')}\n\n{worlds}")


def _reason(case: Case) -> str:
    if export.repeated_header(case):
        return f"k6 takes the header {export.repeated_header(case)} once"
    if _BROKEN_ESCAPE.search(case.request.target.partition("?")[0]):
        return "k6 refuses a path with a broken percent sign"
    return ""


def _row(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "operation": case.operation,
        "what": export.title(case),
        "variables": list(case.variables),
        "items": list(case.items),
        "step": None
        if case.step is None
        else {"sequence": case.step.sequence, **case.step.as_json()},
        "setUp": None
        if case.set_up is None
        else {
            "share": "shared" if case.set_up.is_shared else "own",
            "name": case.set_up.variable,
            "member": case.set_up.member,
        },
        "request": _request(case.request),
        "statuses": export.status_pattern(case),
        "location": case.expected.location,
    }


def _request(request: CaseRequest) -> dict[str, Any]:
    row: dict[str, Any] = {
        "site": export.BASE_URL_NAMES[request.site],
        "method": request.method,
        "target": request.target,
        "headers": [[name, text] for name, text in request.headers],
    }
    if request.body is not None:
        text = export.plain_text(request.body)
        if text is None:
            row["pieces"] = [[run.in_base64, run.times] for run in export.byte_runs(request.body)]
        else:
            row["text"] = text
    return row
