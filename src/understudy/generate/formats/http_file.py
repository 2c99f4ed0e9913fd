"""An ``.http`` file for the editors: VS Code's REST Client, JetBrains' HTTP Client, httpYac.

The expected response is in a comment, because the editors have no common syntax for checks. A body
that an editor would change (binary, line ends, braces like those of variables) is in another file.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import count
from urllib.parse import quote, unquote

from understudy.cases.model import ENCODED, Case, CaseRequest, SequenceStep, SetUp
from understudy.cases.test_data import CLIENT_TOKEN, CODE, SECRETS
from understudy.errors import StartupError
from understudy.generate.formats import export

OBTAINED = frozenset({CODE, CLIENT_TOKEN})
"""Secrets that set-up requests obtain; a definition at the top of the file would hide these."""

_SPECIAL = re.compile(r"\{\{|\}\}|\{%|^\s*(#|//|<|>|\?\?|@|!!|HTTP/)|\n", re.MULTILINE)
"""Matches what editors interpret in a body: templates, scripts, comments, files, and assertions."""


def write(cases: Iterable[Case], settings: export.ExportSettings) -> export.OutputPieces:
    """Yields the file, and bodies beside it."""
    yield export.line(f"# {export.TITLE}.")
    for name in settings.variables:
        if name not in OBTAINED:
            yield from _definition(name, settings)
    numbers = count(1)

    def pieces(case: Case, set_up: SetUp | None) -> Iterator[export.OutputPiece]:
        if set_up is not None:
            yield export.line(f"\n### {export.SET_UP}\n# @no-redirect{_skipping(case)}")
            yield from _pieces(f"set-up-{next(numbers)}", set_up.request, settings)
            # JetBrains' client and httpYac run it, REST Client does not
            code = export.script("http_keep.js", variable=set_up.variable, member=set_up.member)
            yield export.line(f"\n> {{%\n{export.indented(code)}\n%}}")
        yield export.line(
            f"\n### {export.title(case)}\n# {case.kind}: {export.comment(case)}\n# @no-redirect{_skipping(case)}"
        )
        for name in sorted(OBTAINED & set(case.variables)):  # which no set-up can obtain here
            yield from _definition(name, settings)
        yield from _pieces(case.id, case.request, settings)
        if case.step is not None:
            yield export.line(_step(case.step, export.status_pattern(case)))

    yield from export.written(cases, _reason, pieces)


def _step(step: SequenceStep, statuses: str) -> str:
    """Returns the script that stores the values for later steps, and tests the assertions."""
    shown = export.script(
        "http_step.js",
        step=export.javascript(step.as_json()),
        statuses=export.javascript(statuses),
        title=export.javascript(f"{step.sequence}, step {step.number}"),
    )
    return f"\n> {{%\n{export.script('steps.js')}\n{shown}\n%}}"


def _definition(name: str, settings: export.ExportSettings) -> Iterator[export.OutputPiece]:
    """Yields the lines that define a variable, with its value or the environment's."""
    text = settings.variables[name]
    yield export.line(f"@{name} = {quoted(text) if text else '{{$processEnv ' + name + '}}'}")
    if name in SECRETS:
        twin = f"{name}{ENCODED}"
        encoded = quote(text, safe="") if text else "{{$processEnv " + twin + "}}"
        yield export.line(f"@{twin} = {encoded}")


def quoted(text: str) -> str:
    """Returns a text as a value in one line, in which only variables of cases are expanded.

    Raises:
        StartupError: An ``.http`` file has no syntax for the text.
    """
    if not is_writable(text):
        msg = f"An .http file cannot hold {text!r} as a value; choose another format."
        raise StartupError(msg)
    return export.in_braces(text)


def is_writable(text: str) -> bool:
    """Tells whether an editor leaves a text unchanged: one line, printable, without a template."""
    return bool(text.strip()) and export.printable(text) == text and not export.is_template(text)


def _skipping(case: Case) -> str:
    """Returns the line by which httpYac skips a case whose secrets are not set."""
    names = (*case.variables, *case.items)
    if not names:
        return ""
    missing = " || ".join(f"!{name} || {name} === 'undefined'" for name in names)
    return f"\n# @disabled {missing}"


def _reason(case: Case) -> str:
    request = case.request
    if export.repeated_header(case):
        return f"editors join the two headers {export.repeated_header(case)}"
    if any(not is_writable(text) for _, text in request.headers):
        return "a header that is empty, or that an editor reads as a variable"
    if not is_percent_encoded(request.target):
        return "editors refuse an address that is not percent-encoded UTF-8"
    if request.body_variables and _SPECIAL.search(export.plain_text(request.body) or ""):
        return "a secret beside what an editor reads as its own"
    return ""


def is_percent_encoded(target: str) -> bool:
    """Tells whether each percent sign of a URL begins an octet, and all octets are UTF-8."""
    if re.search(r"%(?![0-9A-Fa-f]{2})", target):
        return False
    try:
        unquote(target, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _pieces(
    name: str, request: CaseRequest, settings: export.ExportSettings
) -> Iterator[export.OutputPiece]:
    base = "{{" + export.BASE_URL_NAMES[request.site] + "}}"
    yield export.line(f"{request.method} {base}{quoted(request.target)}")
    for key, text in request.headers:
        yield export.line(f"{key}: {quoted(text)}")
    if request.body is None:
        return
    body = export.plain_text(request.body)
    if body is None or not body.strip() or _SPECIAL.search(body):
        file = f"{settings.beside}/{name}.bin"
        yield export.line(f"\n< ./{file}")
        yield export.OutputPiece(file, request.body)
    else:
        yield export.line(f"\n{export.in_braces(body)}")
