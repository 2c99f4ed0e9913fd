import { test as base } from "vitest";
import { Mock } from "./mock.js";
import type { NewWorld } from "./types.js";
import type { World } from "./world.js";

/** What each test gets. */
export interface UnderstudyFixtures {
  /** Options of the test's world; replaced by `test.extend({ worldOptions: … })` or `test.scoped`. */
  worldOptions: NewWorld;
  /** A fresh world of the mock, deleted after the test; the journal of a failing test is printed. */
  world: World;
}

/**
 * Vitest's `test`, with a world of the mock for each test that asks for one.
 *
 * `globalSetup: ["understudy-js/global-setup"]` in the configuration starts the mock.
 */
export const test = base.extend<UnderstudyFixtures>({
  worldOptions: {},
  world: async ({ task, worldOptions }, use) => {
    const world = await new Mock().createWorld(worldOptions);
    await use(world);
    try {
      if (task.result?.state === "fail") console.error(`Requests of "${task.name}":\n${await world.journal()}`);
    } finally {
      await world.close();
    }
  },
});
