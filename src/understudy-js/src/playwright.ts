import { randomUUID } from "node:crypto";
import { test as base, type BrowserContext, type TestInfo } from "@playwright/test";
import { UnderstudyError } from "./errors.js";
import { startMock } from "./launcher/start.js";
import { Mock } from "./mock.js";
import type { NewWorld } from "./types.js";
import type { World } from "./world.js";

const TWO_MOCKS =
  "{address} was answered by another mock, which does not have this test's world. Let the page and the tests use one " +
  "mock: set UNDERSTUDY_URL for both, or start the dev server by Playwright's webServer in the same project.";

/** What each test gets. */
export interface UnderstudyFixtures {
  /** Options of the test's world, such as `test.use({ worldOptions: { people: ["ada"] } })`. */
  worldOptions: NewWorld;
  /** A fresh world of the mock, deleted after the test. */
  world: World;
}

/** What the tests of a worker share. */
export interface UnderstudyWorkerFixtures {
  /** The mock at `UNDERSTUDY_URL`, as `globalSetup` sets it, or of the dev server; else one for this worker. */
  mock: Mock;
}

/**
 * Playwright's `test`, with a world of the mock for each test.
 *
 * Pages of the test are in its world: requests to the mock get the world's header, as do those to `baseURL`, which a
 * dev server passes on, with its cookie. A test whose page talks to another mock fails. The journal of a failing test
 * stands below its error, and is attached to its report, as text and as HAR.
 */
export const test = base.extend<UnderstudyFixtures, UnderstudyWorkerFixtures>({
  worldOptions: [{}, { option: true }],

  mock: [
    // Playwright reads the names of fixtures from the braces.
    async ({}, use) => {
      const running = await startMock({ shared: true });
      await use(new Mock(running.url));
      await running.stop();
    },
    { scope: "worker" },
  ],

  world: async ({ mock, worldOptions }, use, testInfo) => {
    // a name that no other mock has: each calls its first world w1
    const name = `test-${randomUUID().slice(0, 13)}`;
    const world = await mock.createWorld({ name, ...worldOptions });
    await use(world);
    try {
      if (testInfo.status !== testInfo.expectedStatus) await attachJournal(world, testInfo);
    } finally {
      await world.close();
    }
  },

  context: async ({ context, world, baseURL }, use) => {
    await enter(context, world, baseURL);
    const elsewhere = requestsElsewhere(context);
    await use(context);
    const [address] = elsewhere();
    if (address !== undefined) throw new UnderstudyError(TWO_MOCKS.replace("{address}", address));
  },
});

export { expect } from "@playwright/test";

/** Puts the pages of a browser context into a world. */
async function enter(context: BrowserContext, world: World, baseURL: string | undefined): Promise<void> {
  const addresses = [world.baseUrl, world.authUrl, ...(baseURL === undefined ? [] : [baseURL])];
  const origins = new Set(addresses.map((address) => new URL(address).origin));
  await context.route(
    (url) => origins.has(url.origin),
    (route) => route.fallback({ headers: { ...route.request().headers(), ...world.header } }),
  );
  if (baseURL === undefined) return;
  const [name = "", value = ""] = world.cookie.split("=");
  await context.addCookies([{ name, value, url: baseURL }]);
}

/** Watches for requests that reached a mock without the test's world; the result returns their addresses. */
function requestsElsewhere(context: BrowserContext): () => string[] {
  const found: string[] = [];
  context.on("response", (response) => {
    // a header, since a page that was closed meanwhile has no bodies
    if (response.headers()["x-mock-refusal"] === "No such world") found.push(response.url());
  });
  return () => found;
}

async function attachJournal(world: World, testInfo: TestInfo): Promise<void> {
  const journal = await world.journal();
  testInfo.errors.push({ message: `Requests of this test:\n${journal}` });
  await testInfo.attach("journal.txt", { body: journal, contentType: "text/plain" });
  await testInfo.attach("journal.har", { body: JSON.stringify(await world.har()), contentType: "application/json" });
}
