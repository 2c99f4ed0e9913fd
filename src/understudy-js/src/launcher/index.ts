/**
 * Starts a mock from Node: the one at `UNDERSTUDY_URL`, or one on free ports.
 *
 * @packageDocumentation
 */
export { locate } from "./locate.js";
export type { Command } from "./locate.js";
export { startMock } from "./start.js";
export type { RunningMock, StartOptions } from "./start.js";
