const keep = (name, value) => {
  bru.setVar(name + '_ENCODED', encodeURIComponent(value));
  bru.setVar(name, value);
};
const located = res.getHeader('location');
const faults = stepFaults(__STEP__, res.getBody(), located, (name) => bru.getVar(name), keep);
test(__TITLE__, function () {
  expect(faults).to.eql([]);
});
