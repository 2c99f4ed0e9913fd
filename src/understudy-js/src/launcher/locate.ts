import { UnderstudyError } from "../errors.js";
import { requirement } from "./package-source.js";
import { type Environment, onPath, output } from "./programs.js";
import { cachedEnvironment, findPython } from "./python-environment.js";

/** A program and the arguments that stand before those of understudy. */
export interface Command {
  program: string;
  args: string[];
}

const WAYS_OUT =
  "Install uv (https://docs.astral.sh/uv) or Python 3.11 or later; or run the container of examples/container " +
  "and set UNDERSTUDY_URL=http://127.0.0.1:8080";

/**
 * Returns how understudy is run on this machine: the `understudy` on `PATH`, else by uv, else by a Python 3.11 or
 * later, in an environment of its own in the cache.
 *
 * @param command - The command of understudy that is to be run, such as `serve`; some need an extra.
 * @throws {@link UnderstudyError} - There is none of these; the message says what to install.
 */
export async function locate(command?: string, environment: Environment = process.env): Promise<Command> {
  return (
    (await installed(environment)) ??
    (await byUv(command, environment)) ??
    (await byPython(command, environment))
  );
}

async function installed(environment: Environment): Promise<Command | undefined> {
  for (const program of onPath("understudy", environment)) {
    const version = await output(program, ["--version"], environment);
    if (version?.startsWith("understudy, version")) return { program, args: [] };
  }
  return undefined;
}

async function byUv(command: string | undefined, environment: Environment): Promise<Command | undefined> {
  for (const program of onPath("uv", environment)) {
    if ((await output(program, ["--version"], environment)) === undefined) continue;
    const options = ["--python", ">=3.11", "--from", requirement(command, environment)];
    return { program, args: ["tool", "run", ...options, "understudy"] };
  }
  return undefined;
}

async function byPython(command: string | undefined, environment: Environment): Promise<Command> {
  const python = await findPython(environment);
  if (python === undefined) {
    throw new UnderstudyError(`understudy is not on PATH, and neither is uv or Python 3.11 or later. ${WAYS_OUT}.`);
  }
  if (!python.canMakeEnvironments) {
    const missing = `${python.program} (Python ${python.version}) lacks ensurepip, which makes environments`;
    throw new UnderstudyError(`${missing}: install python3-venv, or uv (https://docs.astral.sh/uv).`);
  }
  const program = await cachedEnvironment(python, requirement(command, environment), environment);
  return { program, args: ["-m", "understudy"] };
}
