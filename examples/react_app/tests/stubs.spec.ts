import { expect, test } from "./app";

const ADA = { path: { profileIdentifier: "ada" } };

test("shows somebody who has no name", async ({ app, page, world }) => {
  await world.stub({ operation: "getProfile", when: ADA, response: { merge: { display_name: "" } } });
  await app.find("ada");
  await expect(page.getByRole("heading", { name: "Somebody without a name" })).toBeVisible();
});

test("leaves out what somebody does not tell", async ({ app, page, world }) => {
  const merge = { job_title: "", company: "", location: "Harbour Row" };
  await world.stub({ operation: "getProfile", when: ADA, response: { merge } });
  await app.find("ada");
  await expect(page.getByText("Harbour Row", { exact: true })).toBeVisible();
});

test("says that somebody is gone, though the mock knows her", async ({ app, page, world }) => {
  await world.stub({ operation: "getProfile", when: ADA, response: { status: 404 } });
  await app.find("ada");
  await expect(page.getByRole("alert")).toHaveText("Nobody is known as ada.");
  await app.find("ben");
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("asks for patience, and finds somebody afterwards", async ({ app, page, world }) => {
  await world.stub({ operation: "getProfile", response: [{ status: 429 }, { merge: { location: "Elsewhere" } }] });
  await app.find("ada");
  await expect(page.getByRole("alert")).toHaveText("Too many requests. Please wait a while.");
  await app.find("ada");
  await expect(page.getByText("Elsewhere")).toBeVisible();
});

// No such response can come, so a page that is tested with it is tested for nothing: the stub is refused.
test.fail("shows a name that is a number", async ({ app, page, world }) => {
  await world.stub({ operation: "getProfile", when: ADA, response: { body: { display_name: 7 } } });
  await app.find("ada");
  await expect(page.getByRole("heading", { name: "7" })).toBeVisible();
});
