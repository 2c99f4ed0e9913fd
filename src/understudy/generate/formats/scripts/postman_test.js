const isExpected = new RegExp(__STATUSES__).test(String(pm.response.code));
const isLimited = pm.response.code === 429 && !isExpected;
(isLimited ? pm.test.skip : pm.test)(__TITLE__, () => {
  pm.expect(String(pm.response.code)).to.match(new RegExp(__STATUSES__));__LOCATION__
});
