"""A pytest module of its own: it needs pytest and the standard library, and nothing of understudy.

``http.client`` sends what it is told, where friendlier clients would encode, sort and join.
"""

from collections.abc import Iterable
from typing import Any

from understudy.generate.cases import Case
from understudy.generate.formats.export import (
    TITLE,
    ExportSettings,
    OutputPieces,
    byte_runs,
    comment,
    line,
)

_HEAD = '''"""{title}.

Run: TOKEN=... pytest this file. BASE_URL and AUTH_URL name another deployment.
"""

import base64
import http.client
import os
import re
from urllib.parse import quote, urlsplit

import pytest

SITES = {{
    "resource": os.environ.get("BASE_URL", {base_url!r}),
    "authorization": os.environ.get("AUTH_URL", {auth_url!r}),
}}
SECRETS = {secrets!r}


def filled(text):
    def value(found):
        name = found[1]
        known = os.environ.get(name.upper()) or SECRETS.get(name)
        if not known:
            pytest.skip(f"{{name.upper()}} is not set")
        return quote(known, safe="") if found[2] else known

    return re.sub("~~([a-z_]+?)(_encoded)?~~", value, text)


def send(site, method, target, headers, body):
    address = urlsplit(SITES[site])
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.netloc, timeout=60)
    connection.putrequest(method, address.path + filled(target), skip_accept_encoding=True)
    for name, text in headers:
        connection.putheader(name, filled(text).encode("latin-1", "replace"))
    content = None
    if body is not None:
        content = b"".join(base64.b64decode(text) * times for text, times in body)
        content = filled(content.decode("latin-1")).encode("latin-1")
        connection.putheader("Content-Length", str(len(content)))
    connection.endheaders(content)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers.get("Location", "")


CASES = ['''

_TAIL = """
]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_answer_is_as_the_contract_expects(case):
    _, what, statuses, location, *request = case
    status, found = send(*request)
    assert re.fullmatch(statuses, str(status)), what
    if location and 300 <= status < 400:
        assert bool(re.search("[?&#]error=", found)) == (location == "with error"), what"""


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the module."""
    yield line(
        _HEAD.format(
            title=TITLE,
            base_url=settings.base_urls["resource"],
            auth_url=settings.base_urls["authorization"],
            secrets=dict(settings.secrets),
        )
    )
    for case in cases:
        yield line(f"    # {comment(case)}\n    {_said(case)!a},")
    yield line(_TAIL.lstrip("\n"))


def _said(case: Case) -> tuple[Any, ...]:
    request = case.request
    statuses = "|".join(status.replace("X", "[0-9]") for status in case.expected.statuses)
    body = None
    if request.body is not None:
        body = [(run.in_base64, run.times) for run in byte_runs(request.body)]
    return (
        *(case.id, case.description, statuses, case.expected.location),
        *(request.site, request.method, request.target, list(request.headers), body),
    )
