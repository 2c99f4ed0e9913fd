const keep = (name, value) => {
  client.global.set(name, value);
  client.global.set(name + '_ENCODED', encodeURIComponent(value));
};
const body = typeof response.body === 'string' ? null : response.body;
const location = response.headers.valueOf('location');
const faults = stepFaults(__STEP__, body, location,
  (name) => client.global.get(name), keep);
client.test(__TITLE__, () => {
  const isExpected = new RegExp(__STATUSES__).test(String(response.status));
  client.assert(isExpected, 'the status is ' + response.status);
  client.assert(faults.length === 0, faults.join(', '));
});
