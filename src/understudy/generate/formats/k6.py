"""A k6 script that sends each case once an iteration and checks the answer.

Secrets come from the environment (``k6 run -e TOKEN=…``). A body that is no text stands in base64 and
is sent as bytes.
"""

from collections.abc import Iterable
from typing import Any

from understudy.generate.cases import Case
from understudy.generate.drafts import dumps
from understudy.generate.formats.export import (
    HIDDEN,
    TITLE,
    ExportSettings,
    OmittedCase,
    OutputPieces,
    byte_runs,
    comment,
    hides_secret,
    line,
    plain_text,
    repeated_header,
)
from understudy.generate.formats.postman import pattern

_HEAD = """// {title}. Run: k6 run -e TOKEN=... this file
import http from 'k6/http';
import encoding from 'k6/encoding';
import {{ check }} from 'k6';

const sites = {{
  resource: __ENV.BASE_URL || {base_url},
  authorization: __ENV.AUTH_URL || {auth_url},
}};
const given = {secrets};

const cases = ["""

_TAIL = """];

// every answer is expected by some case: none counts as a failed request
http.setResponseCallback(null);

export const options = { vus: 1, iterations: 1 };

function filled(text) {
  return text.replace(/~~([a-z_]+?)(_encoded)?~~/g, (_, name, isEncoded) => {
    const value = __ENV[name.toUpperCase()] || given[name] || '';
    return isEncoded ? encodeURIComponent(value) : value;
  });
}

function fits(answer, one) {
  if (!new RegExp(one.statuses).test(String(answer.status))) return false;
  const location = answer.headers.Location;
  if (!location || !one.location) return true;
  return /[?&#]error=/.test(location) === (one.location === 'with error');
}

function joined(pieces) {
  const parts = pieces.map(([text, times]) => [new Uint8Array(encoding.b64decode(text, 'std')), times]);
  const bytes = new Uint8Array(parts.reduce((size, [part, times]) => size + part.length * times, 0));
  let place = 0;
  for (const [part, times] of parts) {
    if (times === 1) bytes.set(part, place); // the others are zeros, which it is full of
    place += part.length * times;
  }
  return bytes.buffer;
}

export default function () {
  for (const one of cases) {
    const headers = {};
    for (const [name, text] of one.headers) headers[name] = filled(text);
    let body = null;
    if (one.text !== undefined) body = filled(one.text);
    if (one.pieces !== undefined) body = joined(one.pieces);
    const answer = http.request(one.method, sites[one.site] + filled(one.target), body, {
      headers,
      redirects: 0,
      tags: { name: one.operation, case: one.id },
    });
    check(answer, { [`${one.id}: ${one.what}`]: (found) => fits(found, one) });
  }
}"""


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the script."""
    yield line(
        _HEAD.format(
            title=TITLE,
            base_url=dumps(settings.base_urls["resource"]),
            auth_url=dumps(settings.base_urls["authorization"]),
            secrets=dumps(dict(settings.secrets)),
        )
    )
    for case in cases:
        reason = _reason(case)
        if reason:
            yield OmittedCase(case, reason)
            continue
        yield line(f"  // {comment(case)}\n  {_safe(dumps(_said(case)))},")
    yield line(_TAIL)


def _reason(case: Case) -> str:
    if hides_secret(case):
        return HIDDEN
    if repeated_header(case):
        return f"k6 takes the header {repeated_header(case)} once"
    return ""


def _said(case: Case) -> dict[str, Any]:
    request = case.request
    said: dict[str, Any] = {
        "id": case.id,
        "operation": case.operation,
        "what": case.description,
        "site": request.site,
        "method": request.method,
        "target": request.target,
        "headers": [[name, text] for name, text in request.headers],
        "statuses": pattern(case),
        "location": case.expected.location,
    }
    if request.body is not None:
        text = plain_text(request.body)
        if text is None:
            said["pieces"] = [[run.in_base64, run.times] for run in byte_runs(request.body)]
        else:
            said["text"] = text
    return said


def _safe(text: str) -> str:
    """Returns JSON as JavaScript reads it: before ES2019, two line ends could not stand in a string."""
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
