import { test as base, type BrowserContext, type TestInfo } from "@playwright/test";
import { startMock } from "./launcher/start.js";
import { Mock } from "./mock.js";
import type { NewWorld } from "./types.js";
import type { World } from "./world.js";

/** What each test gets. */
export interface UnderstudyFixtures {
  /** Options of the test's world, such as `test.use({ worldOptions: { people: ["ada"] } })`. */
  worldOptions: NewWorld;
  /** A fresh world of the mock, deleted after the test. */
  world: World;
}

/** What the tests of a worker share. */
export interface UnderstudyWorkerFixtures {
  /** The mock at `UNDERSTUDY_URL`, as `globalSetup` sets it; without one, a mock for this worker. */
  mock: Mock;
}

/**
 * Playwright's `test`, with a world of the mock for each test.
 *
 * Pages of the test are in its world: requests to the mock get the world's header, and those to `baseURL`, which a dev
 * server passes on, its cookie. The journal of a failing test is attached to its report, as text and as HAR.
 */
export const test = base.extend<UnderstudyFixtures, UnderstudyWorkerFixtures>({
  worldOptions: [{}, { option: true }],

  mock: [
    // Playwright reads the names of fixtures from the braces.
    async ({}, use) => {
      const running = await startMock();
      await use(new Mock(running.url));
      await running.stop();
    },
    { scope: "worker" },
  ],

  world: async ({ mock, worldOptions }, use, testInfo) => {
    const world = await mock.createWorld(worldOptions);
    await use(world);
    try {
      if (testInfo.status !== testInfo.expectedStatus) await attachJournal(world, testInfo);
    } finally {
      await world.close();
    }
  },

  context: async ({ context, world, baseURL }, use) => {
    await enter(context, world, baseURL);
    await use(context);
  },
});

export { expect } from "@playwright/test";

/** Puts the pages of a browser context into a world. */
async function enter(context: BrowserContext, world: World, baseURL: string | undefined): Promise<void> {
  const origins = new Set([new URL(world.baseUrl).origin, new URL(world.authUrl).origin]);
  await context.route(
    (url) => origins.has(url.origin),
    (route) => route.fallback({ headers: { ...route.request().headers(), ...world.header } }),
  );
  if (baseURL === undefined) return;
  const [name = "", value = ""] = world.cookie.split("=");
  await context.addCookies([{ name, value, url: baseURL }]);
}

async function attachJournal(world: World, testInfo: TestInfo): Promise<void> {
  await testInfo.attach("journal.txt", { body: await world.journal(), contentType: "text/plain" });
  await testInfo.attach("journal.har", { body: JSON.stringify(await world.har()), contentType: "application/json" });
}
