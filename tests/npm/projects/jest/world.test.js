const { useWorld } = require("understudy-js/jest");

const outside = useWorld({ people: ["ada"] });
const names = new Set();

test.each([1, 2, 3])("test %i has a world of its own", async () => {
  const world = outside();
  names.add(world.name);
  expect(world.people.map(({ slug }) => slug)).toEqual(["ada"]);
  await world.fault({ operation: "getProfile", status: 503, times: 1 });
  const statuses = [];
  for (let count = 0; count < 2; count += 1) {
    statuses.push((await fetch(`${world.baseUrl}/profiles/ada`)).status);
  }
  expect(statuses).toEqual([503, 200]);
});

afterAll(async () => {
  const { Mock } = require("understudy-js");
  const left = new Set(await new Mock().worldNames());
  expect([names.size, [...names].filter((name) => left.has(name))]).toEqual([3, []]);
  expect(outside).toThrow("only while a test runs");
});
