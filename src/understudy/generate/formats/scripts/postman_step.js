let body = null;
try { body = pm.response.json(); } catch (error) { /* no JSON, and so without members */ }
const keep = (name, value) => {
  pm.collectionVariables.set(name + '_ENCODED', encodeURIComponent(value));
  pm.collectionVariables.set(name, value);
};
const valueOf = (name) => pm.collectionVariables.get(name);
const location = pm.response.headers.get('Location');
const faults = stepFaults(__STEP__, body, location, valueOf, keep);
pm.test(__TITLE__, () => {
  pm.expect(faults).to.eql([]);
});
