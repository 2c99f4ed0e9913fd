import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Environment variables of a process. */
export type Environment = Record<string, string | undefined>;

/** Milliseconds that a program may take to tell its version; one that waits for input never does. */
const PATIENCE = 60_000;

const IS_WINDOWS = process.platform === "win32";

/** Returns every file of this name that `PATH` leads to and that may be executed. */
export function onPath(name: string, environment: Environment): string[] {
  const directories = (environment["PATH"] ?? environment["Path"] ?? "").split(delimiter).filter(Boolean);
  const endings = IS_WINDOWS ? (environment["PATHEXT"] ?? ".EXE;.CMD;.BAT").split(";") : [""];
  return directories.flatMap((directory) => endings.map((ending) => join(directory, name + ending))).filter(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Returns what a program prints, or undefined if it fails.
 *
 * A shim of pyenv or asdf is on `PATH` for versions that are not switched on, and then fails: so each is tried.
 */
export function output(program: string, args: string[], environment: Environment): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { env: environment, timeout: PATIENCE }, (error, stdout) => {
      resolve(error === null ? stdout.trim() : undefined);
    });
  });
}
