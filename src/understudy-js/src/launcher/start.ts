import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { UnderstudyError } from "../errors.js";
import { Mock } from "../mock.js";
import { findPublished } from "./dev-server.js";
import { onEnd } from "./ending.js";
import { locate } from "./locate.js";

/** How a mock is started. */
export interface StartOptions {
  /** Options of `understudy serve`, such as `["--choose", "rate-limits=off"]`; ports are free ones by default. */
  serve?: string[];
  /** Whether the mock of this project's dev server is used where one is running, as pages of the tests talk to it. */
  shared?: boolean;
}

/** A mock that is running, and how it ends. */
export interface RunningMock extends AsyncDisposable {
  /** Address of the mock, without a path. */
  readonly url: string;
  /** Base URL of the resource API. */
  readonly baseUrl: string;
  /** Base URL of the authorization server. */
  readonly authUrl: string;
  /** Stops the mock; does nothing to one that was running already. */
  stop(): Promise<void>;
}

/** The addresses in the file of `serve --ready-file`. */
interface Addresses {
  base_url: string;
  auth_url: string;
}

/**
 * Returns the mock at `UNDERSTUDY_URL`, else if asked for that of a dev server, or starts one on free ports.
 *
 * A mock that is running keeps the options that it was started with; it is said which one is used.
 *
 * @throws {@link UnderstudyError} - No mock responds at `UNDERSTUDY_URL`, there is no understudy to start, or it
 *   refuses its options; the message has what it printed.
 */
export async function startMock(options: StartOptions = {}): Promise<RunningMock> {
  const { serve = [], shared = false, ...others } = options;
  const url = process.env["UNDERSTUDY_URL"];
  expectOptions(serve, others);
  if (url) return runningAt(url, "UNDERSTUDY_URL", serve);
  const published = shared ? await findPublished() : undefined;
  return published === undefined ? start(serve) : runningAt(published, "of the dev server", serve);
}

/** Refuses what plain JavaScript may pass, and what would start a mock without the options that were meant. */
function expectOptions(serve: unknown, others: object): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const advice = `write serve: ["--${unknown}", …], as on the command line`;
    throw new UnderstudyError(`There is no option ${unknown}; ${advice}.`);
  }
  if (!Array.isArray(serve)) {
    const advice = 'write a list, such as ["--choose", "rate-limits=off"]';
    throw new UnderstudyError(`serve is ${JSON.stringify(serve)}; ${advice}.`);
  }
}

async function runningAt(url: string, origin: string, serve: string[]): Promise<RunningMock> {
  const mock = new Mock(url);
  if (!(await mock.isRunning())) {
    const origin = URL.canParse(url) ? new URL(url).origin : "http://127.0.0.1:8080";
    const usual = "Start it by `npx understudy-js serve`, or unset the variable to have one started";
    const advice = url.replace(/\/+$/, "") === origin ? usual : `Write it without a path, such as ${origin}`;
    throw new UnderstudyError(`UNDERSTUDY_URL is ${url}, where no mock responds. ${advice}.`);
  }
  sayWhichIsUsed(mock.url, origin, serve);
  const world = await mock.world();
  return running(mock.url, world.baseUrl, world.authUrl, () => Promise.resolve());
}

/** Says which mock is used, and which options of a mock of one's own it does not have; once, not in each worker. */
function sayWhichIsUsed(url: string, origin: string, serve: string[]): void {
  if (process.env["UNDERSTUDY_SAID"] === url) return;
  process.env["UNDERSTUDY_SAID"] = url;
  const settings = /^UNDERSTUDY_(CHOOSE|DOCUMENT|FIXTURES|LIKE|SEED)/;
  const variables = Object.keys(process.env).filter((name) => settings.test(name));
  const ignored = [...serve.filter((word) => word !== "--single-port"), ...variables].join(" ");
  const advice = ignored === "" ? "" : `; it keeps its own options, so these have no effect: ${ignored}`;
  process.stderr.write(`understudy-js: uses the mock at ${url} (${origin})${advice}\n`);
}

async function start(serve: string[]): Promise<RunningMock> {
  const { program, args } = await locate("serve");
  const directory = mkdtempSync(join(tmpdir(), "understudy-"));
  const ready = join(directory, "ready.json");
  const free = ["--port", "0", "--auth-port", "0", "--log", "off", "--ready-file", ready];
  const child = spawn(program, [...args, "serve", ...free, ...serve], { stdio: ["ignore", "ignore", "pipe"] });
  const cancel = onEnd(() => child.kill());
  const stop = async (): Promise<void> => {
    cancel();
    await ended(child);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const { base_url, auth_url } = await addresses(child, ready);
    return running(new URL(base_url).origin, base_url, auth_url, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

function running(url: string, baseUrl: string, authUrl: string, stop: () => Promise<void>): RunningMock {
  return { url, baseUrl, authUrl, stop, [Symbol.asyncDispose]: stop };
}

/** Waits until the mock has written its addresses. */
async function addresses(child: ChildProcess, ready: string): Promise<Addresses> {
  let printed = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (printed = (printed + text).slice(-4000)));
  let failure: string | undefined;
  child.once("error", (error) => (failure = error.message));
  child.once("close", (code) => (failure ??= printed.trim() || `exit code ${code}`));
  for (;;) {
    const written = content(ready);
    if (written !== undefined) return written;
    if (failure !== undefined) throw new UnderstudyError(`The mock did not start: ${failure}`);
    await pause(20);
  }
}

function content(path: string): Addresses | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Addresses;
  } catch {
    return undefined; // not there yet, or not whole yet
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  await exit;
}
