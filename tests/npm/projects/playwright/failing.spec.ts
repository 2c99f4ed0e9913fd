import { expect, test } from "understudy-js/playwright";

test("fails on purpose, and its journal is attached", async ({ world }) => {
  const response = await fetch(`${world.baseUrl}/profiles/nobody-at-all`);
  expect(response.status).toBe(200);
});
