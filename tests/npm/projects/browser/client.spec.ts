import { expect, test } from "understudy-js/playwright";

/** Runs in the page, whose dev server has both the package and, at /mock, the mock. */
const STEERED = `(async () => {
  const { Mock } = await import("/node_modules/understudy-js/dist/esm/index.js");
  const world = await new Mock("/mock").createWorld({ people: ["ada"] });
  const token = await world.token("ada", { lasts: { weeks: 2 } });
  const me = () => fetch(world.baseUrl + "/me/profile", { headers: { Authorization: "Bearer " + token } });
  const before = (await me()).status;
  await world.advance({ weeks: 2 });
  const statuses = [before, (await me()).status];
  await world.close();
  return { statuses, isHere: world.baseUrl.startsWith(location.origin + "/mock/") };
})()`;

test("the client steers a world from a page of the dev server", async ({ page }) => {
  await page.goto("/");
  expect(await page.evaluate(STEERED)).toEqual({ statuses: [200, 401], isHere: true });
});
