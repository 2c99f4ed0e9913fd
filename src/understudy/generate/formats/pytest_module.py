"""A self-contained pytest module: it needs pytest and the standard library, not understudy.

It uses ``http.client``, which sends a request as it is, where other clients encode, sort and join.
"""

from collections.abc import Iterable
from typing import Any

from understudy.cases.model import ENCODED, VARIABLES, Case, CaseRequest
from understudy.generate.formats.export import (
    BASE_URL_NAMES,
    PYTHON,
    TITLE,
    ExportSettings,
    OutputPieces,
    byte_runs,
    comment,
    line,
    looked_ahead,
    status_pattern,
    title,
)

_USAGE = "Run: TOKEN=... pytest this file. BASE_URL names another deployment."

_HEAD = """import base64
import http.client
import json
import os
import re
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
"""

_FUNCTIONS = """

def value_of(name):
    text = os.environ.get(name) or DEFAULTS.get(name)
    if not text:
        pytest.skip(f"{name} is not set")
    return text


def filled(text, obtained):
    def value(match):
        text = obtained[match[1]] if match[1] in obtained else value_of(match[1])
        return quote(text, safe="") if match[2] else text

    return re.sub(VARIABLE, value, text)


def send(site, method, target, headers, body, obtained):
    address = urlsplit(value_of(site))
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.netloc, timeout=60)
    path = address.path + filled(target, obtained)
    connection.putrequest(method, path, skip_accept_encoding=True)
    for name, text in headers:
        connection.putheader(name, filled(text, obtained).encode("latin-1", "replace"))
    content = None
    if body is not None:
        content = b"".join(base64.b64decode(text) * times for text, times in body)
        content = filled(content.decode("latin-1"), obtained).encode("latin-1")
        connection.putheader("Content-Length", str(len(content)))
    connection.endheaders(content)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, response.headers.get("Location", ""), content


def obtained_by(operation, set_up):
    if set_up is None:
        return {}
    share, name, member = set_up
    if share == "own" or operation not in OBTAINED:
        status, address, content = send(*SET_UPS[name], {})
        assert status // 100 in (2, 3), f"the set-up obtained no {name}: {status}"
        found = parse_qs(urlsplit(address).query) if address else json.loads(content)
        OBTAINED[operation] = {name: found[member][0] if address else found[member]}
    return OBTAINED[operation]


OBTAINED = {}
CASES = ["""

_TAIL = """

@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_response_is_as_the_contract_expects(case):
    what, operation, statuses, location, set_up, *request = case
    status, address, _ = send(*request, obtained_by(operation, set_up))
    if status == 429 and not re.match(statuses, "429"):
        pytest.skip("not judged: the rate limit is used up")
    assert re.match(statuses, str(status)), what
    if location and 300 <= status < 400:
        assert bool(re.search("[?&#]error=", address)) == (location == "with error"), what"""


_SEQUENCES = """
for row in CASES:
    SEQUENCES.setdefault(row[-1]["sequence"], []).append(row)


@pytest.mark.parametrize("steps", SEQUENCES.values(), ids=list(SEQUENCES))
def test_an_item_can_be_created_used_and_deleted(steps):
    values = {}
    for what, _, statuses, _, _, *request, step in steps:
        status, location, content = send(*request, values)
        if status == 429 and not re.match(statuses, "429"):
            pytest.skip("not judged: the rate limit is used up")
        assert re.match(statuses, str(status)), what
        faults = step_faults(step, content, location, values)
        assert not faults, what"""


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the module."""
    yield line(f'"""{TITLE}.\n\n{_USAGE}\n"""\n')
    yield line(_HEAD)
    names = "|".join(VARIABLES)
    yield line(f"VARIABLE = {quoted(f'~~({names})({ENCODED})?~~')}")
    yield line(f"DEFAULTS = {quoted({k: v for k, v in settings.variables.items() if v})}")
    is_in_sequences, cases = looked_ahead(cases)
    yield line(f"\nSEQUENCES = {{}}\n\n\n{PYTHON}" if is_in_sequences else "")
    yield line(_FUNCTIONS)
    set_ups: dict[str, tuple[Any, ...]] = {}
    for case in cases:
        if case.set_up is not None:
            set_ups.setdefault(case.set_up.variable, _request(case.set_up.request))
        yield line(f"    # {comment(case)}\n    {quoted(_row(case))},")
    yield line(f"]\nSET_UPS = {quoted(set_ups)}\n{_SEQUENCES if is_in_sequences else _TAIL}")


def quoted(value: object) -> str:
    """Returns a value as a Python literal in ASCII."""
    return ascii(value)


def _row(case: Case) -> tuple[Any, ...]:
    """Returns a case as a literal: what it is and expects, its request, and its step if it has one."""
    set_up = None
    if case.set_up is not None:
        share = "shared" if case.set_up.is_shared else "own"
        set_up = (share, case.set_up.variable, case.set_up.member)
    expected = (status_pattern(case), case.expected.location)
    row = (
        title(case),
        case.operation,
        *expected,
        set_up,
        *_request(case.request),
    )
    if case.step is None:
        return row
    return (*row, {"sequence": case.step.sequence, **case.step.as_json()})


def _request(request: CaseRequest) -> tuple[Any, ...]:
    """Returns a request as a literal, its body as runs of bytes in base64."""
    body = None
    if request.body is not None:
        body = [(run.in_base64, run.times) for run in byte_runs(request.body)]
    site = BASE_URL_NAMES[request.site]
    return (site, request.method, request.target, list(request.headers), body)
