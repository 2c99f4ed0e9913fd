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
};
