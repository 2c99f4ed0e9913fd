import { type RunningMock, startMock } from "./launcher/start.js";

const KEY = Symbol.for("understudy-js.running-mock");

/** Where the mock is kept for a teardown in a module of its own; runners load both in one process. */
const kept = globalThis as { [KEY]?: RunningMock };

/**
 * The `globalSetup` of Playwright, Vitest and Jest: one mock for all workers, which find it by `UNDERSTUDY_URL`.
 *
 * Under Playwright it is that of the project's dev server where Vite's plugin has started one: pages talk to it.
 *
 * Options of the mock come from its environment variables, such as `UNDERSTUDY_CHOOSE=rate-limits=off`.
 *
 * @param config - What the runner passes; only Playwright's has `webServer`.
 * @returns the teardown, for runners that call it; Jest needs `understudy-js/global-teardown` as `globalTeardown`.
 */
export default async function setUp(config: object = {}): Promise<() => Promise<void>> {
  const mock = await startMock({ shared: "webServer" in config });
  kept[KEY] = mock;
  process.env["UNDERSTUDY_URL"] = process.env["UNDERSTUDY_SAID"] = mock.url; // no worker need say it
  process.env["UNDERSTUDY_BASE_URL"] = mock.baseUrl;
  process.env["UNDERSTUDY_AUTH_URL"] = mock.authUrl;
  return tearDown;
}

/** Stops the mock that `setUp` started. */
export async function tearDown(): Promise<void> {
  await kept[KEY]?.stop();
  delete kept[KEY];
}
