import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./programs.js";

/** Returns the directory of what is kept between runs: `~/.cache/understudy-js`, or where the system has caches. */
export function cacheDirectory(environment: Environment): string {
  const local = process.platform === "win32" ? environment["LOCALAPPDATA"] : environment["XDG_CACHE_HOME"];
  return join(local || join(environment["HOME"] ?? homedir(), ".cache"), "understudy-js");
}
