/**
 * The `globalTeardown` of Jest, which ignores what a `globalSetup` returns.
 *
 * @packageDocumentation
 */
export { tearDown as default } from "./global-setup.js";
