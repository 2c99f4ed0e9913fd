#!/usr/bin/env node
import { UnderstudyError } from "../errors.js";
import { Mock } from "../mock.js";
import { runInForeground } from "./child.js";
import { locate } from "./locate.js";

/** Runs `understudy` with the same arguments, wherever it is found, and returns its exit code. */
async function main(given: string[]): Promise<number> {
  const args = given[0] === "msw" ? ["generate", "--format", "msw", ...given.slice(1)] : given;
  const command = args.find((argument) => !argument.startsWith("-"));
  const url = process.env["UNDERSTUDY_URL"];
  if (command === "serve" && url !== undefined) {
    if (await new Mock(url).isRunning()) {
      const advice = args.length > 1 ? "; it keeps its own options. Unset the variable to have yours" : "";
      process.stderr.write(`A mock is running at ${url} (UNDERSTUDY_URL), so no other one was started${advice}.\n`);
      return 0;
    }
    process.stderr.write(`No mock responds at ${url} (UNDERSTUDY_URL), so one is started here.\n`);
  }
  return runInForeground(await locate(command), args);
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (!(error instanceof UnderstudyError)) throw error;
    process.stderr.write(`understudy-js: ${error.message}\n`);
    process.exit(2);
  },
);
