import { readdirSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { UnderstudyError } from "../errors.js";
import { PLACE } from "../generated/place.js";
import type { Environment } from "./programs.js";

/** What pip and uv call it: on the public index, `understudy` is another author's program. */
const DISTRIBUTION = "understudy-mock";

/** The extra that a command needs beyond what `serve` does. */
const EXTRAS: Record<string, string> = { verify: "verify", cleanup: "verify", mcp: "mcp" };

/**
 * Returns the requirement (PEP 508) by which pip or uv installs understudy for a command.
 *
 * It is the wheel of this package's own version, which lies beside the compiled files: no index has to have it, and
 * nobody else's package of that name can take its place. `UNDERSTUDY_PACKAGE` (a path, URL or requirement) replaces it.
 *
 * @throws {@link UnderstudyError} - The package was built without a wheel.
 */
export function requirement(command: string | undefined, environment: Environment): string {
  const extra = EXTRAS[command ?? ""];
  const name = extra === undefined ? DISTRIBUTION : `${DISTRIBUTION}[${extra}]`;
  const source = environment["UNDERSTUDY_PACKAGE"] ?? bundledWheel();
  if (/^[a-z+]+:\/\//.test(source)) return `${name} @ ${source}`;
  if (isAbsolute(source) || /[/\\]|\.whl$/.test(source)) return `${name} @ ${pathToFileURL(resolve(source)).href}`;
  return extra === undefined ? source : source.replace(/^understudy-mock(?!\[)/, name);
}

function bundledWheel(): string {
  const directory = resolve(PLACE, "..", "..", "..", "python");
  const wheel = wheels(directory).at(-1);
  if (wheel === undefined) {
    const advice = "build the package by `make npm`, or set UNDERSTUDY_PACKAGE";
    throw new UnderstudyError(`${directory} has no wheel: ${advice}.`);
  }
  return resolve(directory, wheel);
}

function wheels(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".whl"));
  } catch {
    return [];
  }
}
