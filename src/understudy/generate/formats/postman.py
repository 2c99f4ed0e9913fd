"""A Postman collection, v2.1, that judges each response; newman runs it.

URLs are sent as they are (``disableUrlEncoding``). A body that is not text, or that Postman would
read as a template, is in another file, which newman finds with ``--working-dir``. The environment
file beside it has the variables.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from understudy.cases.drafts import dumps
from understudy.cases.model import ENCODED, Case, CaseRequest, SequenceStep, SetUp
from understudy.cases.test_data import SECRETS
from understudy.generate.formats import export

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

_BEHAVIOUR = {
    "disableUrlEncoding": True,
    "followRedirects": False,
    "disableBodyPruning": True,
    "disableCookies": True,
}

# Sets the percent-encoded variable of each secret, which URLs and forms use.
_ENCODING = [
    f"for (const name of {export.javascript([*SECRETS])}) {{",
    f"  pm.variables.set(name + '{ENCODED}', encodeURIComponent(pm.variables.get(name) || ''));",
    "}",
]


def write(cases: Iterable[Case], settings: export.ExportSettings) -> export.OutputPieces:
    """Yields the environment, one collection, and bodies beside it."""
    if settings.stem:
        yield export.OutputPiece(
            f"{settings.stem}.postman_environment.json", _environment(settings)
        )
    info = {"name": export.TITLE, "schema": SCHEMA}
    yield export.OutputPiece("", f'{{"info": {dumps(info)}, "item": [\n'.encode())
    opened = ""

    def piece(case: Case, item: dict[str, Any]) -> export.OutputPiece:
        nonlocal opened
        folder, before = case.operation if case.step is None else case.step.sequence, ",\n"
        if folder != opened:
            before = ("]},\n" if opened else "") + f'{{"name": {dumps(folder)}, "item": [\n'
            opened = folder
        return export.OutputPiece("", (before + dumps(item)).encode())

    def pieces(case: Case, set_up: SetUp | None) -> Iterator[export.OutputPiece]:
        if set_up is not None:
            yield from _body_file(f"{case.operation} set-up", set_up.request, settings)
            yield piece(case, _set_up_item(case, set_up, settings))
        yield from _body_file(case.id, case.request, settings)
        yield piece(case, _item(case, settings))

    yield from export.written(cases, _reason, pieces)
    events = [_script("prerequest", _ENCODING)]
    variables = [{"key": name, "value": text} for name, text in settings.variables.items()]
    ended = "]}\n" if opened else ""
    end = f'{ended}], "event": {dumps(events)}, "variable": {dumps(variables)}}}\n'
    yield export.OutputPiece("", end.encode())


def _environment(settings: export.ExportSettings) -> bytes:
    values = [
        {
            "key": name,
            "value": text,
            "type": "secret" if name in SECRETS else "default",
            "enabled": bool(text),
        }
        for name, text in settings.variables.items()
    ]
    environment = {"name": "deployment", "values": values, "_postman_variable_scope": "environment"}
    return f"{dumps(environment)}\n".encode()


def _reason(case: Case) -> str:
    if case.request.body_variables and _is_file(case.request):
        return export.HIDDEN
    if export.repeated_header(case):
        return f"Postman joins the two headers {export.repeated_header(case)}"
    if any(export.is_template(text) for _, text in case.request.headers):
        return "a header that Postman reads as a variable"
    return ""


def _is_file(request: CaseRequest) -> bool:
    text = export.plain_text(request.body)
    return bool(request.body) and (text is None or export.is_template(text))


def _file(name: str, settings: export.ExportSettings) -> str:
    return f"{settings.beside}/{''.join(c if c.isalnum() else '-' for c in ascii(name))}.bin"


def _body_file(
    name: str, request: CaseRequest, settings: export.ExportSettings
) -> Iterator[export.OutputPiece]:
    if request.body and _is_file(request):
        yield export.OutputPiece(_file(name, settings), request.body)


def _request(name: str, request: CaseRequest, settings: export.ExportSettings) -> dict[str, Any]:
    base = "{{" + export.BASE_URL_NAMES[request.site] + "}}"
    headers = [{"key": key, "value": export.in_braces(text)} for key, text in request.headers]
    sent: dict[str, Any] = {
        "method": request.method,
        "header": headers,
        "url": base + export.in_braces(request.target),
    }
    if _is_file(request):
        sent["body"] = {"mode": "file", "file": {"src": _file(name, settings)}}
    elif request.body is not None:
        sent["body"] = {
            "mode": "raw",
            "raw": export.in_braces(export.plain_text(request.body) or ""),
        }
    return sent


def _behaviour(request: CaseRequest) -> dict[str, Any]:
    has_type = any(name.lower() == "content-type" for name, _ in request.headers)
    return (
        _BEHAVIOUR if has_type else {**_BEHAVIOUR, "disabledSystemHeaders": {"content-type": True}}
    )


def _set_up_item(case: Case, set_up: SetUp, settings: export.ExportSettings) -> dict[str, Any]:
    request = set_up.request
    return {
        "name": export.SET_UP,
        "request": _request(f"{case.operation} set-up", request, settings),
        "protocolProfileBehavior": _behaviour(request),
        "event": [
            _script("prerequest", _skipping(request.variables)),
            _script("test", _keeping(set_up)),
        ],
    }


def _keeping(set_up: SetUp) -> list[str]:
    # a variable of the environment hides one of the collection, so both are set
    return export.script(
        "postman_keep.js",
        name=set_up.member,
        member=export.javascript(set_up.member),
        variable=export.javascript(set_up.variable),
    ).split("\n")


def _item(case: Case, settings: export.ExportSettings) -> dict[str, Any]:
    request = {**_request(case.id, case.request, settings), "description": export.comment(case)}
    return {
        "name": export.title(case),
        "request": request,
        "protocolProfileBehavior": _behaviour(case.request),
        "event": [
            _script("prerequest", _skipping((*case.variables, *case.items))),
            _script("test", [*_test(case), *(_step(case.step) if case.step else [])]),
        ],
    }


def _script(event: str, lines: list[str]) -> dict[str, Any]:
    return {"listen": event, "script": {"type": "text/javascript", "exec": lines}}


def _skipping(variables: tuple[str, ...]) -> list[str]:
    if not variables:
        return []
    names = export.javascript([*variables])
    return [f"if ({names}.some((name) => !pm.variables.get(name))) pm.execution.skipRequest();"]


def _test(case: Case) -> list[str]:
    return export.script(
        "postman_test.js",
        statuses=export.javascript(export.status_pattern(case)),
        title=export.javascript(export.title(case)),
        location=export.expected_location(case, "pm.response.headers.get('Location')", "pm.expect"),
    ).split("\n")


def _step(step: SequenceStep) -> list[str]:
    """Returns the lines that store the values for later steps, and test the assertions."""
    name = export.javascript(f"{step.sequence}, step {step.number}: shown")
    shown = export.script("postman_step.js", step=export.javascript(step.as_json()), title=name)
    return [*export.script("steps.js").split("\n"), *shown.split("\n")]
