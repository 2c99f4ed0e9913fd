"""An ``.http`` file for the editors: VS Code's REST Client, JetBrains' HTTP Client, httpYac.

What is expected stands in a comment: the editors have no common words for a check. A body that an
editor would change (binary, line ends, braces that look like a variable) lies in a file beside.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote

from understudy.generate.cases import ENCODED, Case
from understudy.generate.formats.export import (
    HIDDEN,
    TITLE,
    ExportSettings,
    OmittedCase,
    OutputPiece,
    OutputPieces,
    comment,
    hides_secret,
    line,
    plain_text,
    repeated_header,
    with_variables,
)
from understudy.generate.test_data import SECRETS

_SPECIAL = re.compile(r"\{\{|^\s*(#|//|<|>|\?\?|@|HTTP/)|\n", re.MULTILINE)


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the file, and bodies beside it."""
    yield line(f"# {TITLE}.\n@base_url = {settings.base_urls['resource']}")
    yield line(f"@auth_url = {settings.base_urls['authorization']}")
    for name in SECRETS:
        twin = f"{name}{ENCODED}"
        known = settings.secrets.get(name)
        value = known or "{{$processEnv " + name.upper() + "}}"
        encoded_value = quote(known, safe="") if known else "{{$processEnv " + twin.upper() + "}}"
        yield line(f"@{name} = {value}\n@{twin} = {encoded_value}")
    for case in cases:
        reason = _reason(case)
        if reason:
            yield OmittedCase(case, reason)
            continue
        for piece in _entry(case, settings):
            yield piece if isinstance(piece, OutputPiece) else line(piece)


def _reason(case: Case) -> str:
    if repeated_header(case):
        return f"editors join the two headers {repeated_header(case)}"
    if any("{{" in text or not text.strip() for _, text in case.request.headers):
        return "a header that is empty, or that an editor reads as a variable"
    if not is_percent_encoded(case.request.target):
        return "editors refuse an address that is no percent-encoded UTF-8"
    if hides_secret(case):
        return HIDDEN
    if case.request.variables and _SPECIAL.search(plain_text(case.request.body) or ""):
        return "a secret beside what an editor reads as its own"
    return ""


def is_percent_encoded(target: str) -> bool:
    """Tells whether each percent sign of an address begins an octet, and all octets are UTF-8."""
    if re.search(r"%(?![0-9A-Fa-f]{2})", target):
        return False
    try:
        unquote(target, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _entry(case: Case, settings: ExportSettings) -> Iterator[str | OutputPiece]:
    request = case.request
    base = "{{base_url}}" if request.site == "resource" else "{{auth_url}}"
    yield f"\n### {case.id}\n# {case.kind}: {comment(case)}\n# @no-redirect"
    yield f"{request.method} {base}{with_variables(request.target, _variable)}"
    for name, value in request.headers:
        yield f"{name}: {with_variables(value, _variable)}"
    if request.body is None:
        return
    text = plain_text(request.body)
    if text is None or not text.strip() or _SPECIAL.search(text):
        name = f"{settings.beside}/{case.id}.bin"
        yield f"\n< ./{name}"
        yield OutputPiece(name, request.body)
    else:
        yield f"\n{with_variables(text, _variable)}"


def _variable(name: str) -> str:
    return "{{" + name + "}}"
