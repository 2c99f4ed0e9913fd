"""The code by which scripts capture values for later steps of a sequence, and check what is shown.

Each format puts it into its own script; the data is the JSON form of a ``SequenceStep``.
"""

JAVASCRIPT = """\
const stepPlace = (body, place) =>
  place.reduce((inner, name) => (inner === null || inner === undefined ? inner : inner[name]), body);
const stepCapture = (body, location, place) => {
  const path = String(location || '').split(/[?#]/)[0].replace(/[/]+$/, '');
  const value = place === null ? decodeURIComponent(path.split('/').pop()) : stepPlace(body, place);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};
const stepShows = (body, assertion, valueOf) => {
  const isExpected = (actual) => assertion.variable === undefined
    ? actual === assertion.value
    : actual !== undefined && String(actual) === valueOf(assertion.variable);
  const value = stepPlace(body, assertion.place);
  if (assertion.kind === 'equals') return isExpected(value);
  if (!Array.isArray(value)) return false;
  const has = value.some((item) => isExpected(stepPlace(item, [assertion.member])));
  return has === (assertion.kind === 'contains');
};
const stepFaults = (step, body, location, valueOf, keep) => {
  const captures = step.captures.map((one) => [one.variable, stepCapture(body, location, one.place)]);
  for (const [name, value] of captures) keep(name, value);
  const missing = captures.filter(([, value]) => !value).map(([name]) => 'a value for ' + name);
  const broken = step.assertions.filter((one) => !stepShows(body, one, valueOf));
  return missing.concat(broken.map((one) => JSON.stringify(one)));
};"""
"""Defines ``stepFaults``: keeps what is captured, and returns what the response does not show."""

PYTHON = """\
def step_place(body, place):
    for name in place:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def step_capture(body, location, place):
    if place is None:
        return unquote(urlsplit(location).path.rstrip("/").rpartition("/")[2])
    value = step_place(body, place)
    return str(value) if isinstance(value, (str, int, float)) and value is not True else ""


def step_shows(body, assertion, values):
    def is_expected(actual):
        if "variable" in assertion:
            return str(actual) == values.get(assertion["variable"])
        expected = assertion["value"]
        return actual == expected and isinstance(actual, bool) == isinstance(expected, bool)

    value = step_place(body, assertion["place"])
    if assertion["kind"] == "equals":
        return is_expected(value)
    if not isinstance(value, list):
        return False
    has_item = any(is_expected(step_place(item, [assertion["member"]])) for item in value)
    return has_item == (assertion["kind"] == "contains")


def step_faults(step, content, location, values):
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    captures = [(it["variable"], step_capture(body, location, it["place"])) for it in step["captures"]]
    values.update({name: value for name, value in captures if value})
    missing = ["a value for " + name for name, value in captures if not value]
    broken = [it for it in step["assertions"] if not step_shows(body, it, values)]
    return missing + [json.dumps(it) for it in broken]"""
"""Defines ``step_faults`` likewise; it needs ``json``, ``unquote`` and ``urlsplit``, and no single quote."""
