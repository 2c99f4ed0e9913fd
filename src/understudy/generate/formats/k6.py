"""A k6 script that sends each case once an iteration and checks the response.

Secrets come from the environment (``k6 run -e TOKEN=…``). A body that is not text is in base64 and is
sent as bytes.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from understudy.cases.model import ENCODED, VARIABLES, Case, CaseRequest, SetUp
from understudy.generate.formats.export import (
    BASE_URL_NAMES,
    HIDDEN,
    JAVASCRIPT,
    TITLE,
    ExportSettings,
    OutputPiece,
    OutputPieces,
    byte_runs,
    comment,
    hides_secret,
    javascript,
    line,
    plain_text,
    repeated_header,
    status_pattern,
    written,
)

_BROKEN_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")

_HEAD = """import http from 'k6/http';
import encoding from 'k6/encoding';
import { check } from 'k6';
"""

_TAIL = r"""
// every response is expected by some case: none counts as a failed request
http.setResponseCallback(null);

export const options = { vus: 1, iterations: 1, thresholds: { checks: ['rate==1'] } };

const obtained = {};

function valueOf(name) {
  return world[name] || __ENV[name] || defaults[name] || '';
}

function filled(text, values) {
  return text.replace(variable, (_, name, isEncoded) => {
    const value = values[name] || valueOf(name);
    return isEncoded ? encodeURIComponent(value) : value;
  });
}

function fits(response, one) {
  if (!new RegExp(one.statuses).test(String(response.status))) return false;
  const location = response.headers.Location;
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

function send(request, tags, values) {
  const headers = {};
  for (const [name, text] of request.headers) headers[name] = filled(text, values);
  let body = null;
  if (request.text !== undefined) body = filled(request.text, values);
  if (request.pieces !== undefined) body = joined(request.pieces);
  const url = valueOf(request.site) + filled(request.target, values);
  return http.request(request.method, url, body, { headers, redirects: 0, tags });
}

function kept(response, member) {
  const location = response.headers.Location;
  if (!location) return JSON.parse(response.body)[member];
  const pair = location.split(/[?&#]/).find((text) => text.startsWith(`${member}=`)) || '=';
  return decodeURIComponent(pair.split('=')[1]);
}

function obtainedBy(one) {
  if (one.setUp === null) return {};
  const { share, name, member } = one.setUp;
  if (share === 'own' || obtained[one.operation] === undefined) {
    const response = send(setUps[name], { name: 'set-up' }, {});
    obtained[one.operation] = { [name]: kept(response, member) };
  }
  return obtained[one.operation];
}

let sequence = '';
let items = {};

// what the response to a step of a sequence does not show; keeps what later steps need
function stepFaultsOf(response, one) {
  let body = null;
  try {
    body = JSON.parse(response.body);
  } catch (error) {
    // no JSON, and so without members
  }
  const keep = (name, value) => { items[name] = value; };
  return stepFaults(one.step, body, response.headers.Location, (name) => items[name], keep);
}

function isAccepted(response, one) {
  if (!fits(response, one)) return false;
  const faults = one.step ? stepFaultsOf(response, one) : [];
  if (faults.length) console.log(`${one.id}: the response does not show ${faults.join(', ')}`);
  return faults.length === 0;
}

export default function (data) {
  enterWorld(data);
  for (const one of cases) {
    if (one.step && one.step.sequence !== sequence) {
      sequence = one.step.sequence;
      items = {};
    }
    if (one.items.some((name) => !items[name])) {
      console.log(`skipped ${one.id}: an earlier step created no item`);
      continue;
    }
    if (one.variables.some((name) => !valueOf(name))) {
      console.log(`skipped ${one.id}: a secret is not set`);
      continue;
    }
    const response = send(one.request, { name: one.operation, case: one.id }, one.step ? items : obtainedBy(one));
    if (response.status === 429 && !fits(response, one)) {
      console.log(`not judged ${one.id}: the rate limit is used up`);
      continue;
    }
    check(response, { [`${one.id}: ${one.what}`]: (found) => isAccepted(found, one) });
  }
}"""


_NO_WORLDS = """

const world = {};

function enterWorld() {}"""

_WORLDS = """

// each virtual user has a world of the mock to itself: it sees no writes and no limits of the others
const world = {};

function callAdmin(method, path, body) {
  const headers = { 'Content-Type': 'application/json' };
  if (__ENV.UNDERSTUDY_ADMIN_TOKEN) headers.Authorization = `Bearer ${__ENV.UNDERSTUDY_ADMIN_TOKEN}`;
  const mock = (__ENV.BASE_URL || defaults.BASE_URL).replace(/\\/[^/]*$/, '');
  return http.request(method, `${mock}/__admin${path}`, body, { headers, redirects: 0, tags: { name: 'world' } });
}

export function setup() {
  return { run: `load-${Date.now().toString(36)}` };
}

function enterWorld(data) {
  if (world.BASE_URL) return;
  const wanted = { name: `${data.run}-${__VU}`, idle_seconds: 600 };
  const response = callAdmin('POST', '/worlds', JSON.stringify(wanted));
  if (response.status !== 201) throw new Error(`no world was made: ${response.status} ${response.body}`);
  const made = JSON.parse(response.body);
  world.BASE_URL = made.base_url;
  world.AUTH_URL = made.auth_url;
}

export function teardown(data) {
  const made = [];
  let path = '/worlds?limit=500';
  while (path) {
    const page = callAdmin('GET', path, null);
    if (page.status !== 200) throw new Error(`worlds are left: ${page.status} ${page.body}`);
    made.push(...JSON.parse(page.body).map((each) => each.name).filter((name) => name.startsWith(`${data.run}-`)));
    const next = /\\/__admin([^>]*)>; rel="next"/.exec(page.headers.Link || '');
    path = next && next[1];
  }
  for (const name of made) callAdmin('DELETE', `/worlds/${name}`, null);
}"""


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the script."""
    yield line(f"// {TITLE}. Run: k6 run -e TOKEN=... this file\n{_HEAD}\n")
    names = "|".join(VARIABLES)
    yield line(f"const variable = /~~({names})({ENCODED})?~~/g;")
    yield line(f"const defaults = {javascript(settings.variables)};\nconst cases = [")
    set_ups: dict[str, dict[str, Any]] = {}

    def pieces(case: Case, _: SetUp | None) -> Iterator[OutputPiece]:
        if case.set_up is not None:
            set_ups.setdefault(case.set_up.variable, _request(case.set_up.request))
        yield line(f"  // {comment(case)}\n  {javascript(_row(case))},")

    yield from written(cases, _reason, pieces)
    worlds = _WORLDS if settings.is_in_worlds else _NO_WORLDS
    yield line(f"];\nconst setUps = {javascript(set_ups)};\n{JAVASCRIPT}{_TAIL}{worlds}")


def _reason(case: Case) -> str:
    if hides_secret(case):
        return HIDDEN
    if repeated_header(case):
        return f"k6 takes the header {repeated_header(case)} once"
    if _BROKEN_ESCAPE.search(case.request.target.partition("?")[0]):
        return "k6 refuses a path with a broken percent sign"
    return ""


def _row(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "operation": case.operation,
        "what": case.description,
        "variables": list(case.variables),
        "items": list(case.items),
        "step": None
        if case.step is None
        else {"sequence": case.step.sequence, **case.step.as_json()},
        "setUp": None
        if case.set_up is None
        else {
            "share": "shared" if case.set_up.is_shared else "own",
            "name": case.set_up.variable,
            "member": case.set_up.member,
        },
        "request": _request(case.request),
        "statuses": status_pattern(case),
        "location": case.expected.location,
    }


def _request(request: CaseRequest) -> dict[str, Any]:
    row: dict[str, Any] = {
        "site": BASE_URL_NAMES[request.site],
        "method": request.method,
        "target": request.target,
        "headers": [[name, text] for name, text in request.headers],
    }
    if request.body is not None:
        text = plain_text(request.body)
        if text is None:
            row["pieces"] = [[run.in_base64, run.times] for run in byte_runs(request.body)]
        else:
            row["text"] = text
    return row
