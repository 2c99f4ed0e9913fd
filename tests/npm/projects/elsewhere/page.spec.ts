import { expect, test } from "understudy-js/playwright";

test("looks a person up by a page that another mock serves", async ({ page }) => {
  const response = await page.goto("/v3/profiles/ada");
  expect(response?.headers()["content-type"]).toContain("json");
});
