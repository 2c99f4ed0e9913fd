"""A shell script of curl calls that judges each response; it needs sh, curl, od, sed and base64.

A body that would not survive a shell's quoting is in base64, so that the script is one file.
"""

import textwrap
from collections.abc import Iterable, Iterator

from understudy.cases.drafts import dumps
from understudy.cases.model import ENCODED, ITEMS, VARIABLE, Case, CaseRequest, SetUp
from understudy.cases.test_data import SECRETS
from understudy.exchange.curl import field_text
from understudy.generate.formats import export

BODY_FILE = '"@$body"'
LONGEST_ARGUMENT = 100_000
"""Bytes of one argument; Linux allows 128 KB."""

_ABOUT = r"""# Secrets come from the environment, such as TOKEN; cases whose secrets are not set are skipped,
# and the exit code is then 2, unless SKIP=1 is set.
set -f"""


def write(cases: Iterable[Case], settings: export.ExportSettings) -> export.OutputPieces:
    """Yields the script."""
    yield export.line(f"#!/bin/sh\n# {export.TITLE}. Sends every case and judges the responses.")
    yield export.line(_ABOUT)
    for name, text in settings.variables.items():
        yield export.line(f'[ -n "${{{name}:-}}" ] || {name}={quoted(text)}')
    yield export.line(export.script("curl.sh") + "\n")
    for name in SECRETS:
        yield export.line(f'{name}{ENCODED}=$(encoded "${name}")')
    is_in_sequences, cases = export.looked_ahead(cases)
    if is_in_sequences:
        # sh has no JSON, so Python reads the responses; its code is an argument in single quotes
        reader = export.script("curl_reader.py-tpl", steps=export.script("steps.py-tpl"))
        yield export.line(f"\n{export.script('curl_steps.sh')}\n\nreader={_literal(reader)}")
    yield from export.written(
        cases, lambda _: "", lambda *case: [export.line("\n".join(_lines(*case)))]
    )
    yield export.line("\n" + export.script("curl_end.sh"))


def _lines(case: Case, set_up: SetUp | None) -> Iterator[str]:
    yield f"\n# {export.printable(case.operation)}, {case.kind}: {export.comment(case)}"
    if case.step is not None and case.step.number == 1:
        yield f"unset {' '.join(ITEMS)}"
    variables = (*case.variables, *case.items)
    if variables:
        yield f"has {' '.join(variables)} && {{"
    if set_up is not None:
        yield from _body_file(set_up.request)
        yield f"set_up {set_up.variable} {set_up.member} \\"
        yield from _arguments(set_up.request)
    yield from _body_file(case.request)
    statuses = " ".join(status.replace("X", "?") for status in case.expected.statuses)
    words = (export.title(case), statuses, case.expected.location)
    shown = "" if case.step is None else f"step {_literal(dumps(case.step.as_json()))} "
    yield f"{shown or 'try '}{' '.join(map(quoted, words))} \\"
    yield from _arguments(case.request)
    if variables:
        yield "}"


def _arguments(request: CaseRequest) -> Iterator[str]:
    is_head = request.method == "HEAD"
    yield "  --head \\" if is_head else f"  --request {quoted(request.method)} \\"
    for name, text in request.headers:
        yield f"  --header {quoted(field_text(name, text))} \\"
    if request.body is not None:
        inline = _inline(request.body)
        yield f"  --data-binary {BODY_FILE if inline is None else quoted(inline)} \\"
        if not any(name.lower() == "content-type" for name, _ in request.headers):
            yield "  --header 'Content-Type:' \\"
    yield f'  --url "${export.BASE_URL_NAMES[request.site]}"{quoted(request.target)}'


def _inline(content: bytes) -> str | None:
    """Returns a body that can be an argument of curl, or None."""
    text = export.plain_text(content)
    is_argument = text is not None and len(content) < LONGEST_ARGUMENT and not text.startswith("@")
    return text if is_argument else None


def _body_file(request: CaseRequest) -> Iterator[str]:
    """Yields the lines that write a body, unless it is an argument, into a file; zeros by count."""
    if request.body is None or _inline(request.body) is not None:
        return
    yield ': > "$body"'
    for run in export.byte_runs(request.body):
        if run.times > 1:
            yield f'head -c {run.times} /dev/zero >> "$body"'
            continue
        yield "base64 -d >> \"$body\" <<'EOF'"
        yield from textwrap.wrap(run.in_base64, 100) or [""]
        yield "EOF"


def quoted(text: str) -> str:
    """Returns a text as one shell word, in which only variables of cases are expanded."""
    if "~~" not in text:
        return _literal(text)
    parts = VARIABLE.split(text)
    words = [
        f'"${part}"' if position % 2 else _literal(part)
        for position, part in enumerate(parts)
        if position % 2 or part or len(parts) == 1
    ]
    return "".join(words)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
