import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { UnderstudyError } from "../errors.js";
import { onEnd } from "./ending.js";
import { type Environment, onPath, output } from "./programs.js";

const NAMES = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];

/** Prints the program, its version, and whether it can make environments, which some systems package apart. */
const PROBE =
  "import sys, importlib.util as u; " +
  "print(sys.executable, '.'.join(map(str, sys.version_info[:3])), " +
  "int(sys.version_info >= (3, 11)), int(bool(u.find_spec('ensurepip'))), sep='\\n')";

const DAY = 24 * 60 * 60 * 1000;

/** A Python that understudy runs on. */
export interface Python {
  program: string;
  version: string;
  /** Whether it has the modules that make an environment. */
  canMakeEnvironments: boolean;
}

/** Returns the first Python 3.11 or later on `PATH`, preferring one that can make environments. */
export async function findPython(environment: Environment): Promise<Python | undefined> {
  let incomplete: Python | undefined;
  for (const candidate of NAMES.flatMap((name) => onPath(name, environment))) {
    const lines = (await output(candidate, ["-c", PROBE], environment))?.split(/\r?\n/) ?? [];
    const [program = "", version = "", isRecent, hasPip] = lines;
    if (isRecent !== "1") continue;
    const python = { program, version, canMakeEnvironments: hasPip === "1" };
    if (python.canMakeEnvironments) return python;
    incomplete ??= python;
  }
  return incomplete;
}

/**
 * Returns the Python of an environment in the cache that has the requirement installed; makes it if there is none.
 *
 * It is made under a name of its own and then renamed, so that a start at the same moment, or one that was killed,
 * leaves no half environment behind; whoever comes second uses the first one's.
 *
 * @throws {@link UnderstudyError} - pip failed; the message has its last lines.
 */
export async function cachedEnvironment(
  python: Python,
  requirement: string,
  environment: Environment,
): Promise<string> {
  const cache = cacheDirectory(environment);
  const directory = join(cache, `python-${python.version}-${fingerprint(python, requirement)}`);
  const program = programOf(directory);
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  removeAbandoned(cache);
  const draft = `${directory}.${process.pid}.draft`;
  const cancel = onEnd(() => removeDraft(draft));
  const made = `an environment with Python ${python.version}, once; this takes half a minute`;
  process.stderr.write(`understudy-js: making ${made}…\n`);
  await run(python.program, ["-m", "venv", draft], environment);
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-compile"];
  await run(programOf(draft), ["-m", "pip", "install", ...quiet, requirement], environment);
  publish(draft, directory);
  cancel();
  return program;
}

function publish(draft: string, directory: string): void {
  try {
    renameSync(draft, directory);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(programOf(directory))) throw error;
  }
}

/** Removes a draft in which pip may still write; what then is left, a start after a day removes. */
function removeDraft(draft: string): void {
  try {
    rmSync(draft, { recursive: true, force: true, maxRetries: 5 });
  } catch (error) {
    process.stderr.write(`understudy-js: ${draft} could not be removed: ${String(error)}\n`);
  }
}

function removeAbandoned(cache: string): void {
  const drafts = readdirSync(cache).filter((name) => name.endsWith(".draft"));
  for (const path of drafts.map((name) => join(cache, name))) {
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (changed !== undefined && Date.now() - changed > DAY) rmSync(path, { recursive: true, force: true });
  }
}

function cacheDirectory(environment: Environment): string {
  const local = process.platform === "win32" ? environment["LOCALAPPDATA"] : environment["XDG_CACHE_HOME"];
  return join(local || join(environment["HOME"] ?? homedir(), ".cache"), "understudy-js");
}

/** Identifies what is installed: a wheel by its content, as a new build has the name of the old one. */
function fingerprint(python: Python, requirement: string): string {
  const hash = createHash("sha256").update(python.program).update("\0").update(requirement);
  const file = /file:\S+\.whl$/.exec(requirement)?.[0];
  if (file !== undefined) hash.update(readFileSync(fileURLToPath(file)));
  return hash.digest("hex").slice(0, 12);
}

function programOf(directory: string): string {
  return process.platform === "win32" ? join(directory, "Scripts", "python.exe") : join(directory, "bin", "python");
}

async function run(program: string, args: string[], environment: Environment): Promise<void> {
  const running = promisify(execFile)(program, args, { env: environment, maxBuffer: 16 * 1024 * 1024 });
  const cancel = onEnd(() => running.child.kill());
  try {
    await running;
  } catch (error) {
    const { stderr = "", stdout = "" } = error as { stderr?: string; stdout?: string };
    const said = (stderr.trim() || stdout.trim() || String(error)).split("\n").slice(-5).join("\n");
    throw new UnderstudyError(`${program} ${args.slice(0, 3).join(" ")} failed:\n${said}`, { cause: error });
  } finally {
    cancel();
  }
}
