import { Mock } from "./mock.js";
import type { NewWorld } from "./types.js";
import type { World } from "./world.js";

type Hook = (hook: () => Promise<void>) => void;
declare const beforeEach: Hook;
declare const afterEach: Hook;

/**
 * Makes a world before each test of the file or `describe` block, and deletes it after the test.
 *
 * `globalSetup: "understudy-js/global-setup"` and `globalTeardown: "understudy-js/global-teardown"` in the
 * configuration start and stop the mock. It works for every runner with global `beforeEach` and `afterEach`.
 *
 * @returns a function that returns the world of the test that runs.
 * @example
 * ```js
 * const world = useWorld({ people: ["ada"] });
 * test("finds ada", async () => {
 *   expect((await fetch(`${world().baseUrl}/profiles/ada`)).status).toBe(200);
 * });
 * ```
 */
export function useWorld(options: NewWorld = {}): () => World {
  let current: World | undefined;
  beforeEach(async () => {
    current = await new Mock().createWorld(options);
  });
  afterEach(async () => {
    await current?.close();
    current = undefined;
  });
  return () => {
    if (current === undefined) throw new Error("There is a world only while a test runs; call this inside of one.");
    return current;
  };
}
