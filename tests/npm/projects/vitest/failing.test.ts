import { test } from "understudy-js/vitest";
import { expect } from "vitest";

test("fails on purpose, and its journal is printed", async ({ world }) => {
  const response = await fetch(`${world.baseUrl}/profiles/nobody-at-all`);
  expect(response.status).toBe(200);
});
