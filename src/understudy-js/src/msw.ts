import { bypass, http, type HttpHandler } from "msw";
import type { World } from "./world.js";

/** A world, or a function that returns the one of the test that runs. */
export type WorldOf = Pick<World, "header"> | (() => Pick<World, "header">);

/**
 * Returns a handler of MSW by which requests to the mock reach it, in a world; MSW answers all others.
 *
 * @param url - Address of the mock, without a path: `mock.url`.
 * @param world - The world.
 */
export function passThrough(url: string, world: WorldOf): HttpHandler {
  return http.all(`${url}/*`, ({ request }) => {
    const { header } = typeof world === "function" ? world() : world;
    const sent = bypass(request);
    for (const [name, value] of Object.entries(header)) sent.headers.set(name, value);
    return fetch(sent);
  });
}
