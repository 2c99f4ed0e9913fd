import { expect, test } from "./app";

test("finds somebody by e-mail address, with a picture", async ({ app, page, world }) => {
  await app.find("Ada@example.com");
  await expect(page.getByRole("heading", { name: "Ada Merrowdale" })).toBeVisible();
  await expect(page.getByRole("img")).toHaveJSProperty("complete", true);
  expect(await page.getByRole("img").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  expect(await world.requests({ operation: "getProfile", status: "200" })).toHaveLength(1);
});

test("says that nobody is known, and that the service is down", async ({ app, page, world }) => {
  await app.find("nobody-at-all");
  await expect(page.getByRole("alert")).toHaveText("Nobody is known as nobody-at-all.");
  await world.fault({ operation: "getProfile", status: 500, times: 1 });
  await app.find("ada");
  await expect(page.getByRole("alert")).toHaveText("Please try again later.");
});

test("signs in, and changes only what was edited", async ({ app, page, world }) => {
  await app.signIn();
  await expect(page.getByRole("heading", { name: "Hello, Ada Merrowdale!" })).toBeVisible();
  expect(page.url()).not.toContain("access_token");
  await page.getByLabel("Location").fill("Harbour Row");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("status")).toHaveText("Saved.");
  const [change] = await world.requests({ operation: "updateOwnProfile" });
  expect(JSON.parse(change!.request.body!)).toEqual({ location: "Harbour Row" });
});

test("uploads an avatar, and tells why a text is none", async ({ app, page }) => {
  await app.signIn();
  const input = page.getByLabel("New avatar");
  const shown = page.getByAltText("Your avatar");
  const before = (await shown.getAttribute("src")) ?? "";
  await input.setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no picture") });
  await expect(page.getByRole("alert")).toContainText("This picture was refused:");
  const picture = await page.screenshot({ clip: { x: 0, y: 0, width: 64, height: 64 } });
  await input.setInputFiles({ name: "me.png", mimeType: "image/png", buffer: picture });
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(shown).not.toHaveAttribute("src", before);
  await expect(shown).toHaveJSProperty("naturalWidth", 80);
});

test("asks for a new sign-in after two weeks", async ({ app, page, world }) => {
  await app.signIn();
  await expect(page.getByRole("heading", { name: "Hello, Ada Merrowdale!" })).toBeVisible();
  await world.advance({ weeks: 2 });
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Your sign-in has expired.")).toBeVisible();
});
