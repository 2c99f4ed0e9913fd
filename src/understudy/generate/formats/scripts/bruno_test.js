const isExpected = new RegExp(__STATUSES__).test(String(res.getStatus()));
const isLimited = res.getStatus() === 429 && !isExpected;
const note = isLimited ? ': not judged, the rate limit is used up' : '';
test(__TITLE__ + note, function () {
  if (isLimited) return;
  expect(String(res.getStatus())).to.match(new RegExp(__STATUSES__));__LOCATION__
});
