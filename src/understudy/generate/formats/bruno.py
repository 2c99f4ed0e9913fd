"""A Bruno collection: a directory with a file a case, which judges the answer; ``bru run`` runs it.

Bruno trims values and reads its files line by line, so a body with line ends lies in a file beside.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

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
from understudy.generate.formats.postman import pattern
from understudy.generate.test_data import SECRETS

_PLAIN_UPLOAD = re.compile(
    rb"(?P<boundary>--[\w-]+)\r\n"
    rb'Content-Disposition: form-data; name="(?P<field>\w+)"; filename="(?P<name>[\w.]{1,80})"\r\n'
    rb"Content-Type: (?P<type>[\w/.+-]+)\r\n\r\n"
    rb"(?P<content>.*)\r\n(?P=boundary)--\r\n",
    re.DOTALL,
)


_ENCODING = f"""script:pre-request {{
  for (const name of {dumps([*SECRETS])}) {{
    bru.setVar(name + "{ENCODED}", encodeURIComponent(bru.interpolate("{{{{" + name + "}}}}")));
  }}
}}
"""


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the collection's files."""
    head = {"version": "1", "name": TITLE, "type": "collection"}
    yield OutputPiece("bruno.json", f"{dumps(head)}\n".encode())
    yield OutputPiece("collection.bru", _ENCODING.encode())
    yield OutputPiece("environments/deployment.bru", _environment(settings).encode())
    number = 0
    for case in cases:
        reason = _reason(case)
        if reason:
            yield OmittedCase(case, reason)
            continue
        number += 1
        yield from _beside(case, settings)
        text = "\n".join(_request(case, settings, number)) + "\n"
        yield OutputPiece(f"{case.id.rpartition('-')[0]}/{case.id}.bru", text.encode())


def _beside(case: Case, settings: ExportSettings) -> Iterator[OutputPiece]:
    body = case.request.body
    upload = _upload(case)
    if upload is not None:
        yield OutputPiece(f"{settings.beside}/{case.id}/{upload.name}", upload.content)
    elif body is not None and _is_file(body):
        yield OutputPiece(f"{settings.beside}/{case.id}.bin", body)


def _environment(settings: ExportSettings) -> str:
    values = {
        "base_url": settings.base_urls["resource"],
        "auth_url": settings.base_urls["authorization"],
    }
    lines = [f"  {name}: {text}" for name, text in {**values, **settings.secrets}.items()]
    lines += [
        f"  {name}: {{{{process.env.{name.upper()}}}}}"
        for name in SECRETS
        if name not in settings.secrets
    ]
    return "vars {\n" + "\n".join(lines) + "\n}\n"


def _reason(case: Case) -> str:
    if hides_secret(case):
        return HIDDEN
    if repeated_header(case):
        return f"Bruno joins the two headers {repeated_header(case)}"
    if any("{{" in text or text != text.strip() or not text for _, text in case.request.headers):
        return "a header that Bruno trims, or reads as a variable"
    body = case.request.body or b""
    if _is_multipart(case) and _upload(case) is None:
        return "Bruno writes multipart bodies by itself"
    return (
        "lists within each other, which Bruno's scripts overflow at" if b"[" * 400 in body else ""
    )


def _is_multipart(case: Case) -> bool:
    types = [text for name, text in case.request.headers if name.lower() == "content-type"]
    return case.request.body is not None and any(
        text.lower().startswith("multipart/") for text in types
    )


class _Upload(NamedTuple):
    """The one file of a plain multipart body."""

    field: str
    name: str
    media_type: str
    content: bytes


def _upload(case: Case) -> _Upload | None:
    """Returns what a multipart body holds, where it is written as Bruno would write it."""
    found = _PLAIN_UPLOAD.fullmatch(case.request.body or b"")
    if found is None:
        return None
    types = [text for name, text in case.request.headers if name.lower() == "content-type"]
    if types != [f"multipart/form-data; boundary={found['boundary'].decode()[2:]}"]:
        return None
    field, name, media_type = (found[n].decode() for n in ("field", "name", "type"))
    return _Upload(field, name, media_type, found["content"])


def _is_file(body: bytes) -> bool:
    text = plain_text(body)
    return text is None or bool(re.search(r"^\s|\s$|[\n\r]|\{\{|^[}'\"]", text)) or not text


def _request(case: Case, settings: ExportSettings, number: int) -> Iterator[str]:
    request = case.request
    base = "{{base_url}}" if request.site == "resource" else "{{auth_url}}"
    yield f"meta {{\n  name: {case.id}\n  type: http\n  seq: {number}\n}}\n"
    kind, block = _body(case, settings)
    yield f"{request.method.lower()} {{\n  url: {base}{_said(request.target)}"
    yield f"  body: {kind}\n  auth: none\n}}\n"
    headers = [
        f"  {name}: {_said(text)}"
        for name, text in request.headers
        if kind != "multipartForm" or name.lower() != "content-type"
    ]
    if headers:
        yield "\n".join(["headers {", *headers, "}\n"])
    yield block
    yield "settings {\n  encodeUrl: false\n  followRedirects: false\n}\n"
    yield f"tests {{\n  test({dumps(case.id)}, function () {{"
    yield f"    expect(String(res.getStatus())).to.match(/{pattern(case)}/);"
    if case.expected.location:
        found = "" if case.expected.location == "with error" else ".not"
        yield "    const location = res.getHeader('location');"
        yield f"    if (location) expect(location).to{found}.match(/[?&#]error=/);"
    yield "  });\n}\n"
    yield f"docs {{\n  {comment(case).replace('{', '(').replace('}', ')')}\n}}"


def _body(case: Case, settings: ExportSettings) -> tuple[str, str]:
    """Returns what Bruno calls the body's kind, and the block that holds it."""
    body = case.request.body
    if body is None:
        return "none", ""
    upload = _upload(case)
    if upload is not None:
        file = f"@file({settings.beside}/{case.id}/{upload.name}) @contentType({upload.media_type})"
        return "multipartForm", f"body:multipart-form {{\n  {upload.field}: {file}\n}}\n"
    if not _is_file(body):
        return "text", f"body:text {{\n  {_said(body.decode())}\n}}\n"
    types = [text for name, text in case.request.headers if name.lower() == "content-type"]
    given = f" @contentType({types[0]})" if types else ""
    file = f"@file({settings.beside}/{case.id}.bin){given}"
    return "file", f"body:file {{\n  file: {file}\n}}\n"


def _said(text: str) -> str:
    return with_variables(text, lambda name: "{{" + name + "}}")
