"""A Bruno collection: a directory with a file that judges each case; ``bru run`` sends them.

Bruno trims values and reads its files line by line, so a body with line ends is in a file of bytes.
The collection itself has the variables, so that no environment has to be selected; if one is, its
values come first.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

from understudy.cases.drafts import dumps
from understudy.cases.model import ENCODED, Case, CaseRequest, SequenceStep, SetUp
from understudy.cases.test_data import SECRETS
from understudy.errors import StartupError
from understudy.generate.formats import export

_PLAIN_UPLOAD = re.compile(
    rb"(?P<boundary>--[\w-]+)\r\n"
    rb'Content-Disposition: form-data; name="(?P<field>\w+)"; filename="(?P<name>[\w.]{1,80})"\r\n'
    rb"Content-Type: (?P<type>[\w/.+-]+)\r\n\r\n"
    rb"(?P<content>.*)\r\n(?P=boundary)--\r\n",
    re.DOTALL,
)
"""Matches a multipart body with one file, as Bruno writes it."""

_ENCODING = f"""script:pre-request {{
  for (const name of {export.javascript([*SECRETS])}) {{
    const text = bru.interpolate("{{{{" + name + "}}}}");
    bru.setVar(name + "{ENCODED}", text.includes("{{{{") ? "" : encodeURIComponent(text));
  }}
}}
"""
"""Script that sets the percent-encoded variable of each secret, which URLs and forms use."""

_MOST_OF_NAME = 100
"""Characters of a title in a file name: systems allow 255, some of them for the whole path."""

_SETTINGS = """settings {
  encodeUrl: false
  followRedirects: false
}
"""


def write(cases: Iterable[Case], settings: export.ExportSettings) -> export.OutputPieces:
    """Yields the collection's files."""
    manifest = {"version": "1", "name": export.TITLE, "type": "collection"}
    yield export.OutputPiece("bruno.json", f"{dumps(manifest)}\n".encode())
    lines = [f"  {name}: {_variable(name, text)}" for name, text in settings.variables.items()]
    variables = "\n".join(lines)
    collection = f"vars:pre-request {{\n{variables}\n}}\n\n{_ENCODING}"
    yield export.OutputPiece("collection.bru", collection.encode())
    yield export.OutputPiece("environments/deployment.bru", f"vars {{\n{variables}\n}}\n".encode())
    numbers = count(1)

    def pieces(case: Case, set_up: SetUp | None) -> Iterator[export.OutputPiece]:
        folder = case.id.rpartition("-")[0]
        if set_up is not None:
            name = f"{case.id}-set-up"
            yield from _body_files(name, set_up.request, settings)
            text = _set_up_file(name, next(numbers), case, set_up, settings)
            yield export.OutputPiece(f"{folder}/set-up of {_named(case)}.bru", text.encode())
        yield from _body_files(case.id, case.request, settings)
        text = _case_file(next(numbers), case, settings)
        yield export.OutputPiece(f"{folder}/{_named(case)}.bru", text.encode())

    yield from export.written(cases, _reason, pieces)


def _named(case: Case) -> str:
    """Returns the title of a case as a file name that every system allows."""
    what, _, behind = export.title(case).rpartition(" (")
    plain = re.sub(r"[^A-Za-z0-9_.,' -]+", " ", what)
    return f"{' '.join(plain.split())[:_MOST_OF_NAME].strip(' .')} ({behind}"


def quoted(text: str) -> str:
    """Returns a text as a value in one line, in which only variables of cases are expanded.

    Raises:
        StartupError: Bruno has no syntax for the text.
    """
    if not _is_plain(text):
        msg = f"Bruno cannot write {text!r} as a value; leave it out, or choose another format."
        raise StartupError(msg)
    return export.in_braces(text)


def _variable(name: str, text: str) -> str:
    return quoted(text) if text else "{{process.env." + name + "}}"


def _reason(case: Case) -> str:
    request = case.request
    if request.body_variables and _is_file(request):
        return export.HIDDEN
    if export.repeated_header(case):
        return f"Bruno joins the two headers {export.repeated_header(case)}"
    if any(not _is_writable(name, text) for name, text in request.headers):
        return "a header that Bruno trims, or reads as a variable"
    if _is_multipart(request) and _upload(request) is None:
        return "Bruno writes multipart bodies by itself"
    is_deep = b"[" * 400 in (request.body or b"")
    return "lists within each other, which Bruno's scripts overflow at" if is_deep else ""


def _is_writable(name: str, text: str) -> bool:
    return bool(text) and _is_plain(text) and not name.startswith("~")  # which would disable it


def _is_plain(text: str) -> bool:
    """Tells whether Bruno leaves a text in a line as it is."""
    return text == text.strip() and export.printable(text) == text and not export.is_template(text)


def _types(request: CaseRequest) -> list[str]:
    return [text for name, text in request.headers if name.lower() == "content-type"]


def _is_multipart(request: CaseRequest) -> bool:
    is_named = any(text.lower().startswith("multipart/") for text in _types(request))
    return request.body is not None and is_named


class _Upload(NamedTuple):
    """The one file of a plain multipart body."""

    field: str
    name: str
    media_type: str
    content: bytes


def _upload(request: CaseRequest) -> _Upload | None:
    """Returns the file of a multipart body, if Bruno would write the same bytes; else None."""
    match = _PLAIN_UPLOAD.fullmatch(request.body or b"")
    if match is None or match["boundary"] in match["content"]:  # the file is not the only part
        return None
    if _types(request) != [f"multipart/form-data; boundary={match['boundary'].decode()[2:]}"]:
        return None
    field, name, media_type = (match[n].decode() for n in ("field", "name", "type"))
    return _Upload(field, name, media_type, match["content"])


def _is_file(request: CaseRequest) -> bool:
    """Tells whether a body has to be in a file, because Bruno would change or interpret it."""
    if request.body is None:
        return False
    text = export.plain_text(request.body)
    return not text or export.is_template(text) or bool(re.search(r"^\s|\s$|[\n\r]|^[}'\"]", text))


def _body_files(
    name: str, request: CaseRequest, settings: export.ExportSettings
) -> Iterator[export.OutputPiece]:
    upload = _upload(request)
    if upload is not None:
        yield export.OutputPiece(f"{settings.beside}/{name}/{upload.name}", upload.content)
    elif request.body is not None and _is_file(request):
        yield export.OutputPiece(f"{settings.beside}/{name}.bin", request.body)


def _set_up_file(
    name: str, number: int, case: Case, set_up: SetUp, settings: export.ExportSettings
) -> str:
    request = set_up.request
    keeping = export.script("bruno_keep.js", member=set_up.member, variable=set_up.variable)
    return "\n".join(
        [
            f"meta {{\n  name: {export.SET_UP.replace(':', ',')}\n  type: http\n  seq: {number}\n}}\n",
            *_request(name, request, settings),
            _before(case, request),
            _block("script:post-response", keeping),
            _SETTINGS,
        ]
    )


def _case_file(number: int, case: Case, settings: export.ExportSettings) -> str:
    description = export.comment(case).replace("{", "(").replace("}", ")")
    return "\n".join(
        [
            f"meta {{\n  name: {_named(case)}\n  type: http\n  seq: {number}\n}}\n",
            *_request(case.id, case.request, settings),
            _before(case, case.request),
            _SETTINGS,
            _block("tests", _tests(case)),
            f"docs {{\n  {description}\n}}\n",
        ]
    )


def _request(name: str, request: CaseRequest, settings: export.ExportSettings) -> Iterator[str]:
    base = "{{" + export.BASE_URL_NAMES[request.site] + "}}"
    kind, block = _body(name, request, settings)
    yield f"{request.method.lower()} {{\n  url: {base}{quoted(request.target)}"
    yield f"  body: {kind}\n  auth: none\n}}\n"
    headers = [
        f"  {key}: {quoted(text)}"
        for key, text in request.headers
        if kind != "multipartForm" or key.lower() != "content-type"
    ]
    if headers:
        yield "\n".join(["headers {", *headers, "}\n"])
    yield block


def _body(name: str, request: CaseRequest, settings: export.ExportSettings) -> tuple[str, str]:
    """Returns Bruno's name for the kind of the body, and the block with the body."""
    if request.body is None:
        return "none", ""
    upload = _upload(request)
    if upload is not None:
        file = f"@file({settings.beside}/{name}/{upload.name}) @contentType({upload.media_type})"
        return "multipartForm", f"body:multipart-form {{\n  {upload.field}: {file}\n}}\n"
    if not _is_file(request):
        return "text", f"body:text {{\n  {export.in_braces(request.body.decode())}\n}}\n"
    types = _types(request)
    media_type = f" @contentType({types[0]})" if types else ""
    file = f"@file({settings.beside}/{name}.bin){media_type}"
    return "file", f"body:file {{\n  file: {file}\n}}\n"


def _before(case: Case, request: CaseRequest) -> str:
    """Returns the script that skips a case without its secrets, and fills in a form.

    Bruno replaces no variable in a URL-encoded form that is given as text.
    """
    needed = (*case.variables, *case.items)
    if not needed:
        return ""
    names = export.javascript([*needed])
    lines = [
        "script:pre-request {",
        f"  const texts = {names}.map((name) => bru.interpolate('{{{{' + name + '}}}}'));",
        "  if (texts.some((text) => !text || text.includes('{{'))) bru.runner.skipRequest();",
    ]
    if request.body is not None and request.body_variables:
        text = export.javascript(export.in_braces(request.body.decode()))
        lines.append(f"  req.setBody(bru.interpolate({text}));")
    return "\n".join([*lines, "}\n"])


def _block(name: str, code: str) -> str:
    return f"{name} {{\n{export.indented(code)}\n}}\n"


def _tests(case: Case) -> str:
    code = export.script(
        "bruno_test.js",
        statuses=export.javascript(export.status_pattern(case)),
        title=export.javascript(export.title(case)),
        location=export.expected_location(case, "res.getHeader('location')", "expect"),
    )
    return code if case.step is None else f"{code}\n{_step(case.step)}"


def _step(step: SequenceStep) -> str:
    """Returns the script that stores the values for later steps, and tests the assertions."""
    name = export.javascript(f"{step.sequence}, step {step.number}, shown")
    shown = export.script("bruno_step.js", step=export.javascript(step.as_json()), title=name)
    return f"{export.script('steps.js')}\n{shown}"
