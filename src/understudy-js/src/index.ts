/**
 * The client of a running mock: worlds, tokens, clock, faults and journal, typed by the mock's own documents.
 *
 * @packageDocumentation
 */
export { AdminClient } from "./admin-client.js";
export type { AdminPath, ClientOptions, Method, RequestOptions, Result } from "./admin-client.js";
export type { Duration } from "./durations.js";
export { RefusedError, UnderstudyError } from "./errors.js";
export { Mock } from "./mock.js";
export type * from "./types.js";
export { VERSION } from "./generated/version.js";
export { World } from "./world.js";
