import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { UnderstudyError } from "../errors.js";
import { cacheDirectory } from "./cache.js";
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
  if (existsSync(program)) {
    const now = new Date();
    utimesSync(directory, now, now);
    return program;
  }
  mkdirSync(cache, { recursive: true });
  removeUnused(cache);
  const draft = `${directory}.${process.pid}.draft`;
  const cancel = onEnd(() => removeDraft(draft));
  const shared = `once for all projects; this takes half a minute`;
  process.stderr.write(`understudy-js: making an environment with Python ${python.version}, ${shared}…\n`);
  await run(python.program, ["-m", "venv", draft], environment);
  const quiet = ["--disable-pip-version-check", "--no-compile", "--progress-bar", "off"];
  await run(programOf(draft), ["-m", "pip", "install", ...quiet, requirement], environment, showPackages());
  publish(draft, directory);
  cancel();
  process.stderr.write(`understudy-js: made ${directory} (${megabytes(directory)} MB)\n`);
  return program;
}

/** Returns what shows each package that pip begins to install, in one line of a terminal. */
function showPackages(): (line: string) => void {
  const isTerminal = process.stderr.isTTY;
  return (line) => {
    const name = /^(?:Collecting|Installing collected) (\S+)/.exec(line)?.[1];
    if (isTerminal && name !== undefined) process.stderr.write(`\r\u001b[Kunderstudy-js: ${name}\r`);
  };
}

/** Returns the size of a directory, in millions of bytes. */
function megabytes(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath ?? file.path, file.name)).size, 0);
  return Math.round(bytes / 1_000_000);
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

/** Removes drafts that were given up, and environments that nobody has used for a month. */
function removeUnused(cache: string): void {
  for (const name of readdirSync(cache).filter((it) => it.startsWith("python-"))) {
    const path = join(cache, name);
    const used = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    const kept = name.endsWith(".draft") ? DAY : 30 * DAY;
    if (used !== undefined && Date.now() - used > kept) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Identifies what is installed: a wheel by its content and not its place, so that all projects share one environment,
 * and a new build, which has the name of the old one, gets its own.
 */
function fingerprint(python: Python, requirement: string): string {
  const hash = createHash("sha256").update(python.program).update("\0");
  const file = /file:\S+\.whl$/.exec(requirement)?.[0];
  if (file === undefined) hash.update(requirement);
  else hash.update(requirement.replace(file, "")).update(readFileSync(fileURLToPath(file)));
  return hash.digest("hex").slice(0, 12);
}

function programOf(directory: string): string {
  return process.platform === "win32" ? join(directory, "Scripts", "python.exe") : join(directory, "bin", "python");
}

async function run(
  program: string,
  args: string[],
  environment: Environment,
  show: (line: string) => void = () => undefined,
): Promise<void> {
  const running = promisify(execFile)(program, args, { env: environment, maxBuffer: 16 * 1024 * 1024 });
  running.child.stdout?.on("data", (text: string) => text.split("\n").forEach(show));
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
