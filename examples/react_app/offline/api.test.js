import { setupServer } from "msw/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { changeProfile, findProfile, ownProfile } from "../src/api";
import { handlers } from "./handlers.js";

const server = setupServer(...handlers({ base: import.meta.env.VITE_UNDERSTUDY_BASE_URL }));
beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterAll(() => server.close());

test("finds somebody by e-mail address", async () => {
  expect(await findProfile("Ada@example.com ")).toMatchObject({ display_name: "Ada Merrowdale" });
});

test("finds nobody by a name that nobody has", async () => {
  await expect(findProfile("nobody-at-all")).rejects.toMatchObject({ status: 404 });
});

test("reads more of the own profile, and nothing with a token that nobody issued", async () => {
  expect(await ownProfile("ada-full")).toHaveProperty("last_profile_edit");
  await expect(ownProfile("made-up")).rejects.toMatchObject({ status: 401 });
});

test("is told that a change was taken, which is not kept", async () => {
  await changeProfile("ada-full", { location: "Harbour Row" });
  expect(await ownProfile("ada-full")).toMatchObject({ location: "Port Lindry" });
});
