import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Mock } from "../mock.js";
import { cacheDirectory } from "./cache.js";

/** The mock of a dev server, as its project's tests find it. */
interface Published {
  url: string;
  /** The process that stops the mock when it ends. */
  pid: number;
}

/**
 * Names the mock of this process's dev server to the tests of the same project, and returns how that ends.
 *
 * Playwright starts its `webServer` first: a second mock for the tests would have their worlds, and the pages would
 * talk to the first one.
 */
export function publish(url: string): () => void {
  const file = fileOf(process.cwd());
  const published: Published = { url, pid: process.pid };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(published), { mode: 0o600 });
  return () => {
    if (read(file)?.pid === process.pid) rmSync(file, { force: true });
  };
}

/** Returns the address of the mock that a dev server of this project has running, or undefined. */
export async function findPublished(): Promise<string | undefined> {
  const published = read(fileOf(process.cwd()));
  if (published === undefined || !isAlive(published.pid)) return undefined;
  return (await new Mock(published.url).isRunning()) ? published.url : undefined;
}

function read(file: string): Published | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Published;
  } catch {
    return undefined; // none, or one that is being written
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Returns the file of a project, which all packages of a workspace share. */
function fileOf(directory: string): string {
  const name = createHash("sha256").update(projectOf(directory)).digest("hex").slice(0, 16);
  return join(cacheDirectory(process.env), "dev-servers", `${name}.json`);
}

/** Returns the outermost directory that has a `package.json`, within the repository if there is one. */
function projectOf(directory: string): string {
  let project = directory;
  for (let place = directory; ; place = dirname(place)) {
    if (existsSync(join(place, "package.json"))) project = place;
    if (existsSync(join(place, ".git")) || dirname(place) === place) return project;
  }
}
