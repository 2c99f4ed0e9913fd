import { expect, test } from "understudy-js/playwright";

test.use({ worldOptions: { people: ["ben"], seed: 7 } });

test("the world is as the options of the file have it", async ({ world, mock }) => {
  expect(world.people.map(({ slug }) => slug)).toEqual(["ben"]);
  expect((await mock.admin.request("get", "/worlds/{name}", { path: { name: world.name } })).seed).toBe(7);
});
