"""A Postman collection, v2.1, that judges each answer; newman runs it.

URLs are left as they are (``disableUrlEncoding``). A body that is no text lies in a file beside,
which newman finds with ``--working-dir``.
"""

from collections.abc import Iterable
from typing import Any

from understudy.generate.cases import ENCODED, Case
from understudy.generate.drafts import dumps
from understudy.generate.formats.export import (
    HIDDEN,
    TITLE,
    ExportSettings,
    OmittedCase,
    OutputPiece,
    OutputPieces,
    comment,
    hides_secret,
    plain_text,
    repeated_header,
    with_variables,
)
from understudy.generate.test_data import SECRETS

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

_BEHAVIOUR = {
    "disableUrlEncoding": True,
    "followRedirects": False,
    "disableBodyPruning": True,
    "disableCookies": True,
}


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields one collection, and bodies beside it."""
    info = {"name": TITLE, "schema": SCHEMA}
    yield OutputPiece("", f'{{"info": {dumps(info)}, "item": [\n'.encode())
    joint = ""
    for case in cases:
        reason = _reason(case)
        if reason:
            yield OmittedCase(case, reason)
            continue
        text = plain_text(case.request.body)
        if case.request.body and text is None:
            yield OutputPiece(_file(case, settings), case.request.body)
        yield OutputPiece("", (joint + dumps(_item(case, settings))).encode())
        joint = ",\n"
    values = {
        "base_url": settings.base_urls["resource"],
        "auth_url": settings.base_urls["authorization"],
    }
    values |= {name: settings.secrets.get(name, "") for name in SECRETS}
    twins = dumps([*SECRETS])
    script = [
        f"for (const name of {twins}) {{",
        f"  pm.variables.set(name + '{ENCODED}', encodeURIComponent(pm.variables.get(name) || ''));",
        "}",
    ]
    event = {"listen": "prerequest", "script": {"type": "text/javascript", "exec": script}}
    variables = [{"key": name, "value": value} for name, value in values.items()]
    yield OutputPiece(
        "", f'\n], "event": {dumps([event])}, "variable": {dumps(variables)}}}\n'.encode()
    )


def _reason(case: Case) -> str:
    if hides_secret(case):
        return HIDDEN
    if repeated_header(case):
        return f"Postman joins the two headers {repeated_header(case)}"
    return ""


def _file(case: Case, settings: ExportSettings) -> str:
    return f"{settings.beside}/{case.id}.bin"


def _item(case: Case, settings: ExportSettings) -> dict[str, Any]:
    request = case.request
    base = "{{base_url}}" if request.site == "resource" else "{{auth_url}}"
    headers = [{"key": name, "value": _said(text)} for name, text in request.headers]
    sent: dict[str, Any] = {
        "method": request.method,
        "header": headers,
        "url": base + _said(request.target),
        "description": comment(case),
    }
    behaviour: dict[str, Any] = dict(_BEHAVIOUR)
    if not any(name.lower() == "content-type" for name, _ in request.headers):
        behaviour["disabledSystemHeaders"] = {"content-type": True}
    if request.body is not None:
        text = plain_text(request.body)
        source = {"mode": "file", "file": {"src": _file(case, settings)}}
        sent["body"] = source if text is None else {"mode": "raw", "raw": _said(text)}
    return {
        "name": f"{case.id}: {case.description}",
        "request": sent,
        "protocolProfileBehavior": behaviour,
        "event": [{"listen": "test", "script": {"type": "text/javascript", "exec": _test(case)}}],
    }


def _test(case: Case) -> list[str]:
    lines = [
        f"pm.test({dumps(case.id)}, () => {{",
        f"  pm.expect(String(pm.response.code)).to.match(/{pattern(case)}/);",
    ]
    if case.expected.location:
        found = "" if case.expected.location == "with error" else ".not"
        lines += [
            "  const location = pm.response.headers.get('Location');",
            f"  if (location) pm.expect(location).to{found}.match(/[?&#]error=/);",
        ]
    return [*lines, "});"]


def pattern(case: Case) -> str:
    """Returns the expected statuses as a regular expression of JavaScript."""
    return "^(" + "|".join(status.replace("X", "[0-9]") for status in case.expected.statuses) + ")$"


def _said(text: str) -> str:
    return with_variables(text, lambda name: "{{" + name + "}}")
