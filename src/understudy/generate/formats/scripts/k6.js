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
  if (faults.length) console.log(`${one.what}: the response does not show ${faults.join(', ')}`);
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
      console.log(`skipped ${one.what}: an earlier step created no item`);
      continue;
    }
    if (one.variables.some((name) => !valueOf(name))) {
      console.log(`skipped ${one.what}: a secret is not set`);
      continue;
    }
    const response = send(one.request, { name: one.operation, case: one.id }, one.step ? items : obtainedBy(one));
    if (response.status === 429 && !fits(response, one)) {
      console.log(`not judged ${one.what}: the rate limit is used up`);
      continue;
    }
    check(response, { [one.what]: (found) => isAccepted(found, one) });
  }
}
