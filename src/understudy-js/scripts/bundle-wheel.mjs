// Puts the wheel of this very version into the package, so that no index has to have it.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
const WHEELS = join(PACKAGE, "python");
const python = process.env.PYTHON ?? "python3";

rmSync(WHEELS, { recursive: true, force: true });
mkdirSync(WHEELS);
const build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", WHEELS];
execFileSync(python, [...build, dirname(dirname(PACKAGE))], { stdio: "inherit" });
